"""Clusters: many PROF directories of a job side by side. Ranks are copies of a collection that ran graphs."""
import glob
import json
import os
import shutil
import sqlite3
import tarfile

from choices import table
from run import PROJECT, demand, fingerprint

COLUMNS = ["ID", "Model ID", "Iteration ID", "Iteration Time", "FP to BP Time", "Iteration Interval", "Iteration Refresh",
           "Iteration Start", "FP Start", "BP End", "Iteration End"]


def set_rank(prof, rank):
    for path in glob.glob(prof + "/*/info.json*"):
        with open(path, encoding="utf-8") as file:
            info = json.load(file)
        info["rank_id"] = rank
        with open(path, "w", encoding="utf-8") as file:
            json.dump(info, file)


def cluster(b, ranks=(0, 1, 10, 2), case="tasks-graph"):
    """PROF_<i> with the i-th rank in a directory of their own; returns its path"""
    path, source = b.path("cluster"), b.path("source")
    with tarfile.open(os.path.join(PROJECT, "tests", "golden", "cases", case, "prof.tar.xz")) as tar:
        tar.extractall(source)
    prof = glob.glob(source + "/PROF_*")[0]
    for i, rank in enumerate(ranks):
        shutil.copytree(prof, os.path.join(path, "PROF_%06d" % i))
        set_rank(os.path.join(path, "PROF_%06d" % i), rank)
    return path


def rows(path, name, query):
    with sqlite3.connect("file:%s?mode=ro" % os.path.join(path, "sqlite", name), uri=True) as db:
        return db.execute(query).fetchall()


def ask(b, path, data_type, status=0, **numbers):
    """the lines of the answer"""
    words = [word for name, value in numbers.items() for word in ("--" + name.replace("_", "-"), str(value))]
    result = b.run("query", "-dir", path, "--data-type", str(data_type), *words).ends(status)
    return [json.loads(line) for line in result.out.splitlines()]


def test_import_of_a_cluster_tells_ranks_and_iterations(b):
    path = cluster(b)
    before = fingerprint(path)
    b.run("import", "--cluster", "-dir", path).ends(0)
    after = fingerprint(path)
    demand({k: v for k, v in after.items() if not k.startswith("sqlite/")} == before, "raw data was changed")
    demand(rows(path, "cluster_rank.db", "SELECT * FROM ClusterRank")[2:] ==
           [("NA", 0, "2024-07-01 13:00:00.123456", rank, "PROF_%06d/device_0" % i) for i, rank in ((2, 10), (3, 2))],
           "other ranks")
    steps = rows(path, "cluster_step_trace.db", "SELECT * FROM ClusterStepTrace_10")
    demand(steps[:2] == [(0, 1, 1, 191356413345.72, 191356413365.74, 191356413508.64, 200.74, 20.02, 142.9, 0.0, 1),
                         (0, 1, 2, 191356413563.08, 191356413580.94, 191356413730.46, 207.9, 17.86, 149.52, 54.44, 1)], steps)
    demand(len(steps) == 6, steps)
    demand(not os.path.exists(path + "/sqlite/cluster_parallel.db"), "nobody said that the job is parallel")
    again = {name: open(os.path.join(path, "sqlite", name), "rb").read() for name in os.listdir(path + "/sqlite")}
    b.run("import", "--cluster", "--jobs", "1", "-q", "-dir", path).ends(0)
    for name, content in again.items():
        demand(open(os.path.join(path, "sqlite", name), "rb").read() == content, name + " differs")


def test_import_of_a_cluster_tells_reductions(b):
    path = cluster(b, ranks=(5,), case="steps-910")
    b.run("import", "--cluster", "-dir", path).ends(0)
    reduces = rows(path, "cluster_step_trace.db", "SELECT * FROM AllReduce_5")
    demand(reduces[:2] == [(0, 1, 1, 191356421308.95, 191356421296.95, 191356421304.95),
                           (0, 1, 1, 191356421308.95, 191356421299.45, 191356421305.65)], reduces)


def test_devices_stand_for_ranks_where_there_are_none(b):
    path = cluster(b, ranks=(-1,))
    b.run("import", "--cluster", "-dir", path).ends(0)
    demand(rows(path, "cluster_rank.db", "SELECT device_id, rank_id FROM ClusterRank") == [(0, -1)], "other ids")
    demand(rows(path, "cluster_step_trace.db", "SELECT count(*) FROM ClusterStepTrace_0") == [(6,)], "other steps")
    demand(ask(b, path, 0)[0]["data"] == "0", "a single device without a rank is no cluster")


def test_what_is_no_cluster_is_refused(b):
    for ranks, why in (((0, -1), "1 of the 2 devices"), ((3, 3), "several devices in .* are rank 3"),
                       ((-1, -1), "several devices in .* are device 0")):
        path = cluster(b, ranks)
        b.run("import", "--cluster", "-dir", path).ends(11).says(why)
        demand(not os.path.exists(path + "/sqlite/cluster_rank.db"), "a database was written")
        demand(ask(b, path, 0)[0]["data"] == "0", "it is called a cluster")
        shutil.rmtree(path)
        shutil.rmtree(b.path("source"))
    prof = b.prof()
    b.run("import", "--cluster", "-dir", prof).ends(11).says("is a PROF directory")
    os.mkdir(b.path("empty"))
    b.run("import", "--cluster", "-dir", b.path("empty")).ends(11).says("no PROF directory in")


def test_query_lists_a_cluster(b):
    path = cluster(b)
    b.run("query", "-dir", path).ends(0).says("query one of them, or all after 'npuprof import --cluster'")
    b.run("import", "--cluster", "-dir", path).ends(0)
    listed = table(b.run("query", "-dir", path).ends(0).never_says("."))
    demand(listed[1:3] == [["NA", "0", "PROF_000000/device_0", "2024-07-01 13:00:00.123456", "1", "4", "2,4,3,1", "0"],
                           ["NA", "0", "PROF_000000/device_0", "2024-07-01 13:00:00.123456", "7", "2", "1,2", "0"]], listed)
    demand([row[7] for row in listed[1:]] == ["0", "0", "1", "1", "2", "2", "10", "10"], listed)
    one = table(b.run("query", "-dir", path + "/PROF_000002").ends(0))
    demand([row[2:6] + row[7:] for row in one[1:3]] == [["device_0", "2024-07-01 13:00:00.123456", model, n, "10"]
                                                        for model, n in (("1", "4"), ("7", "2"))], one)
    os.remove(path + "/sqlite/cluster_step_trace.db")
    b.run("query", "-dir", path).ends(12).says("there is no sqlite/cluster_step_trace.db in")


def test_iterations_of_a_cluster(b):
    path = cluster(b)
    demand(ask(b, path, 1, 11, id=0, model_id=1)[0]["info"].endswith("run 'npuprof import --cluster' on it first"), "other words")
    b.run("import", "--cluster", "-dir", path).ends(0)
    one = ask(b, path, 1, id=10, model_id=1)
    demand(one == [{"status": 0, "info": "", "data": path + "/query/step_trace_10_1_-1.json"}], one)
    with open(one[0]["data"], encoding="utf-8") as file:
        steps = json.load(file)
    demand([list(step) for step in steps] == [COLUMNS] * 4, steps)
    demand(list(steps[0].values()) == [10, 1, 1, 200.74, 20.02, "N/A", 142.9, 191356413307.9, 191356413345.72, 191356413365.74,
                                       191356413508.64], steps[0])
    everybody = ask(b, path, 1, id=-1, model_id=7, iteration_id=2)
    with open(everybody[0]["data"], encoding="utf-8") as file:
        demand([step["ID"] for step in json.load(file)] == [0, 1, 2, 10], "other ranks")
    for status, numbers in ((1, {"id": -1, "model_id": 1}), (1, {"id": 0, "model_id": 1, "iteration_id": 1}), (1, {"id": 0}),
                            (1, {"id": -2, "model_id": 1}), (1, {"id": -1, "model_id": 1, "iteration_id": 0}),
                            (0, {"id": 4, "model_id": 1}), (0, {"id": 0, "model_id": 3})):
        answer = ask(b, path, 1, status, **numbers)
        demand(len(answer) == 1 and answer[0]["status"] == 1 and answer[0]["info"] and not answer[0]["data"], answer)
    demand(sorted(os.listdir(path + "/query")) == ["step_trace_-1_7_2.json", "step_trace_10_1_-1.json"], "other files")


def test_databases_of_a_cluster_are_not_trusted(b):
    path = cluster(b, ranks=(0, 1))
    b.run("import", "--cluster", "-dir", path).ends(0)
    ranks = path + "/sqlite/cluster_rank.db"
    with sqlite3.connect(ranks) as db:
        db.execute("UPDATE ClusterRank SET dir_name = '../elsewhere' WHERE rank_id = 1")
    db.close()
    b.run("query", "-dir", path).ends(12).says("not of PROF directories beside it")
    for content in (b"", b"SQLite format 3\0" + bytes(80), b"nothing of the kind" * 300):
        with open(ranks, "wb") as file:
            file.write(content)
        b.run("query", "-dir", path).ends(12)
        ask(b, path, 1, 11, id=0, model_id=1)
    b.run("import", "--cluster", "-dir", path).ends(0)
    with sqlite3.connect(path + "/sqlite/cluster_step_trace.db") as db:
        db.execute("ALTER TABLE ClusterStepTrace_0 RENAME COLUMN fp_start TO other")
    db.close()
    b.run("query", "-dir", path).ends(12).says("no such column")
    os.remove(ranks)
    os.symlink("/etc/passwd", ranks)
    b.run("query", "-dir", path).ends(12).says("is no file")


def test_a_folder_that_leads_elsewhere_is_not_followed(b):
    path = cluster(b, ranks=(0, 1))
    os.mkdir(b.path("elsewhere"))
    os.symlink(b.path("elsewhere"), path + "/sqlite")
    b.run("import", "--cluster", "-dir", path).ends(1)
    demand(not os.listdir(b.path("elsewhere")), "written through a link")
    os.remove(path + "/sqlite")
    b.run("import", "--cluster", "-dir", path).ends(0)
    os.symlink(b.path("elsewhere"), path + "/query")
    ask(b, path, 1, 1, id=0, model_id=1)
    demand(not os.listdir(b.path("elsewhere")), "written through a link")


def test_a_broken_rank_is_left_out_of_its_cluster(b):
    path = cluster(b, ranks=(0, 1, 2))
    for name in glob.glob(path + "/PROF_000001/*/*start*"):
        os.remove(name)
    os.makedirs(path + "/half copied/device_0")
    b.run("import", "--cluster", "-dir", path).ends(1).says("PROF_000001", "warning: half copied: left out")
    demand(rows(path, "cluster_rank.db", "SELECT rank_id FROM ClusterRank") == [(0,), (2,)], "other ranks")
