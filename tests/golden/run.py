#!/usr/bin/env python3
"""Run the program on the golden cases: what it must write for raw data of every kind.

    tests/golden/run.py [--bin build/npuprof] [--facts-only] [-v] [CASE …]

A case is a folder of cases/: case.json says what it shows ("export": the one kind that is exported, when it is not all),
prof.tar.xz is the raw data, expected/ the outputs (the database as SQL), analyze/ those of `analyze` if it has some. Each
case is run on a scratch copy, and gives these tests:

    facts         timeline, tables and database say what is expected (see facts.py for what counts as equal)
    valid         the timeline is strict JSON, the database passes an integrity check, tables have no ragged lines
    same bytes    two runs and any number of threads write the same bytes
    one pass      `export` writes what `export timeline`, `export summary` and `export db` write one by one
    raw data      nothing of the raw data was changed, nothing but the outputs was added
    analyze       communication is analyzed as expected, without an export, into the same bytes with any number of threads

Prints "ok   NAME" or "FAIL NAME   why" per test; -v shows every difference. --facts-only leaves the last three out (for
slow builds). Exit status 0 only when all passed.
"""
import argparse
import concurrent.futures
import csv
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import facts  # noqa: E402

CASES = os.path.join(HERE, "cases")


def fingerprint(folder):
    """{path: digest} of all files below"""
    found = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder)] = hashlib.sha256(file.read()).hexdigest()
    return found


def outputs(prof):
    """{name without its time: digest of the bytes}"""
    found = {}
    for name, path in facts.files(prof).items():
        with open(path, "rb") as file:
            found[name] = hashlib.sha256(file.read()).hexdigest()
    return found


class Case:
    def __init__(self, name, binary, scratch):
        self.name, self.binary, self.scratch, self.copies = name, binary, os.path.join(scratch, name), 0
        self.folder = os.path.join(CASES, name)
        self.analysis = os.path.join(self.folder, "analyze")
        with open(os.path.join(self.folder, "case.json"), encoding="utf-8") as file:
            kind = json.load(file).get("export")
        self.kind = kind.split() if kind else []

    def copy(self):
        """a fresh PROF directory of this case"""
        self.copies += 1
        folder = os.path.join(self.scratch, str(self.copies))
        with tarfile.open(os.path.join(self.folder, "prof.tar.xz")) as archive:
            archive.extractall(folder)
        return os.path.join(folder, os.listdir(folder)[0])

    def export(self, prof, *arguments):
        """Returns None, or what went wrong."""
        command = [self.binary, "export", *arguments, "-dir", prof, "-q"]
        try:
            run = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=120,
                                 stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return "timed out"
        said = (run.stdout + run.stderr).strip().splitlines()[-1:]
        return None if run.returncode == 0 else "exit status %d: %s" % (run.returncode, "".join(said)[:200])

    def analyze(self, threads):
        """The folder with the results of a fresh copy, and what went wrong."""
        rules = [r for r in ("communication", "communication_matrix") if os.path.exists(os.path.join(self.analysis, r + ".json"))]
        prof = self.copy()
        raw = fingerprint(prof)
        run = subprocess.run([self.binary, "analyze", "--rule", ",".join(rules), "-dir", prof, "-q", "--jobs", threads],
                             capture_output=True, text=True, errors="replace", timeout=120, stdin=subprocess.DEVNULL)
        wrong = [] if run.returncode == 0 else ["exit status %d: %s" % (run.returncode, run.stderr[-200:])]
        after = {n: d for n, d in fingerprint(prof).items() if not n.startswith("analyze/")}
        return os.path.join(prof, "analyze"), wrong + ([] if after == raw else ["the raw data was changed"])

    # ---- the tests: each returns a list of what is wrong
    def test_facts(self):
        return facts.compare(os.path.join(self.folder, "expected"), self.one)

    def test_valid(self):
        wrong = []
        for name, path in facts.files(self.one).items():
            if name.endswith(".json"):
                if not isinstance(facts.strict_json(path), list):
                    wrong.append("%s is no list of events" % name)
            elif name.endswith(".csv"):
                with open(path, encoding="utf-8", newline="") as file:
                    lines = list(csv.reader(file, strict=True))
                wrong += ["%s line %d has %d cells, the header %d" % (name, i + 1, len(line), len(lines[0]))
                          for i, line in enumerate(lines) if len(line) > len(lines[0])]
            else:
                connection = facts.open_database(path)
                said = connection.execute("pragma integrity_check").fetchall()
                connection.close()
                if said != [("ok",)]:
                    wrong.append("%s: integrity check says %s" % (name, said[:3]))
        return wrong

    def test_same_bytes(self):
        wrong, wanted = [], outputs(self.one)
        for arguments in (("--jobs", "1"), ("--jobs", "4"), ("--jobs", "4")):
            prof = self.copy()
            problem = self.export(prof, *self.kind, *arguments)
            got = outputs(prof)
            if problem or got != wanted:
                wrong.append("%s: %s" % (" ".join(arguments), problem or "other bytes in %s" % sorted(
                    n for n in set(got) | set(wanted) if got.get(n) != wanted.get(n))))
        return wrong

    def test_one_pass(self):
        prof, wanted = self.copy(), outputs(self.one)
        wrong = [p for p in (self.export(prof, kind) for kind in ("timeline", "summary", "db")) if p]
        got = outputs(prof)
        return wrong + ["%s differs" % n for n in sorted(set(got) | set(wanted)) if got.get(n) != wanted.get(n)]

    def test_raw_data(self):
        after = fingerprint(self.one)
        wrong = ["%s was changed or removed" % n for n, d in self.raw.items() if after.get(n) != d]
        for name in sorted(set(after) - set(self.raw)):
            folder, _, file = name.rpartition("/")
            if not (folder == "mindstudio_profiler_output" or (folder == "" and file.startswith("msprof_"))):
                wrong.append("%s was left behind" % name)
        return wrong

    def test_analyze(self):
        (one, wrong), (other, more) = self.analyze("1"), self.analyze("4")
        if fingerprint(one) != fingerprint(other):
            more = more + ["other bytes with 4 threads"]
        return wrong + more + facts.compare_analysis(self.analysis, one)

    def run(self, facts_only):
        """[(test, what is wrong)]"""
        self.one = self.copy()
        self.raw = fingerprint(self.one)
        problem = self.export(self.one, *self.kind)
        results = []
        tests = [self.test_facts, self.test_valid] + ([self.test_analyze] if os.path.isdir(self.analysis) else [])
        if not facts_only:
            tests += [self.test_same_bytes, self.test_raw_data] + ([] if self.kind else [self.test_one_pass])
        for test in tests:
            name = test.__name__.replace("test_", "").replace("_", " ")
            try:
                results.append((name, [problem] if problem else test()))
            except Exception as error:  # the output could not even be read: that test failed, the others go on
                results.append((name, ["%s: %s" % (type(error).__name__, error)]))
        shutil.rmtree(self.scratch, ignore_errors=True)
        return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/npuprof")
    parser.add_argument("--facts-only", action="store_true")
    parser.add_argument("-v", action="store_true")
    parser.add_argument("case", nargs="*")
    a = parser.parse_args()
    names = a.case or sorted(os.listdir(CASES))
    failed = 0
    with tempfile.TemporaryDirectory(prefix="npuprof-golden-") as scratch, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        cases = [Case(n, os.path.abspath(a.bin), scratch) for n in names]
        for case, results in zip(cases, pool.map(lambda c: c.run(a.facts_only), cases)):
            for test, wrong in results:
                if wrong:
                    failed += 1
                    print("FAIL golden %s %s   %s" % (case.name, test, wrong[0][:300]), flush=True)
                    for line in wrong[1:] if a.v else []:
                        print("       " + line)
                else:
                    print("ok   golden %s %s" % (case.name, test), flush=True)
    return 1 if failed or not names else 0


if __name__ == "__main__":
    sys.exit(main())
