"""Communication of clusters: ranks are copies of a collection of communication, in a graph or not, as they are or later."""
import glob
import json
import os
import re

from cluster import ask, cluster, rows
from run import demand

OPERATORS = ["hcom_allReduce__138_0_2", "hcom_allGather__138_1_2", "hcom_reduceScatter__138_2_2"]  # of iteration 2
TOTAL = "Total HCCL Operators"
TIMES = ["Start Timestamp(us)", "Elapse Time(ms)", "Transit Time(ms)", "Wait Time(ms)", "Synchronization Time(ms)", "Idle Time(ms)",
         "Wait Time Ratio", "Synchronization Time Ratio"]
BANDWIDTHS = ["Transit Size(MB)", "Transit Time(ms)", "Bandwidth(GB/s)", "Bandwidth(Utilization)", "Large Packet Ratio",
              "Size Distribution"]
LINK = ["Src Rank", "Dst Rank", "Transport Type", "Transit Size(MB)", "Transit Time(ms)", "Bandwidth(GB/s)",
        "Bandwidth(Utilization)", "Large Packet Ratio"]
KINDS = ["HCCS", "PCIE", "RDMA", "LOCAL", "SIO"]


def imported(b, ranks=(0, 1, 10, 2), case="comm-graph"):
    path = cluster(b, ranks, case)
    b.run("import", "-q", "--cluster", "-dir", path).ends(0)
    return path


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def answer(b, path, data_type, **numbers):
    """the content of the only file, whose name is the last line of the answer"""
    return read(ask(b, path, data_type, **numbers)[-1]["data"])


def test_communication_of_an_iteration_is_told_by_operator_and_rank(b):
    path = imported(b)
    lines = ask(b, path, 6, id=-1, model_id=1, iteration_id=2)
    demand(lines == [{"status": 0, "info": "", "data": path + "/query/communication_-1_5_2.json"}], lines)
    told = read(lines[0]["data"])
    demand(list(told) == OPERATORS + [TOTAL], list(told))
    for operator in told.values():
        demand(list(operator) == ["0", "1", "2", "10", "Slow Rank Suggestion"], list(operator))
        for rank in list(operator.values())[:-1]:
            demand(list(rank) == ["Communication Time Info", "Communication Bandwidth Info", "Slow Link Suggestion"], list(rank))
            demand(list(rank["Communication Time Info"]) == TIMES, rank)
            demand(list(rank["Communication Bandwidth Info"]) == ["RDMA", "HCCS", "PCIE", "SDMA", "SIO"], rank)
            for kind in rank["Communication Bandwidth Info"].values():
                demand(list(kind) == BANDWIDTHS, list(kind))
    hccs = told[OPERATORS[0]]["0"]["Communication Bandwidth Info"]["HCCS"]
    demand(hccs["Bandwidth(Utilization)"] == round(hccs["Bandwidth(GB/s)"] / 28, 4) > 0, hccs)
    sio = told[OPERATORS[2]]["0"]["Communication Bandwidth Info"]["SIO"]
    demand(sio["Bandwidth(GB/s)"] > 0 and sio["Bandwidth(Utilization)"] == 0, sio)


def test_numbers_of_a_rank_are_those_of_its_analysis(b):
    path = imported(b, ranks=(0, 1))
    b.run("analyze", "-q", "--rule", "communication,communication_matrix", "-dir", path + "/PROF_000001").ends(0)
    alone = {name.split("@")[0]: facts for name, facts in read(path + "/PROF_000001/analyze/communication.json").items()}
    told = answer(b, path, 6, id=-1, model_id=1, iteration_id=2)
    for name in OPERATORS:
        expected, found = alone[name], told[name]["1"]
        demand(found["Communication Time Info"] == expected["Communication Time Info"], name)
        for kind, numbers in expected["Communication Bandwidth Info"].items():
            without = {k: v for k, v in found["Communication Bandwidth Info"][kind].items() if k != "Bandwidth(Utilization)"}
            demand(without == numbers, name + ": " + kind)
    links = {name.split("@")[0]: facts for name, facts in read(path + "/PROF_000001/analyze/communication_matrix.json").items()}
    for operator in answer(b, path, 7, id=-1, model_id=1, iteration_id=2)[:-1]:
        for link in operator["link_info"]:
            one = links[operator["op_name"]]["%s-%s" % (link["Src Rank"], link["Dst Rank"])]
            demand(abs(link["Transit Size(MB)"] - 2 * one["Transit Size(MB)"]) < 1e-9, "not of both ranks: %r" % link)


def test_links_of_all_ranks_make_a_matrix(b):
    path = imported(b)
    lines = ask(b, path, 7, id=-1, model_id=1, iteration_id=3)
    demand(lines == [{"status": 0, "info": "", "data": path + "/query/matrix_-1_5_3.json"}], lines)
    told = read(lines[0]["data"])
    demand([operator["op_name"] for operator in told] == [name[:-1] + "3" for name in OPERATORS] + [TOTAL], told)
    for operator in told:
        demand(list(operator) == ["op_name", "link_info", "Time Ratio", "Matrix Suggestion"], list(operator))
        demand(all(list(link) == LINK for link in operator["link_info"]), operator["link_info"])
        used = {link["Transport Type"] for link in operator["link_info"]}
        demand(len(operator["Matrix Suggestion"]) == 5, operator)
        for number, kind in enumerate(operator["Matrix Suggestion"]):
            demand(list(kind) == ["Transport Type Info", "Average Info", "Slowest Link Info"], kind)
            demand(kind["Transport Type Info"].startswith(KINDS[number]), kind)
            demand(len(kind["Average Info"]) == (4 if number in used else 0), kind)
    demand(told[2]["link_info"][0]["Transport Type"] == 4 and told[2]["link_info"][0]["Bandwidth(Utilization)"] == 0, told[2])


def test_communication_without_a_graph_is_all_there_is(b):
    path = imported(b, ranks=(3, 4), case="comm-links")
    lines = ask(b, path, 6, id=-1, model_id=0)
    demand(lines[0]["data"] == path + "/query/communication_-1_4294967295_-1.json", lines)
    told = read(lines[0]["data"])
    demand(list(told[TOTAL])[:2] == ["3", "4"] and len(told) > 5, list(told))
    same = [operator for operator in told.values() if "computes for longer" in operator["Slow Rank Suggestion"]]
    demand(not same, "of equal ranks one is said to be late")


def test_communication_is_told_of_all_ranks_whatever_the_id(b):
    path = imported(b, ranks=(0, 1))
    for numbers in ({"id": 1}, {}):
        lines = ask(b, path, 6, model_id=1, iteration_id=1, **numbers)
        demand([line["status"] for line in lines] == [2, 0] and "taken as -1" in lines[0]["info"], lines)
        demand(lines[1]["data"].endswith("/communication_-1_5_1.json"), lines)


def test_questions_of_communication_that_make_no_sense(b):
    path = imported(b, ranks=(0, 1))
    for status, data_type, numbers in ((1, 6, {"id": -1}), (1, 6, {"id": -1, "model_id": 1}), (0, 7, {"id": -1, "model_id": 1, "iteration_id": 9}),
                                       (1, 9, {"id": 5, "model_id": 1, "iteration_id": 1}), (1, 10, {"model_id": 1, "iteration_id": 1})):
        lines = ask(b, path, data_type, status, **numbers)
        demand(len(lines) == 1 and lines[0]["status"] == 1 and lines[0]["info"] and not lines[0]["data"], lines)
    demand(not os.path.exists(path + "/query"), "a file was written")


def test_a_rank_without_communication_is_named(b):
    path = imported(b, ranks=(0, 1, 2), case="comm-links")
    for name in glob.glob(path + "/PROF_000001/device_0/data/*"):
        os.remove(name)
    lines = ask(b, path, 6, id=-1, model_id=0)
    demand(lines[0] == {"status": 2, "info": "1 of the 3 ranks communicated nothing there: 1", "data": ""}, lines)
    demand("1" not in read(lines[-1]["data"])[TOTAL], lines)
    for prof in ("PROF_000000", "PROF_000002"):
        for name in glob.glob(path + "/" + prof + "/device_0/data/*"):
            os.remove(name)
    lines = ask(b, path, 7, id=-1, model_id=0)
    demand(lines == [{"status": 1, "info": "no rank communicated anything there", "data": ""}], lines)
    os.rename(path + "/PROF_000001", b.path("gone"))
    lines = ask(b, path, 7, id=-1, model_id=0)
    demand(len(lines) == 1 and lines[0]["info"].startswith("rank 1: "), lines)


def test_the_critical_path_chooses_operators(b):
    path = imported(b, ranks=(0, 1))
    for data_type, stem in ((9, "communication_cpa"), (10, "matrix_cpa")):
        lines = ask(b, path, data_type, id=1, model_id=1, iteration_id=2)
        demand(lines == [{"status": 0, "info": "", "data": path + "/query/%s_1_5_2.json" % stem}], lines)
    told = read(path + "/query/communication_cpa_1_5_2.json")
    demand(1 < len(told) and set(told) <= set(OPERATORS + [TOTAL]) and list(told[TOTAL])[:2] == ["0", "1"], list(told))
    demand([operator["op_name"] for operator in read(path + "/query/matrix_cpa_1_5_2.json")] == list(told), list(told))
    alone = imported(b_again(b), ranks=(0, 1), case="comm-links")  # nothing computes
    lines = ask(b, alone, 9, id=-1, model_id=1)
    demand(lines == [{"status": 1, "info": "the rank computed nothing there", "data": ""}], lines)


def b_again(b):
    """the bench, with another folder for the next cluster"""
    b.dir = b.path("again")
    os.mkdir(b.dir)
    return b


def test_threads_do_not_change_answers(b):
    path = imported(b, ranks=(0, 1, 10, 2, 7))
    seen = {}
    for jobs in ("1", "4"):
        for data_type in (6, 7, 9, 10):
            b.run("query", "-dir", path, "--jobs", jobs, "--data-type", str(data_type), "--id", "-1", "--model-id", "1", "--iteration-id",
                  "1").ends(0)
        for name in os.listdir(path + "/query"):
            with open(os.path.join(path, "query", name), "rb") as file:
                content = file.read()
            demand(seen.setdefault(name, content) == content, name + " differs")
    demand(len(seen) == 4, list(seen))


def test_a_summary_of_all_ranks_ends_with_a_report(b):
    path = cluster(b, ranks=(0, 1), case="comm-graph")
    result = b.run("export", "summary", "-dir", path).ends(0).never_says("warning.*cluster")
    report = result.out[result.out.index("Cluster Tuning Report:\n"):]
    demand(re.search(r"^1\. .*\n\tnone\n2\. ", report, re.M), report)
    demand("3." not in report and not os.path.exists(path + "/query"), "communication without an import")
    b.run("import", "-q", "--cluster", "-dir", path).ends(0)
    report = b.run("export", "-dir", path).ends(0).out
    demand(re.search(r"^3\. Communication:\n\t1\) Rank ", report, re.M), report)
    demand(sorted(os.listdir(path + "/query")) == ["communication_-1_5_1.json", "matrix_-1_5_1.json"], "other files")
    demand("matrix_-1_5_1.json" in report, "a file that is not listed")
    b.run("export", "summary", "--model-id", "5", "--iteration-id", "3", "-dir", path).ends(0)
    demand(os.path.exists(path + "/query/matrix_-1_5_3.json"), "not of the iteration that was exported")
    for arguments in (("timeline", "-dir", path), ("summary", "-dir", path + "/PROF_000000"), ("summary", "-q", "-dir", path)):
        demand("Tuning" not in b.run("export", *arguments).ends(0).out, "a report that nobody asked for: %r" % (arguments,))


def test_what_the_report_cannot_tell_is_a_warning(b):
    path = imported(b, ranks=(0, 1))
    os.rename(path + "/PROF_000001", b.path("gone"))
    result = b.run("export", "summary", "-dir", path).ends(0).says("warning: communication of the cluster not told: rank 1: ")
    demand("Cluster Tuning Report:" in result.out and "3. " not in result.out, result.out)


def test_equal_nodes_are_not_slow(b):
    path = imported(b, ranks=(0, 1, 2), case="tasks-graph")
    steps = [row[0] for row in rows(path, "cluster_step_trace.db", "SELECT data_aug_bound FROM ClusterStepTrace_0")]
    demand(any(steps), "no step waits for data")
    report = b.run("export", "summary", "-dir", path).ends(0).out
    demand(re.search(r"^1\. .*\n\tnone\n", report, re.M), "one of equal nodes is slow:\n" + report)
