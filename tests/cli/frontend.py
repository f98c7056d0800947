"""The program as CANN's msprof and the tools around it call it, and what is generated for shells."""
import json
import os
import subprocess
import sys

from run import PROJECT, demand


def test_the_spelling_of_msprof_exports(b):
    prof = b.prof()
    b.run("--export=on", "--output=" + prof, "--summary-format=csv", "--clear=on").ends(0).never_says("warning: --")
    b.has_all(prof)
    b.run("--export=on", "--type=db", "--output=" + prof).ends(0)


def test_the_spelling_of_msprof_parses_queries_and_analyzes(b):
    prof = b.prof()
    demand("Job Info" in b.run("--parse=on", "--output", prof).ends(0).out, "parse does not query")
    demand(b.run("--query=on", "--output=" + prof).out == b.run("query", "-dir", prof).out, "another answer")
    b.run("--analyze=on", "--rule=communication", "--output=" + prof)
    demand(os.path.isdir(prof + "/analyze"), "not analyzed")


def test_options_that_do_not_fit_together_are_refused(b):
    prof = b.prof()
    for words, why in ((["--export=on", "--query=on"], "--query cannot be given with --export"),
                       (["--export=on", "--parse=on"], "--parse cannot be given with --export"),
                       (["--export=on", "--rule=communication"], "--rule cannot be given with --export"),
                       (["--export=on", "--type=db", "--summary-format=csv"], "--summary-format cannot be given with --type=db"),
                       (["--export=off"], "nothing to do"), (["--export=on", "--model-id=-1"], "must not be negative")):
        demand(why in b.run(*words, "--output=" + prof).ends(2).err, words)
    b.run("--export=on").ends(2).says("--output is required")
    demand(not b.outputs(prof), "something was exported")


def test_useless_options_are_said(b):
    b.run("--query=on", "--summary-format=csv", "--analyze=on", "--output=" + b.prof()).ends(0).says(
        "warning: --summary-format means nothing with --query=on", "warning: --analyze means nothing with --query=on")


def test_msprof_py_runs_the_program_as_the_front_end_calls_it(b):
    prof, script = b.prof(), os.path.join(PROJECT, "tools", "msprof.py")
    for words in (["timeline"], ["summary", "--format=csv", "--clear"]):
        run = subprocess.run([sys.executable, script, "export", *words, "-dir=" + prof], capture_output=True, check=False,
                             env=dict(os.environ, NPUPROF=b.binary), cwd=b.dir)
        demand(run.returncode == 0, run.stderr)
    b.has_all(prof)
    run = subprocess.run([sys.executable, script], env={"PATH": "/nowhere"}, capture_output=True, text=True, check=False)
    demand(run.returncode == 1 and "$NPUPROF" in run.stderr, run.stderr)


def test_get_msprof_info_says_what_a_directory_is_about(b):
    prof, script = b.prof(), os.path.join(PROJECT, "tools", "get_msprof_info.py")
    run = subprocess.run([sys.executable, script, "-dir", prof + "/host"], capture_output=True, text=True, check=False,
                         env=dict(os.environ, NPUPROF=b.binary))
    answer = json.loads(run.stdout)
    demand(answer["status"] == 0 and answer["data"]["version_info"]["drv_version"] >= 467473, run.stdout)
    run = subprocess.run([sys.executable, script, "-dir", prof], capture_output=True, text=True, check=False)
    demand(run.returncode == 0 and not run.stdout and run.stderr.startswith("ERROR:root:"), run.stderr)


def test_bash_completes_commands_options_and_values(b):
    with open(b.path("completion"), "w", encoding="utf-8") as file:
        file.write(b.run("--generate=bash").ends(0).out)
    for words, wanted in ((["npuprof", "ex"], "export"), (["npuprof", "export", "summ"], "summary"),
                          (["npuprof", "export", "summary", "--for"], "--format"),
                          (["npuprof", "export", "summary", "--format", "j"], "json")):
        script = 'source completion; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _npuprof npuprof "${@: -1}" "${@: -2:1}"; echo "${COMPREPLY[*]}"'
        run = subprocess.run(["bash", "-c", script, "bash", *words], cwd=b.dir, capture_output=True, text=True, check=False)
        demand(run.stdout == wanted + "\n", "%s: %s %s" % (words, run.stdout, run.stderr))
