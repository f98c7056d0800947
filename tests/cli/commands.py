"""The command line: options, exit statuses, which files appear, what is said."""
import glob
import json
import os
import pty
import re
import resource
import shutil
import signal
import subprocess
import time

from run import Skipped, demand, fingerprint


def test_no_arguments_shows_the_help_and_fails(b):
    result = b.run().ends(1)
    demand("usage: npuprof COMMAND" in result.out and "export" in result.out, result.out)


def test_help_is_everywhere(b):
    for words in ([], ["export"], ["export", "timeline"], ["export", "summary"], ["export", "db"]):
        for option in ("-h", "--help", "--he"):
            result = b.run(*words, option).ends(0)
            demand(result.out.startswith("usage: " + " ".join(["npuprof"] + words)), result.out)
            demand(not result.err, result.err)


def test_export_without_anything_shows_its_help_and_fails(b):
    demand(b.run("export").ends(1).out.startswith("usage: npuprof export"), "no help")


def test_version_is_everywhere(b):
    for words in ([], ["export"], ["export", "db"]):
        result = b.run(*words, "--version").ends(0)
        demand(re.fullmatch(r"npuprof \d+\.\d+\.\d+\n", result.out), result.out)


def test_wrong_command_lines_are_usage_errors(b):
    prof = b.prof()
    for words, why in (
            (["frobnicate"], "unknown command 'frobnicate'"),
            (["--nothing"], "unknown option --nothing"),
            (["export", "everything", "-dir", prof], "cannot export 'everything'"),
            (["export", "timeline", "--nothing", "-dir", prof], "unknown option --nothing"),
            (["export", "timeline"], "-dir is required"),
            (["export", "timeline", "-dir"], "-dir needs a value"),
            (["export", "timeline", "-dir", prof, "more"], "unexpected argument 'more'"),
            (["export", "summary", "--jobs", "none", "-dir", prof], "--jobs must be a number"),
            (["export", "db", "--clear", "-dir", prof], "unknown option --clear"),
            (["export", "db", "--iteration-id", "1", "-dir", prof], "unknown option --iteration-id"),
            (["export", "db", "--format", "csv", "-dir", prof], "unknown option --format"),
            (["export", "timeline", "--format", "csv", "-dir", prof], "unknown option --format"),
            (["export", "summary", "-reports", "x", "-dir", prof], "unknown option -reports"),
    ):
        result = b.run(*words).ends(2)
        demand("error: " + why in result.err, "%s: %s" % (words, result.err))
        demand("usage: npuprof" in result.err and not result.out, "%s: %s" % (words, result.out))
    demand(not b.outputs(prof), "something was exported")


def test_paths_without_prof_data_are_refused(b):
    prof = b.prof()
    os.mkdir(b.path("empty"))
    for path in ("missing", "empty", "PROF_A/host", "PROF_A/device_0", "PROF_A/host/info.json", "x" * 5000):
        result = b.run("export", "-dir", path).ends(2)
        demand(result.err.count("\n") == 1 and path[:200] in result.err and not result.out, result.err)
    demand(not b.outputs(prof), "something was exported")


def test_paths_with_odd_characters_are_refused(b):
    for character, shown in ((";", r"\;"), ("\n", r"\n"), ("|", r"\|"), ("'", r"\'"), ("\x7f", r"\x7f"), ("\\", "\\\\"), ("$", r"\$")):
        result = b.run("export", "-dir", "a%sb" % character).ends(1)
        demand("must not contain the character %s\n" % shown in result.err, result.err)
    b.run("export", "-dir=").ends(1).says("path given with -dir is empty")


def test_the_path_can_be_given_in_every_form(b):
    home = dict(os.environ, HOME=b.dir)
    for number, words in enumerate((["-dir", "@"], ["-dir=@"], ["-dir==@"], ["--collection-dir", "@"], ["--collection-dir=@"],
                                    ["--coll", "@"], ["-dir", "missing", "-dir", "@"], ["-dir=~/@"])):
        name = "PROF_%d" % number
        b.prof(name)
        b.run("export", "db", *[w.replace("@", name) for w in words], env=home).ends(0)
        demand(b.outputs(b.path(name)) == ["msprof.db"], "%s wrote %s" % (words, b.outputs(b.path(name))))


def test_each_kind_writes_its_files_and_the_database(b):
    everything = b.prof("PROF_all")
    b.export(everything).ends(0)
    names = b.outputs(everything)
    b.has_all(everything)
    for kind, fits in (("timeline", r".*\.json|.*\.db"), ("summary", r".*\.csv|.*\.txt|.*\.db"), ("db", r".*\.db")):
        prof = b.prof("PROF_" + kind)
        b.export(prof, kind).ends(0)
        expected = [n for n in names if re.fullmatch(fits, n)]
        demand(b.outputs(prof) == expected, "%s wrote %s, not %s" % (kind, b.outputs(prof), expected))
    demand(not os.path.exists(b.path("PROF_db", "mindstudio_profiler_output")), "db made an output directory")


def test_a_second_run_keeps_the_files_and_replaces_the_database(b):
    prof = b.prof()
    for _ in range(3):  # within a second or two: runs must not overwrite each other
        b.export(prof).ends(0)
    names = b.outputs(prof)
    demand(names.count("msprof.json") == 3 and names.count("op_summary.csv") == 3, names)
    demand(names.count("msprof.db") == 1 and names.count("README.txt") == 1, names)
    stamps = {re.search(r"_(\d{14})\.", p)[1] for p in glob.glob(prof + "/mindstudio_profiler_output/msprof_*.json")}
    demand(max(stamps) in b.output(prof, "msprof.db"), "the database is not the newest one")


def test_an_older_database_never_makes_a_run_skip_the_work(b):
    prof = b.prof()
    for name in ("msprof_20200101000000.db", "msprof_20380101000000.db"):
        with open(os.path.join(prof, name), "w", encoding="utf-8") as file:
            file.write("old")
    b.run("export", "db", "-dir", prof).ends(0)
    left = glob.glob(prof + "/msprof_*.db")
    demand(len(left) == 1 and os.path.getsize(left[0]) > 3, left)


def test_runs_at_the_same_time_leave_one_whole_database(b):
    prof = b.prof()
    for _ in range(4):
        runs = [b.start("export", "-dir", prof, "-q") for _ in range(3)]
        for run in runs:
            demand(run.wait(timeout=60) == 0, run.communicate())
        demand(b.outputs(prof).count("msprof.db") == 1, b.outputs(prof))
        with open(b.output(prof, "msprof.db"), "rb") as file:
            demand(file.read(15) == b"SQLite format 3", "no database")
    b.no_leftovers(prof)


def test_json_tables_and_timelines_have_files_of_their_own(b):
    prof = b.prof()
    b.export(prof, "--format", "json").ends(0)
    b.has_all(prof, "step_trace.json", "step_trace_table.json", "op_summary.json")
    with open(b.output(prof, "step_trace.json"), encoding="utf-8") as file:
        demand(all("ph" in event for event in json.load(file)), "not a timeline")
    with open(b.output(prof, "step_trace_table.json"), encoding="utf-8") as file:
        demand(all("Iteration ID" in row for row in json.load(file)), "not a table")


def test_all_files_of_a_run_carry_one_time(b):
    prof = b.prof()
    b.export(prof).ends(0)
    paths = glob.glob(prof + "/mindstudio_profiler_output/*_*.*") + glob.glob(prof + "/msprof_*.db")
    stamps = {re.search(r"_(\d{14})\.\w+$", p)[1] for p in paths}
    demand(len(stamps) == 1, stamps)


def test_the_parent_of_prof_directories_exports_all_of_them(b):
    for name in ("PROF_1", "PROF_2"):
        b.prof("job/" + name)
    os.makedirs(b.path("job/stray/deeper"))
    result = b.run("export", "-dir", "job").ends(0)
    for name in ("PROF_1", "PROF_2"):
        b.has_all(b.path("job", name))
    demand("job/PROF_1" in result.out and "job/PROF_2" in result.out, result.out)


def test_a_trailing_slash_and_dots_do_not_matter(b):
    prof = b.prof()
    for path, where in (("PROF_A/", b.dir), ("./PROF_A/.", b.dir), (".", prof), ("..", os.path.join(prof, "host"))):
        b.run("export", "timeline", "-dir", path, cwd=where).ends(0)
    demand(b.outputs(prof).count("msprof.json") == 4, b.outputs(prof))


def test_the_outputs_do_not_depend_on_the_number_of_threads(b):
    digests = []
    for jobs in ("1", "2", "7"):
        prof = b.prof("PROF_" + jobs, devices=2)
        b.export(prof, "--jobs", jobs).ends(0)
        os.rename(prof, b.path("PROF_X"))  # the name of the directory is no part of the comparison
        here = fingerprint(b.path("PROF_X/mindstudio_profiler_output"))
        digests.append({re.sub(r"_\d{14}", "", k): v for k, v in here.items() if k != "README.txt"})
        with open(b.output(b.path("PROF_X"), "msprof.db"), "rb") as file:
            digests[-1]["db"] = hash(file.read())
        shutil.rmtree(b.path("PROF_X"))
    demand(digests[0] == digests[1] == digests[2], [k for k in digests[0] if len({str(d.get(k)) for d in digests}) > 1])


def test_the_summary_names_every_file_and_quiet_says_nothing(b):
    prof = b.prof()
    result = b.export(prof).ends(0)
    for path in glob.glob(prof + "/mindstudio_profiler_output/*") + glob.glob(prof + "/msprof_*.db"):
        demand(os.path.basename(path) in result.out, "%s is not in the summary" % path)
    demand(re.search(r"^\d+ files, .* in \d+\.\d\d s from .* of raw data", result.out, re.M), result.out)
    demand(not result.err, "said on stderr: " + result.err)
    result = b.export(prof, "-q").ends(0)
    demand(not result.out and not result.err, result.out + result.err)


def test_verbose_tells_the_times_of_the_phases(b):
    result = b.export(b.prof(), "-v").ends(0)
    result.says(r"info: PROF_A: raw data read and joined in \d+\.\d\d s", r"info: PROF_A: timeline written in")


def test_many_prof_directories_give_a_short_summary(b):
    for number in range(5):
        b.prof("job/PROF_%d" % number, kernels=40, slice_mb=1)
    result = b.run("export", "-dir", "job").ends(0)
    demand(result.out.split("\nCluster Tuning Report")[0].count("\n") <= 24, result.out)
    demand(b.run("export", "-v", "-dir", "job").ends(0).out.count("\n") > 24, "-v does not list the files")


def test_new_files_are_not_for_everybody(b):
    prof = b.prof()
    b.export(prof).ends(0)
    demand(os.stat(prof + "/mindstudio_profiler_output").st_mode & 0o777 == 0o750, "output directory")
    for path in glob.glob(prof + "/mindstudio_profiler_output/*") + glob.glob(prof + "/msprof_*.db"):
        demand(os.stat(path).st_mode & 0o777 == 0o640, path)


def read_terminal(master):
    text = b""
    while True:
        try:
            data = os.read(master, 65536)
        except OSError:  # the other end is closed
            return text
        if not data:
            return text
        text += data


def test_progress_is_drawn_on_a_terminal_only_and_removed(b):
    prof = b.prof(kernels=60000, slice_mb=8)
    for options in ([], ["-q"]):
        master, slave = pty.openpty()
        process = subprocess.Popen([b.binary, "export", "--jobs", "1", "-dir", prof] + options, stdout=subprocess.DEVNULL,
                                   stderr=slave, stdin=subprocess.DEVNULL)
        os.close(slave)
        text = read_terminal(master).decode()
        os.close(master)
        demand(process.wait() == 0, text)
        if options:
            demand(not text, "-q drew: %r" % text)
        elif text:  # a very fast machine is done before the first tick
            demand(re.search(r"PROF_A: (reading|joining|writing)", text), repr(text))
            demand(re.search(r"\r +\r$", text), "the line is still there: %r" % text[-100:])
    demand(not b.export(prof).ends(0).err, "progress in a file")


def catches(process, number):
    """Whether the program has come as far as to catch the signal (proc(5): SigCgt), or has ended."""
    try:
        with open("/proc/%d/status" % process.pid) as status:
            caught = re.search(r"^SigCgt:\s*([0-9a-f]+)", status.read(), re.M)
    except OSError:
        return True
    return process.poll() is not None or caught is not None and int(caught.group(1), 16) >> (number - 1) & 1 == 1


def test_an_interrupted_run_leaves_no_half_files(b):
    prof = b.prof(kernels=60000, slice_mb=8)
    before = fingerprint(prof)
    for number, delay in ((signal.SIGINT, 0.1), (signal.SIGTERM, 0.3), (signal.SIGINT, 0.6), (signal.SIGHUP, 0.9)):
        process = b.start("export", "-dir", prof, "--jobs", "1")
        deadline = time.monotonic() + 60
        while not catches(process, number) and time.monotonic() < deadline:  # a busy machine is slow to start it
            time.sleep(0.01)
        time.sleep(delay)
        process.send_signal(number)
        process.communicate(timeout=60)
        demand(process.returncode in (0, 128 + number), "exit status %d after signal %d" % (process.returncode, number))
        b.no_leftovers(prof)
    demand(fingerprint(prof) == before, "raw data was changed")


def test_a_full_disk_is_an_error_without_half_files(b):
    prof = b.prof()
    b.export(prof, "db").ends(0)
    old = glob.glob(prof + "/msprof_*.db")

    def limit():  # the kernel refuses to let a file grow over this, as a full disk would
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    result = b.export(prof, preexec_fn=limit).ends(1)
    result.says("error: PROF_A: database not complete: .*File too large", "error: PROF_A: timeline not complete",
                "error: PROF_A: summary not complete")
    demand(glob.glob(prof + "/msprof_*.db") == old, "the older database is gone")
    demand("msprof.json" not in b.outputs(prof), b.outputs(prof))


def test_an_output_directory_that_cannot_be_made_costs_only_what_goes_there(b):
    prof = b.prof()
    with open(prof + "/mindstudio_profiler_output", "w", encoding="utf-8") as file:
        file.write("in the way")
    b.run("export", "-dir", prof).ends(1).says("error: PROF_A: timeline and summary not written: .* not a directory")
    demand(glob.glob(prof + "/msprof_*.db"), "no database")


def test_an_output_directory_that_is_a_link_is_not_followed(b):
    prof = b.prof()
    os.mkdir(b.path("elsewhere"))
    os.symlink(b.path("elsewhere"), prof + "/mindstudio_profiler_output")
    b.run("export", "-dir", prof).ends(1).says("timeline and summary not written")
    demand(not os.listdir(b.path("elsewhere")), "written elsewhere")


def test_a_directory_without_write_permission_is_an_error(b):
    if os.getuid() != 0:
        user = {}
    elif os.access(b.binary, os.X_OK) and os.stat(b.binary).st_mode & 0o001:
        user = {"user": 65534, "group": 65534, "extra_groups": []}
    else:
        raise Skipped("root may write everywhere")
    prof = b.prof()
    subprocess.run(["chmod", "-R", "a+rX,a-w", prof], check=True)
    shutil.copy2(b.binary, b.path("npuprof"))
    b.binary = b.path("npuprof")
    try:
        b.export(prof, **user).ends(1).says("error: PROF_A: database not complete: .*Permission denied",
                                            "error: PROF_A: timeline and summary not written: .*Permission denied")
    finally:
        subprocess.run(["chmod", "-R", "u+w", prof], check=True)


def test_raw_data_that_cannot_be_written_is_enough(b):
    if os.getuid() != 0:
        user = {}
    else:
        user = {"user": 65534, "group": 65534, "extra_groups": []}
    prof = b.prof()
    subprocess.run(["chmod", "-R", "a+rX,a-w", prof], check=True)
    os.chmod(prof, 0o777)
    shutil.copy2(b.binary, b.path("npuprof"))
    os.chmod(b.path("npuprof"), 0o755)
    b.binary = b.path("npuprof")
    try:
        b.export(prof, **user).ends(0)
        if not user:
            b.has_all(prof)
    finally:
        subprocess.run(["chmod", "-R", "u+w", prof], check=True)


def test_a_closed_standard_output_is_an_error(b):
    prof = b.prof()
    with open("/dev/full", "w", encoding="utf-8") as full:
        process = subprocess.run([b.binary, "export", "-dir", prof], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    demand(process.returncode == 1 and "cannot write to standard output" in process.stderr, process.stderr)
    b.has_all(prof)


def test_clear_is_accepted_and_removes_nothing(b):
    prof = b.prof()
    os.makedirs(prof + "/host/sqlite")
    with open(prof + "/host/sqlite/x.db", "w", encoding="utf-8") as file:
        file.write("x")
    for kind in ("timeline", "summary"):
        b.export(prof, kind, "--clear").ends(0)
    demand(os.path.exists(prof + "/host/sqlite/x.db"), "another tool's files were removed")
