#!/usr/bin/env python3
"""Use the program as a user does: the command line, and raw data that is damaged in every way we can think of.

    tests/cli/run.py [--bin build/npuprof] [-k] [TEST …]

Tests are the functions test_* of commands.py (command line), frontend.py (as CANN's tools call it, and shells), choices.py (what is exported, and in which form), analysis.py
(analyze), cluster.py (many ranks), cluster_communication.py (what they sent) and damage.py (damaged input), named for what they promise; TEST picks those whose name contains it. Each gets a Bench with a scratch folder of its own. Raw data comes from bench/gen_prof.py.

Prints "ok   NAME" or "FAIL NAME   why" per test, "skip" where the machine cannot do it. -k keeps the scratch folders. Exit
status 0 only when nothing failed.
"""
import argparse
import concurrent.futures
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
PROJECT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
TIMEOUT = 120


class Failed(Exception):
    """a promise was not kept"""


class Skipped(Exception):
    """this machine cannot run the test"""


def demand(condition, text):
    if not condition:
        raise Failed(text)


class Result:
    def __init__(self, process):
        self.status, self.out, self.err = process.returncode, process.stdout, process.stderr

    def says(self, *patterns):
        """each pattern fits a line of stderr"""
        for pattern in patterns:
            demand(re.search(pattern, self.err, re.M), "no line like /%s/ on stderr:\n%s" % (pattern, self.err))
        return self

    def never_says(self, *patterns):
        for pattern in patterns:
            found = re.search(".*(?:%s).*" % pattern, self.err, re.M)
            demand(not found, "unexpected on stderr: %s" % (found and found[0]))
        return self

    def ends(self, status):
        demand(self.status == status, "exit status %d, expected %d: %s" % (self.status, status, self.err.strip()[-300:]))
        return self


def fingerprint(prof):
    """{path: digest} of the raw data below a directory"""
    found = {}
    for parent, folders, names in os.walk(prof):
        folders[:] = [f for f in folders if f != "mindstudio_profiler_output"]
        for name in names:
            path = os.path.join(parent, name)
            if re.match(r"\.?msprof_\d{14}\.db", name) or not os.path.isfile(path):
                continue
            with open(path, "rb") as file:
                found[os.path.relpath(path, prof)] = hashlib.sha256(file.read()).hexdigest()
    return found


class Bench:
    """What a test works with: `dir`, a folder of its own, and the program"""
    made, lock = {}, threading.Lock()  # PROF directories by their arguments

    def __init__(self, binary, folder, masters):
        self.binary, self.dir, self.masters = binary, folder, masters
        os.makedirs(folder)

    def path(self, *parts):
        return os.path.join(self.dir, *parts)

    def prof(self, name="PROF_A", kernels=400, devices=1, threads=2, slice_mb=0.02, steps=2):
        """a fresh PROF directory; returns its path"""
        arguments = ["--kernels", str(kernels), "--devices", str(devices), "--threads", str(threads), "--slice", str(slice_mb),
                     "--steps", str(steps)]
        with Bench.lock:
            master = Bench.made.get(tuple(arguments))
            if not master:
                master = os.path.join(self.masters, "PROF_%d" % len(Bench.made))
                subprocess.run([sys.executable, os.path.join(PROJECT, "bench", "gen_prof.py"), master] + arguments, check=True,
                               stdout=subprocess.DEVNULL)
                Bench.made[tuple(arguments)] = master
        shutil.copytree(master, self.path(name))
        return self.path(name)

    def start(self, *arguments, **how):
        return subprocess.Popen([self.binary] + list(arguments), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, cwd=self.dir, **how)

    def run(self, *arguments, **how):
        process = subprocess.run([self.binary] + list(arguments), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                 errors="replace", timeout=TIMEOUT, cwd=how.pop("cwd", self.dir), check=False, **how)
        result = Result(process)
        demand(result.status >= 0, "killed by signal %d: %s" % (-result.status, result.err[-2000:]))
        demand("Sanitizer" not in result.err and "runtime error" not in result.err, result.err[:3000])
        return result

    def export(self, prof, *arguments, **how):
        """export -dir PROF; the raw data stays as it was and no unfinished file is left, whatever happens"""
        before = fingerprint(prof)
        result = self.run("export", *arguments, "-dir", prof, **how)
        demand(fingerprint(prof) == before, "raw data was changed")
        self.no_leftovers(prof)
        return result

    @staticmethod
    def no_leftovers(folder):
        left = [p for p in glob.glob(folder + "/**", recursive=True, include_hidden=True) if p.endswith((".part", "-journal"))]
        demand(not left, "unfinished files: %s" % left)

    @staticmethod
    def outputs(prof):
        """names of what is there, times removed: ["msprof.db", "msprof.json", "op_summary.csv" …]"""
        paths = glob.glob(prof + "/mindstudio_profiler_output/*") + glob.glob(prof + "/msprof_*.db")
        return sorted(re.sub(r"_\d{14}\.", ".", os.path.basename(p)) for p in paths)

    @staticmethod
    def output(prof, name):
        """path of the newest output of that name"""
        stem, dot, ext = name.rpartition(".")
        pattern = re.compile(re.escape(stem) + r"(_\d{14})" + re.escape(dot + ext) + "$")
        paths = glob.glob(prof + "/mindstudio_profiler_output/*") + glob.glob(prof + "/msprof_*.db")
        fitting = sorted(p for p in paths if pattern.fullmatch(os.path.basename(p)))
        demand(fitting, "no %s was written" % name)
        return fitting[-1]

    def has_all(self, prof, *names):
        """the main outputs are there (or those named)"""
        there = self.outputs(prof)
        for name in names or ("msprof.db", "msprof.json", "op_summary.csv", "task_time.csv", "api_statistic.csv"):
            demand(name in there, "no %s among %s" % (name, there))


def run_test(name, function, binary, scratch):
    try:
        function(Bench(binary, os.path.join(scratch, name), os.path.join(scratch, "masters")))
        return "ok", ""
    except Skipped as why:
        return "skip", str(why)
    except Failed as why:
        return "FAIL", str(why)
    except Exception:  # pylint: disable=broad-except
        return "FAIL", traceback.format_exc(limit=-3)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.path.join(PROJECT, "build", "npuprof"))
    parser.add_argument("-k", action="store_true", help="keep the scratch folders")
    parser.add_argument("test", nargs="*")
    arguments = parser.parse_args()
    import analysis
    import choices
    import cluster
    import cluster_communication
    import commands
    import damage
    import frontend
    tests = [(name, function) for module in (commands, frontend, choices, analysis, cluster, cluster_communication, damage) for name, function in vars(module).items()
             if name.startswith("test_") and (not arguments.test or any(t in name for t in arguments.test))]
    scratch = tempfile.mkdtemp(prefix="npuprof-cli-")
    os.chmod(scratch, 0o755)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        binary = os.path.abspath(arguments.bin)
        for (name, _), (verdict, why) in zip(tests, pool.map(lambda t: run_test(*t, binary, scratch), tests)):
            failed += verdict == "FAIL"
            print("%-4s cli: %s%s" % (verdict, name[5:].replace("_", " "), "   " + why if why else ""), flush=True)
    if arguments.k:
        print("scratch folders:", scratch)
    else:
        shutil.rmtree(scratch, ignore_errors=True)
    return 1 if failed or not tests else 0


if __name__ == "__main__":
    # the test modules import Failed and friends from `run`: let that be this very module
    sys.modules["run"] = sys.modules["__main__"]
    sys.exit(main())
