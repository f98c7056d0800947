#!/usr/bin/env python3
"""Run every test of the builds in build/ (release), build/asan and build/static.

    tests/run.py [SUITE …]        suites: unit golden program cli fuzz; default: all

Each suite is programs that print a line per test: "ok   NAME" or "FAIL NAME   why" (the Python ones), or TAP (cmocka).
Counted is what was printed, nothing else; a program that fails without saying which test did, that says fewer results than
it announced, or that ran no test at all is one more failure. The last line is "N passed, N failed".
"""
import os
import re
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RELEASE, ASAN, STATIC = "build", "build/asan", "build/static"
SANITIZERS = {"ASAN_OPTIONS": "abort_on_error=0:detect_leaks=1:allocator_may_return_null=1",
              "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1"}
TIMEOUT = 600


def unit_programs(build):
    """The test programs that this build should have: one per source file, also when it was not built."""
    names = sorted(n[:-2] for n in os.listdir(os.path.join(ROOT, "tests", "unit")) if n.startswith("test_") and n.endswith(".c"))
    return [("unit %s %s" % (build, n), [os.path.join(build, "tests", n)]) for n in names]


def python(label, *arguments):
    return label, [sys.executable, *arguments]


SUITES = {
    "unit": unit_programs(RELEASE) + unit_programs(ASAN),
    "golden": [
        python("golden rules", "tests/golden/test_facts.py", "-v"),
        python("golden", "tests/golden/run.py", "--bin", RELEASE + "/npuprof"),
        python("golden sanitized", "tests/golden/run.py", "--facts-only", "--bin", ASAN + "/npuprof"),
    ],
    "program": [python("program", "tests/program/run.py", RELEASE + "/npuprof", ASAN + "/npuprof", STATIC + "/npuprof")],
    "cli": [
        python("cli", "tests/cli/run.py", "--bin", RELEASE + "/npuprof"),
        python("cli sanitized", "tests/cli/run.py", "--bin", ASAN + "/npuprof"),
    ],
    "fuzz": [python("fuzz", "tests/fuzz/mutate.py", "--bin", ASAN + "/npuprof")],
}
RESULT = re.compile(r"^(?:(?P<tap>(?:not )?ok) \d+ - (?P<tap_name>.*)|(?P<own>ok  |FAIL) (?P<own_name>.*)"
                    r"|(?P<py_name>test_\w+) \(.*\) \.\.\. (?P<py>ok|FAIL|ERROR))$")
PLAN = re.compile(r"^1\.\.(\d+)$")


def run(label, command):
    """One test program: [(name, passed)], and its output"""
    environment = dict(os.environ, CMOCKA_MESSAGE_OUTPUT="TAP", **SANITIZERS)
    try:
        p = subprocess.run(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True, errors="replace", timeout=TIMEOUT)
        output, status = p.stdout, p.returncode
    except subprocess.TimeoutExpired as e:
        output, status = (e.stdout or b"").decode(errors="replace") + "\ntimed out\n", -1
    except OSError as e:
        output, status = str(e), -1
    results, planned = [], 0
    for line in output.splitlines():
        plan, result = PLAN.match(line), RESULT.match(line)
        if plan:
            planned += int(plan[1])
        elif result and "# SKIP" not in line:
            verdict = result["tap"] or result["own"] or result["py"]
            name = result["tap_name"] or result["own_name"] or result["py_name"]
            results.append((name, verdict.strip() == "ok"))
        elif result:
            planned -= 1
    if len(results) < planned:
        results.append(("%d of its tests gave no result" % (planned - len(results)), False))
    if not results or (status != 0 and all(passed for _, passed in results)):
        results.append(("exit status %d" % status, False))
    return results, output


def main():
    wanted = sys.argv[1:] or list(SUITES)
    passed = failed = 0
    for suite in wanted:
        for label, command in SUITES[suite]:
            began = time.monotonic()
            results, output = run(label, command)
            good = sum(ok for _, ok in results)
            passed, failed = passed + good, failed + len(results) - good
            print("%-4s %-44s %4d of %-4d %6.1f s" % ("ok" if good == len(results) else "FAIL", label, good, len(results),
                                                     time.monotonic() - began), flush=True)
            if good != len(results):
                for name, ok in results:
                    if not ok:
                        print("     failed: %s" % name)
                if not any(name.startswith("golden") for name, _ in results):
                    print("\n".join("     | " + line for line in output.splitlines()[-60:]), flush=True)
    print("%d passed, %d failed" % (passed, failed), flush=True)
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
