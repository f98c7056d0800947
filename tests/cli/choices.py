"""What is exported, and in which form: parts of the timeline, JSON tables."""
import csv
import glob
import json
import os

from run import demand


def names_of(prof):
    """the processes in the newest timeline"""
    with open(sorted(glob.glob(prof + "/mindstudio_profiler_output/msprof_*.json"))[-1], encoding="utf-8") as file:
        return {e["args"]["name"] for e in json.load(file) if e["name"] == "process_name"}


def reports_file(b, name, content):
    with open(b.path(name), "w", encoding="utf-8") as file:
        file.write(content if isinstance(content, str) else json.dumps(content))
    return b.path(name)


def test_reports_switch_parts_of_the_timeline_on(b):
    prof = b.prof()
    everything = names_of_run(b, prof)
    demand({"CANN", "Ascend Hardware"} <= everything, everything)
    wanted = reports_file(b, "some.json", {"json_process": {"cann": True, "ascend": False}, "other": 1})
    demand(names_of_run(b, prof, "-reports", wanted) == {"CANN"}, "not only what was wanted")
    demand(names_of_run(b, prof, "-reports=" + wanted) == {"CANN"}, "not only what was wanted")
    demand(names_of_run(b, prof, "-reports=") == everything, "an empty path selects something")


def names_of_run(b, prof, *options):
    b.export(prof, "timeline", *options).ends(0).never_says("warning.*switch", "not used")
    return names_of(prof)


def test_a_timeline_with_everything_off_is_an_empty_array(b):
    prof = b.prof()
    b.export(prof, "timeline", "-reports", reports_file(b, "off.json", {"json_process": {"cann": False}})).ends(0)
    for name in ("msprof.json", "step_trace.json"):
        with open(b.output(prof, name), encoding="utf-8") as file:
            demand(file.read() == "[]", "%s is not empty" % name)


def test_a_reports_file_that_makes_no_sense_is_said_and_not_used(b):
    prof = b.prof()
    everything = names_of_run(b, prof)
    for content, why in ((" ", "it is no JSON: line 1"), ('{"json_process": {"cann": tru}}', "it is no JSON: line 1"), ("[1]", "no object json_process"),
                         ("{}", "no object json_process"), ({"json_process": {}}, "no object json_process"),
                         ({"json_process": {"cann": False, "kann": True}}, "does not exist: kann"),
                         ({"json_process": {"cann": 1}}, "cann must be true or false")):
        path = reports_file(b, "odd.json", content)
        b.export(prof, "timeline", "-reports", path).ends(0).says("warning: .*odd.json: not used, everything is exported: .*" + why)
        demand(names_of(prof) == everything, "not everything was exported")


def test_a_reports_file_that_cannot_be_read_stops_everything(b):
    prof = b.prof()
    with open(b.path("huge.json"), "w", encoding="utf-8") as file:
        file.truncate((64 << 20) + 1)
    for path, why in (("none.json", "No such file"), (b.dir, "is no regular file"), (b.path("huge.json"), "is larger than 64 MB")):
        b.export(prof, "timeline", "-reports", path).ends(2).says("error: .*" + why)
    demand(not b.outputs(prof), "something was exported")


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def as_text(value):
    return "" if value is None else str(value).strip()


def same(x, y):
    try:
        return float(x) == float(y)
    except ValueError:
        return x == y


def test_json_tables_say_what_the_csv_tables_say(b):
    prof = b.prof()
    b.export(prof, "summary").ends(0)
    b.export(prof, "summary", "--format=csv").ends(0)
    b.export(prof, "summary", "--format", "json").ends(0)
    tables = [name[:-4] for name in b.outputs(prof) if name.endswith(".csv")]
    demand("op_summary" in tables, tables)
    for stem in set(tables):
        rows = read_csv(b.output(prof, stem + ".csv"))
        with open(b.output(prof, stem + ".json"), encoding="utf-8") as file:
            objects = json.load(file)
        demand(len(rows) == len(objects), "%s: %d rows, %d objects" % (stem, len(rows), len(objects)))
        for row, found in zip(rows, objects):
            device = row.pop("Device_id")
            demand(device and list(row) == list(found), "%s: %s" % (stem, list(found)))
            for key, value in row.items():
                demand(same(value.strip(), as_text(found[key])), "%s, %s: %s is not %s" % (stem, key, found[key], value))


def test_json_tables_of_several_devices_say_which(b):
    prof = b.prof(devices=2)
    b.export(prof, "summary", "--format", "json").ends(0)
    with open(b.output(prof, "op_summary.json"), encoding="utf-8") as file:
        demand({row["Device_id"] for row in json.load(file)} == {0, 1}, "not both devices")
    demand(os.path.exists(os.path.join(prof, "mindstudio_profiler_output", "README.txt")), "no README.txt")


def test_a_model_needs_an_iteration_and_the_other_way_round(b):
    prof = b.prof()
    for kind in ("timeline", "summary"):
        b.export(prof, kind, "--model-id", "1").ends(1).says("--iteration-id is missing")
        b.export(prof, kind, "--iteration-id", "1", "--iteration-count=2").ends(1).says("--model-id is missing")
    demand(not b.outputs(prof), "something was exported")
