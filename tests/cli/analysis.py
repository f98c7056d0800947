"""npuprof analyze: rules, files, what is said, several PROF directories together."""
import json
import os
import shutil
import sqlite3

from run import demand, fingerprint

BOTH = "communication,communication_matrix"
DATABASE, TIMES, MATRIX = "communication_analyzer.db", "communication.json", "communication_matrix.json"


def analyze(b, prof, *words):
    """analyze --rule … -dir PROF; the raw data stays as it was and no unfinished file is left"""
    before = {n: d for n, d in fingerprint(prof).items() if not n.startswith("analyze/")}
    result = b.run("analyze", *words, "-dir", prof)
    after = {n: d for n, d in fingerprint(prof).items() if not n.startswith("analyze/")}
    demand(after == before, "raw data was changed")
    b.no_leftovers(prof)
    return result


def files(folder):
    return sorted(os.listdir(folder + "/analyze")) if os.path.isdir(folder + "/analyze") else []


def content(folder, name):
    with open(os.path.join(folder, "analyze", name), encoding="utf-8") as file:
        return json.load(file)


def tables(folder):
    """{table: its number of rows}"""
    connection = sqlite3.connect(os.path.join(folder, "analyze", DATABASE))
    names = [r[0] for r in connection.execute("select name from sqlite_master where type = 'table'")]
    rows = {n: connection.execute("select count(*) from " + n).fetchone()[0] for n in names}
    connection.close()
    return rows


def test_analyze_needs_no_export(b):
    prof = b.prof()
    analyze(b, prof, "--rule", BOTH).ends(0)
    demand(files(prof) == [TIMES, DATABASE, MATRIX], files(prof))
    operators = content(prof, TIMES)
    demand(len(operators) > 2 and list(operators) == list(content(prof, MATRIX)), "other operators in the matrix")
    demand(list(operators)[-1] == "Total HCCL Operators", "no total")
    demand(tables(prof)["CommAnalyzerTime"] == len(operators) - 1, tables(prof))
    demand(not b.outputs(prof), "something was exported")


def test_analyze_writes_what_was_asked_for(b):
    prof = b.prof()
    for words, wanted in ((["-r", "communication", "--type", "db"], [DATABASE]),
                          (["-r=communication_matrix", "--type=db"], [DATABASE]),
                          (["--rule=communication"], [TIMES, DATABASE]),
                          (["--rule", "communication,communication,communication"], [TIMES, DATABASE]),
                          (["-r", "communication_matrix,communication", "--clear"], [TIMES, DATABASE, MATRIX])):
        analyze(b, prof, *words).ends(0)
        demand(files(prof) == wanted, "%s: %s" % (words, files(prof)))
        shutil.rmtree(prof + "/analyze")


def test_analyze_keeps_what_the_other_rule_left(b):
    prof = b.prof()
    analyze(b, prof, "-r", "communication").ends(0)
    times = tables(prof)
    analyze(b, prof, "-r", "communication_matrix").ends(0)
    demand(files(prof) == [TIMES, DATABASE, MATRIX], files(prof))
    both = tables(prof)
    demand(times.items() < both.items() and set(both) - set(times) == {"CommAnalyzerMatrix"}, both)


def test_analyze_says_a_line_of_json_for_each_file_of_json(b):
    prof = b.prof()
    out = analyze(b, prof, "-r", BOTH, "-q").ends(0).out.splitlines()
    said = [json.loads(line) for line in out]
    demand([(s["status"], s["info"], os.path.basename(s["data"])) for s in said] == [(0, "", TIMES), (0, "", MATRIX)], out)
    demand(all(os.path.isfile(s["data"]) for s in said), out)
    demand(analyze(b, prof, "-r", BOTH, "-q", "--type", "db").ends(0).out == "", "something was said")
    demand("3 files" in analyze(b, prof, "-r", BOTH).out, "no closing summary")


def test_wrong_rules_are_usage_errors(b):
    prof = b.prof()
    for words, why in (([], "--rule is required"), (["-r", "all"], "--rule must be"), (["-r", "communication, communication_matrix"], "--rule must be"),
                       (["-r", "communication,"], "--rule must be"), (["-r="], "--rule must be"),
                       (["-r", BOTH, "--type", "json"], "--type must be one of text|db")):
        result = analyze(b, prof, *words).ends(2)
        demand("npuprof analyze: error: " + why in result.err, "%s: %s" % (words, result.err))
    b.run("analyze", "-r", BOTH).ends(2).says("-dir is required")
    demand(not files(prof), "something was written")


def test_analyze_has_help(b):
    demand(b.run("analyze", "-h").ends(0).out.startswith("usage: npuprof analyze"), "no help")
    demand("analyze" in b.run("-h").ends(0).out, "the help does not name it")


def test_paths_without_prof_data_are_not_analyzed(b):
    prof = b.prof()
    os.mkdir(b.path("empty"))
    for path in ("missing", "empty", prof + "/host", prof + "/device_0"):
        b.run("analyze", "-r", BOTH, "-dir", path).ends(2)
    b.run("analyze", "-r", BOTH, "-dir", "a;b").ends(1)


def test_prof_directories_of_a_job_are_analyzed_together(b):
    os.mkdir(b.path("job"))
    b.prof("job/PROF_A", kernels=200)
    b.prof("job/PROF_B", kernels=800)
    analyze(b, b.path("job"), "-r", BOTH).ends(0)
    together = content(b.path("job"), TIMES)
    matrix = content(b.path("job"), MATRIX)
    demand(not files(b.path("job", "PROF_A")), "a directory of the job has results of its own")
    one, other = {}, {}
    for name, found in (("PROF_A", one), ("PROF_B", other)):
        analyze(b, b.path("job", name), "-r", BOTH).ends(0)
        found.update(times=content(b.path("job", name), TIMES), matrix=content(b.path("job", name), MATRIX))
    operators = dict(other["times"], **one["times"])  # the first by name comes last and wins
    del operators["Total HCCL Operators"], together["Total HCCL Operators"]
    demand(together == operators, "not the operators of both")
    total = [m["Total HCCL Operators"] for m in (matrix, one["matrix"], other["matrix"])]
    for link in total[0]:
        size = [t.get(link, {}).get("Transit Size(MB)", 0) for t in total]
        demand(abs(size[0] - size[1] - size[2]) < 1e-9, "%s: %s" % (link, size))


def test_a_prof_that_cannot_be_used_does_not_stop_the_analysis(b):
    os.mkdir(b.path("job"))
    b.prof("job/PROF_A")
    os.makedirs(b.path("job", "PROF_B", "device_0", "data"))
    analyze(b, b.path("job"), "-r", BOTH).ends(1).says("error: PROF_B: ")
    demand(files(b.path("job")) == [TIMES, DATABASE, MATRIX], files(b.path("job")))


def test_without_communication_there_is_nothing_to_analyze(b):
    prof = b.prof()
    for name in os.listdir(prof + "/device_0/data"):
        os.remove(os.path.join(prof, "device_0/data", name))
    analyze(b, prof, "-r", BOTH).ends(0).says("no communication: nothing to analyze")
    demand(not files(prof), "something was written")


def test_level_0_has_nothing_to_analyze(b):
    prof = b.prof()
    for folder in ("host", "device_0"):
        path = os.path.join(prof, folder, "sample.json")
        with open(path, encoding="utf-8") as file:
            sample = json.load(file)
        sample.pop("profLevel", None)
        sample["prof_level"] = "level0"
        with open(path, "w", encoding="utf-8") as file:
            json.dump(sample, file)
    analyze(b, prof, "-r", BOTH).ends(0).says("collected at level 0")
    demand(not files(prof), "something was written")
