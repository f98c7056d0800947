"""What is exported, and in which form: iterations, parts and slices of the timeline, JSON tables; what there is to choose from."""
import csv
import glob
import json
import os
import struct

from run import demand, fingerprint


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


def events_of(path):
    with open(path, encoding="utf-8") as file:
        return [json.dumps(e, sort_keys=True) for e in json.load(file)]


def test_slices_of_a_timeline_lose_nothing(b):
    prof = b.prof(kernels=8000)
    b.export(prof, "timeline").ends(0)
    whole = events_of(b.output(prof, "msprof.json"))
    b.export(prof, "timeline", "--slice-size", "1").ends(0)
    paths = glob.glob(prof + "/mindstudio_profiler_output/msprof_slice_*_*.json")
    demand(len(paths) > 1, paths)
    slices = [events_of(path) for path in paths]
    timed = [e for events in slices for e in events if '"ph": "M"' not in e]
    names = [e for e in whole if '"ph": "M"' in e]
    demand(sorted(timed) == sorted(e for e in whole if '"ph": "M"' not in e), "events are lost or there twice")
    for events in slices:
        demand(sorted(e for e in events if '"ph": "M"' in e) == sorted(names), "not every file names all threads")
    starts = sorted((min(times), max(times)) for times in (
        [float(json.loads(e)["ts"]) for e in events if '"ts"' in e] for events in slices))
    demand(all(before[1] <= after[0] for before, after in zip(starts, starts[1:])), "files share times: %s" % starts)


def test_a_small_timeline_is_not_cut(b):
    prof = b.prof()
    b.export(prof, "timeline", "--slice-size", "1000").ends(0)
    demand(b.outputs(prof) == ["msprof.db", "msprof.json", "step_trace.json"], b.outputs(prof))


MARKED = 4294967295


def mark_steps(prof):
    """add two marked steps, one after the other, to what the scheduler reported: [(first tick, last tick)]"""
    path = sorted(glob.glob(prof + "/device_0/data/ts_track.data.0.slice_*[0-9]"))[-1]
    with open(path, "rb") as file:
        data = file.read()
    times = [struct.unpack_from("<Q", data, at + 8)[0] for at in range(0, len(data) - 39, 40) if data[at + 1] == 10]
    first, last = min(times), max(times)
    middle = (first + last) // 2
    steps = [(first - 100, middle), (middle + 1, last + 100)]
    for index, (begin, end) in enumerate(steps, 1):
        for tag, time in ((60000, begin), (60001, end)):
            data += struct.pack("<BBHIQQQHHHH", 0, 10, 40, 0, time, index, MARKED, 1, 1, tag, 0)
    with open(path, "wb") as file:
        file.write(data)
    return steps


def rows_of(b, prof, name, *options):
    b.export(prof, "summary", *options).ends(0)
    return read_csv(b.output(prof, name))


def selection(first, count=1):
    return ("--model-id", str(MARKED), "--iteration-id", str(first), "--iteration-count", str(count))


def test_steps_divide_the_tasks_among_them(b):
    prof = b.prof()
    mark_steps(prof)
    key = lambda row: (row["Stream ID"], row["Task ID"], row["Task Start Time(us)"])
    whole = {key(row) for row in rows_of(b, prof, "op_summary.csv")}
    one = {key(row) for row in rows_of(b, prof, "op_summary.csv", *selection(1))}
    two = {key(row) for row in rows_of(b, prof, "op_summary.csv", *selection(2))}
    both = {key(row) for row in rows_of(b, prof, "op_summary.csv", *selection(1, 2))}
    demand(one and two and not one & two, "%d and %d tasks" % (len(one), len(two)))
    demand(one | two <= both <= whole, "tasks of the steps alone and together differ")
    demand(max(key[2] for key in one) < min(key[2] for key in two), "the steps are not one after the other")


def test_the_timeline_of_a_step_has_its_time_only(b):
    prof = b.prof()
    mark_steps(prof)
    b.export(prof, "timeline", *selection(2)).ends(0)
    with open(b.output(prof, "msprof.json"), encoding="utf-8") as file:
        events = json.load(file)
    steps = [e for e in events if e["name"].startswith("Iteration ")]
    demand([e["args"]["Iteration ID"] for e in steps] == [2], steps)
    begin, end = float(steps[0]["ts"]), float(steps[0]["ts"]) + steps[0]["dur"]
    hardware = [e for e in events if e["ph"] == "X" and e["pid"] == steps[0]["pid"] and e not in steps]
    demand(hardware and all(begin - 1 <= float(e["ts"]) <= end + 1 for e in hardware), "tasks of other times")


def test_iterations_that_do_not_exist_are_an_error_that_names_those_that_do(b):
    prof = b.prof()
    mark_steps(prof)
    there = r"it has model 4294967295 \(marked steps 1 to 2\)"
    for options, what in ((selection(3), "no iterations 3 to 3 of model 4294967295"), (selection(2, 2), "no iterations 2 to 3"),
                          (selection(0), "no iterations 0 to 0"), (selection(-1), "no iterations -1"),
                          (("--model-id", "77", "--iteration-id", "1"), "no iterations of model 77"),
                          (("--model-id", "-77", "--iteration-id", "1"), "no iterations of model -77")):
        for kind in ("timeline", "summary"):
            b.export(prof, kind, *options).ends(1).says("error: .*device_0: %s.*: %s" % (what, there))
    for count in ("0", "6", "-1"):
        b.export(prof, "timeline", *selection(1)[:4], "--iteration-count", count).ends(1).says("must be 1 to 5")
    demand(not b.outputs(prof), "something was exported")


def test_a_count_alone_is_said_to_mean_nothing(b):
    prof = b.prof()
    b.export(prof, "timeline", "--iteration-count", "9").ends(0).says("warning: --iteration-count means nothing")
    b.has_all(prof, "msprof.json", "msprof.db")


def table(result):
    """rows of a query, header first: [[cell, …]]"""
    lines = result.out.split("\n")
    demand(all(not line for line in lines[1::2]), "no empty line after each row: %r" % result.out)
    return [[cell.rstrip() for cell in line.split("\t")][:-1] for line in lines[0:-1:2]]


def test_query_lists_models_once_a_collection_was_imported(b):
    prof = b.prof(devices=2)
    mark_steps(prof)
    header = ["Job Info", "Device ID", "Dir Name", "Collection Time", "Model ID", "Iteration Number", "Top Time Iteration", "Rank ID"]
    before = table(b.run("query", "-dir", prof).ends(0))
    demand(before[0] == header and [row[2] for row in before[1:]] == ["device_0", "device_1", "host"], before)
    demand(all(row[4:7] == ["N/A"] * 3 for row in before[1:]), before)
    b.run("import", "-dir", prof).ends(0)
    after = table(b.run("query", "-dir", prof).ends(0))
    demand([row[4:6] for row in after[1:]] == [[str(MARKED), "2"], ["N/A"] * 2, ["N/A"] * 2], after)
    demand(sorted(after[1][6].split(",")) == ["1", "2"], after)
    alone = table(b.run("query", "-dir", prof + "/device_1").ends(0))
    demand([row[2] for row in alone[1:]] == ["device_1"], alone)


def test_query_says_what_a_directory_is(b):
    prof = b.prof()
    for path, flag in ((prof, "0"), (b.dir, "1")):
        result = b.run("query", "--data-type", "0", "-dir", path).ends(0)
        demand(json.loads(result.out) == {"status": 0, "info": "", "data": flag}, result.out)
    b.run("query", "-dir", b.dir).ends(0).says("query one of them")
    b.run("query", "--id", "0", "-dir", prof).ends(1).says("need --data-type")
    b.run("query", "--data-type", "1", "--id", "0", "-dir", prof).ends(11)
    b.run("query", "--data-type", "11", "-dir", prof).ends(2)
    b.run("query", "-dir", b.path("none")).ends(2)


def test_import_says_what_there_is_and_changes_no_raw_data(b):
    prof = b.prof()
    before = fingerprint(prof)
    result = b.run("import", "-dir", prof).ends(0)
    demand("device_0: " in result.out and "host: " in result.out and "tasks" in result.out, result.out)
    log = glob.glob(prof + "/mindstudio_profiler_log/import_*.log")
    demand(len(log) == 1, log)
    os.remove(log[0])
    demand(fingerprint(prof) == before and not b.outputs(prof), "more than a log was written")
    demand(not b.run("import", "-q", "-dir", prof).ends(0).out, "not quiet")
