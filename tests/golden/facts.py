"""What an export says, as facts that can be compared.

An export becomes {table: [row, …]}: a timeline is a table of events, a CSV file a table of lines, the database its tables.
A row is a tuple of cells: text that must be equal, or a Number that may be off by what its form allows (a double holds an
epoch time in microseconds only to a quarter of one). Ids that only tie rows together (connections, flows, strings, tasks,
operators) are replaced by what they stand for, so their values don't matter, what they tie together does.
"""
import collections
import csv
import json
import os
import re
import sqlite3
from decimal import Decimal, InvalidOperation

STAMP = re.compile(r"_\d{14}(?=\.)")
NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][-+]?\d+)?\Z")
NO_ID = {"4294967295", "18446744073709551615", "-1"}


class Number(Decimal):
    """A cell that is a number: compared by value, whole ones exactly, others with a tolerance."""


def cell(value):
    """Text or a Number."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    text = value if isinstance(value, str) else repr(value) if isinstance(value, float) else str(value)
    text = text.strip()
    if not NUMBER.match(text) or len(text) > 40:
        return text
    number = Decimal(text)
    return Number(number.normalize() if number else 0)


def near(a, b, wide=False):
    if a == b:
        return True
    difference, size = abs(a - b), abs(a)
    if size >= 10 ** 17:  # epoch ns
        return difference <= 260
    if size >= 10 ** 12 or wide:  # epoch us, and what is computed from them
        return difference <= Decimal("0.26")
    if a == a.to_integral_value() and b == b.to_integral_value():
        return False
    return difference <= Decimal("0.001") or difference <= size * Decimal("1e-9")


def near_sum(a, b, _wide=False):
    """For sums of ms and MB that are written in full, and ratios of four decimals."""
    if abs(a) >= 10 ** 12:
        return abs(a - b) <= Decimal("0.26")
    places = max(-n.as_tuple().exponent for n in (a, b))
    return abs(a - b) <= (Decimal("1e-4") if 0 < places <= 4 else abs(a) * Decimal("1e-9"))


def match(expected, actual, wide=(), nearly=near):
    """Rows that only one side has: (missing, extra). `wide`: columns with the tolerance of computed epoch times."""
    def key(row):
        return tuple("#" if isinstance(c, Number) else c for c in row)

    count_e, count_a = collections.Counter(expected), collections.Counter(actual)
    groups = collections.defaultdict(lambda: ([], []))
    for side, rows in enumerate((count_e - count_a, count_a - count_e)):
        for row in rows.elements():
            groups[key(row)][side].append(row)
    missing, extra = [], []
    for shape, (mine, theirs) in groups.items():
        at = [i for i, c in enumerate(shape) if c == "#"]
        for rows in (mine, theirs):
            rows.sort(key=lambda row: [row[i] for i in at])
        for row in mine:
            for other in theirs:
                if all(nearly(row[i], other[i], i in wide) for i in at):
                    theirs.remove(other)
                    break
            else:
                missing.append(row)
        extra += theirs
    return missing, extra


# ---- timeline
def strict_json(path):
    """The JSON document, or ValueError: no NaN, no key twice in an object, valid UTF-8."""
    def pairs(items):
        result = dict(items)
        if len(result) != len(items):
            raise ValueError("a key twice in one object: %s" % [k for k, _ in items])
        return result

    def constant(name):
        raise ValueError("%s is not JSON" % name)

    with open(path, encoding="utf-8") as file:
        return json.load(file, parse_float=Decimal, parse_constant=constant, object_pairs_hook=pairs)


def flatten(value, path=""):
    if isinstance(value, dict):
        return [c for k in sorted(value) for c in flatten(value[k], "%s.%s" % (path, k))]
    if isinstance(value, list):
        return [c for i, v in enumerate(value) for c in flatten(v, "%s[%d]" % (path, i))]
    return [path, value if isinstance(value, Number) else cell(value)]


def when(event):
    try:
        return Decimal(str(event.get("ts", 0)))
    except InvalidOperation:
        return Decimal(0)


def is_flow(event):
    return event.get("ph") in ("s", "t", "f") and "id" in event


def communication_lanes(events):
    """Threads of a Communication process are numbered group by group, in no defined order: {(pid, tid): its group and
    its distance from the group's own thread}"""
    names = collections.defaultdict(dict)
    processes = set()
    for e in events:
        if e.get("ph") == "M" and e.get("name") == "process_name" and e["args"].get("name") == "Communication":
            processes.add(e["pid"])
        if e.get("ph") == "M" and e.get("name") == "thread_name":
            names[e["pid"]][int(e["tid"])] = e["args"]["name"]
    lanes = {}
    for pid in processes:
        head, first = "", 0
        for tid in sorted(names[pid]):
            if not names[pid][tid].startswith("Plane "):
                head, first = names[pid][tid], tid
            lanes[pid, tid] = "%s+%d" % (head, tid - first)
    return lanes


def timeline(path):
    events = strict_json(path)
    connections, flows = {}, {}
    for e in events:
        connection = str((e.get("args") or {}).get("connection_id", "-1"))
        if connection not in NO_ID:
            connections[connection] = min(connections.get(connection, when(e)), when(e))
        if is_flow(e):
            flow = (e.get("cat"), e["id"])
            flows[flow] = min(flows.get(flow, (True, 0)), (e["ph"] != "s", when(e)))
    lanes = communication_lanes(events)
    rows, once = [], set()
    for e in events:
        e = dict(e)
        args = e.get("args")
        if args and str(args.get("connection_id")) in connections:
            e["args"] = dict(args, connection_id=Number(connections[str(args["connection_id"])]))
        if is_flow(e):
            name, number = str(e.get("name", "")), str(e["id"])
            e["name"] = name[: -len(number)] if name.endswith(number) else name
            e["id"] = Number(flows[e.get("cat"), e["id"]][1])
        lane = lanes.get((e.get("pid"), int(e["tid"]))) if "tid" in e else None
        if lane and (e.get("ph") != "M" or e["name"].startswith("thread_")):
            if e["name"] == "thread_sort_index" and str(args["sort_index"]) == str(e["tid"]):
                e["args"] = {"sort_index": lane}
            e["tid"] = lane
        row = tuple(flatten(e))
        if e.get("ph") in ("C", "M"):
            if row in once:
                continue
            once.add(row)
        rows.append(row)
    return rows


# ---- tables
def table(path):
    with open(path, encoding="utf-8", newline="") as file:
        return [tuple(cell(c) for c in line) for line in csv.reader(file)]


# ---- database
STRING_COLUMNS = {
    "name", "opName", "opType", "taskType", "groupName", "algType", "opState", "hashid", "attrInfo", "message", "state",
    "inputFormats", "inputDataTypes", "inputShapes", "outputFormats", "outputDataTypes", "outputShapes", "domainId",
    "hf32Eligible", "gridDim", "blockDim", "operatorName",
}
STRING_COLUMNS_OF = {  # names that are texts in these tables only
    "HBM": {"type"}, "LLC": {"mode"}, "NPU_MEM": {"type"}, "QOS": {"eventName"}, "CCU": {"args"}, "DPU_TASK": {"args"},
    "SAMPLE_PMU_SUMMARY": {"metric", "coreType"}, "SAMPLE_PMU_TIMELINE": {"coreType"},
}
KEYS = {  # of the rows that define an id
    "globalTaskId": ("TASK", ("deviceId", "streamId", "taskId", "contextId", "startNs", "endNs")),
    "opId": ("COMMUNICATION_OP", ("deviceId", "opName", "startNs", "endNs")),
}
CONNECTED = ("CANN_API", "COMMUNICATION_OP", "TASK", "MSTX_EVENTS")  # the first that has a connection names it


def database(connection):
    """{table: rows} and {table: its columns} of an open database"""
    names = [r[0] for r in connection.execute("select name from sqlite_master where type = 'table' order by name")
             if not r[0].startswith("sqlite_")]
    strings = dict(connection.execute("select id, value from STRING_IDS")) if "STRING_IDS" in names else {}
    raw, schema = {}, {}
    for name in names:
        schema[name] = [(r[1], r[2].upper(), r[5]) for r in connection.execute('pragma table_info("%s")' % name)]
        columns = [c[0] for c in schema[name]]
        raw[name] = [dict(zip(columns, row)) for row in connection.execute('select * from "%s"' % name)]
        for row in raw[name]:
            for column in (STRING_COLUMNS | STRING_COLUMNS_OF.get(name, set())).intersection(columns):
                if isinstance(row[column], int):
                    row[column] = strings.get(row[column], "<no string %d>" % row[column])
    labels = {}
    for column, (owner, key) in KEYS.items():
        for row in raw.get(owner, []):
            if column in row:
                labels[column, row[column]] = tuple(cell(row[k]) for k in key if k in row)
    for owner in CONNECTED:
        starts = {}
        for row in raw.get(owner, []):
            if "connectionId" in row and str(row["connectionId"]) not in NO_ID:
                starts[row["connectionId"]] = min(starts.get(row["connectionId"], row["startNs"]), row["startNs"])
        for number, start in starts.items():
            labels.setdefault(("connectionId", number), (Number(start),))
    tables = {}
    for name, rows in raw.items():
        if name == "STRING_IDS":
            continue
        tables[name] = [tuple(c for column, value in row.items()
                              for c in (labels.get((column, value), ("no id",))
                                        if column in KEYS or column == "connectionId" else (cell(value),)))
                        for row in rows]
    return tables, schema


def open_database(path):
    connection = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    connection.text_factory = lambda b: b.decode("utf-8", "surrogateescape")
    return connection


# ---- exports
def files(prof):
    """{name without its time: path} of the outputs in a PROF directory"""
    found = {}
    for folder in (prof, os.path.join(prof, "mindstudio_profiler_output")):
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            if name.endswith((".json", ".csv", ".db")) and STAMP.search(name):
                found[STAMP.sub("", name)] = os.path.join(folder, name)
    return found


def show(row):
    return " ".join(format(c, "f") if isinstance(c, Number) else c for c in row)[:300]


def differences(name, expected, actual, wide=(), nearly=near):
    missing, extra = match(expected, actual, wide, nearly)
    return ["%s: missing %s" % (name, show(r)) for r in missing] + ["%s: extra %s" % (name, show(r)) for r in extra]


def compare_tables(name, expected, actual):
    if expected[:1] != actual[:1]:
        return ["%s: header %s, expected %s" % (name, show(actual[0] if actual else ()), show(expected[0]))]
    wide = [i for i, c in enumerate(expected[0]) if c == "Task Wait Time(us)"]
    found = differences(name, expected, actual, wide)
    if not found and sorted(expected, key=str) == sorted(actual, key=str) and expected != actual:
        line = next(i for i, (e, a) in enumerate(zip(expected, actual)) if e != a)
        found = ["%s: other order from line %d: %s" % (name, line + 1, show(actual[line]))]
    return found


def compare(expected_dir, prof):
    """All differences between the outputs in a PROF directory and the expected ones of a case. Of some chips the reference
    writes no database: one more is fine."""
    found = []
    actual = files(prof)
    expected = {n: os.path.join(expected_dir, n) for n in sorted(os.listdir(expected_dir))}
    names = {n[:-4] + ".db" if n.endswith(".sql") else n for n in expected}
    found += ["%s: no such file" % n for n in sorted(names - set(actual))]
    found += ["%s: unexpected file" % n for n in sorted(set(actual) - names - {"msprof.db"})]
    for name, path in expected.items():
        if name.endswith(".json") and name in actual:
            found += differences(name, timeline(path), timeline(actual[name]))
        elif name.endswith(".csv") and name in actual:
            found += compare_tables(name, table(path), table(actual[name]))
        elif name.endswith(".sql") and name[:-4] + ".db" in actual:
            found += compare_databases(path, actual[name[:-4] + ".db"])
    return found


def compare_databases(sql, path, nearly=near):
    wanted = sqlite3.connect(":memory:")
    with open(sql, encoding="utf-8", errors="surrogateescape") as file:
        wanted.executescript(file.read())
    (expected, expected_schema), connection = database(wanted), open_database(path)
    actual, schema = database(connection)
    connection.close()
    found = ["db: table %s is missing" % t for t in sorted(set(expected_schema) - set(schema))]
    found += ["db: table %s is not expected" % t for t in sorted(set(schema) - set(expected_schema))]
    for name in sorted(set(expected_schema) & set(schema)):
        if expected_schema[name] != schema[name]:
            found.append("db: %s has the columns %s, expected %s" % (name, schema[name], expected_schema[name]))
        elif name in expected:
            found += differences("db: " + name, expected[name], actual[name], nearly=nearly)
    return found


# ---- analyses
def operators(path):
    """A row per operator of a JSON file of `analyze`."""
    return [(name, *flatten(facts)) for name, facts in strict_json(path).items()]


def compare_analysis(expected_dir, folder):
    """All differences between the folder `analyze` and the expected one of a case."""
    found = []
    names = {n[:-4] + ".db" if n.endswith(".sql") else n: n for n in sorted(os.listdir(expected_dir))}
    actual = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    found += ["%s: no such file" % n for n in names if n not in actual]
    found += ["%s: unexpected file" % n for n in actual if n not in names]
    for name in (n for n in names if n in actual):
        expected, path = os.path.join(expected_dir, names[name]), os.path.join(folder, name)
        if name.endswith(".db"):
            found += compare_databases(expected, path, near_sum)
        else:
            found += differences(name, operators(expected), operators(path), nearly=near_sum)
    return found
