#!/usr/bin/env python3
"""Stands where CANN's msprof front-end, torch_npu and MindSpore look for msprof.py, and runs npuprof instead.

Put it at <tools>/profiler/profiler_tool/analysis/msprof/msprof.py. The program is the one that $NPUPROF names, else the
npuprof beside this file, else that in PATH. Arguments are passed on as they are.
"""
import os
import shutil
import sys


def program():
    beside = os.path.join(os.path.dirname(os.path.realpath(__file__)), "npuprof")
    return os.environ.get("NPUPROF") or (beside if os.access(beside, os.X_OK) else shutil.which("npuprof"))


def main():
    found = program()
    if not found:
        sys.exit("msprof.py: error: npuprof is neither beside this file nor in PATH; $NPUPROF can name it")
    try:
        os.execv(found, [found] + sys.argv[1:])
    except OSError as error:
        sys.exit("msprof.py: error: cannot run %s: %s" % (found, error.strerror))


if __name__ == "__main__":
    main()
