#!/usr/bin/env python3
"""What the program promises besides what it writes: commands, exit status, damaged data, interruptions.

    tests/program/run.py RELEASE ASAN STATIC [TEST …]      three builds of the program

Every function named test_… below is one test: it gets the world, and fails by raising. Prints "ok   NAME" or
"FAIL NAME   why" per test. Damaged data is exported with the sanitized build.
"""
import concurrent.futures
import csv
import filecmp
import glob
import os
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "bench"), os.path.join(ROOT, "tests", "golden")]
import facts  # noqa: E402
import gen_prof  # noqa: E402

SAMPLE = glob.glob(os.path.join(ROOT, "examples", "sample", "PROF_*"))[0]
PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3  # kinds of ELF segments
SAMPLE_OPTIONS = {"kernels": 200, "threads": 2, "devices": 2, "steps": 4, "first_task": 65510}


class World:
    """A scratch folder and the programs."""

    def __init__(self, folder, release, asan, static):
        self.folder, self.release, self.asan, self.static = folder, release, asan, static

    def sample(self, name="PROF_sample"):
        prof = os.path.join(self.folder, name)
        shutil.copytree(SAMPLE, prof)
        return prof

    def run(self, *arguments, program=None, **options):
        return subprocess.run([program or self.release, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, errors="replace", timeout=120, cwd=self.folder, **options)

    def damaged(self, prof):
        """Export with the sanitized build: it must end with status 0 or 1 and no report."""
        p = self.run("export", "-dir", prof, program=self.asan)
        assert p.returncode in (0, 1), "exit status %d: %s" % (p.returncode, p.stderr[-300:])
        assert "Sanitizer" not in p.stderr and "runtime error" not in p.stderr, p.stderr[:300]
        return p


def equal(got, wanted, what=""):
    assert got == wanted, "%s: %r, expected %r" % (what, got, wanted)


def leftovers(prof):
    """files that are neither raw data nor outputs under their final name"""
    raw = {os.path.relpath(os.path.join(d, n), SAMPLE) for d, _, names in os.walk(SAMPLE) for n in names}
    return [n for d, _, names in os.walk(prof) for n in names
            if os.path.relpath(os.path.join(d, n), prof) not in raw and (n.startswith(".") or n.endswith((".part", "-journal", "-wal")))]


def op_summary(prof):
    with open(facts.files(prof)["op_summary.csv"], encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# ---- command line
def test_no_arguments_show_help(world):
    p = world.run()
    equal((p.returncode, "export" in p.stdout), (1, True))


def test_help_and_version_are_no_errors(world):
    for arguments in (["-h"], ["--help"], ["export", "-h"], ["export", "timeline", "--help"], ["--version"]):
        p = world.run(*arguments)
        equal((p.returncode, bool(p.stdout), p.stderr), (0, True, ""), arguments)


def test_wrong_command_lines_have_status_2_and_say_why(world):
    for arguments in (["nonsense"], ["export", "nonsense"], ["export", "db"], ["export", "-dir"], ["export", "-x"],
                      ["export", "-dir", SAMPLE, "--jobs", "none"]):
        p = world.run(*arguments)
        equal((p.returncode, p.stdout, bool(p.stderr)), (2, "", True), arguments)


def test_paths_without_profiling_data_have_status_2(world):
    os.mkdir(os.path.join(world.folder, "empty"))
    for path in ("nowhere", "empty", "/dev/null"):
        p = world.run("export", "-dir", path)
        equal((p.returncode, bool(p.stderr)), (2, True), path)


def test_option_forms_of_the_reference_are_understood(world):
    prof = world.sample()
    for arguments in (["-dir=" + prof], ["--collection-dir", prof], ["--collection-dir=" + prof], ["--coll", prof]):
        equal(world.run("export", "db", *arguments).returncode, 0, arguments)


def test_quiet_says_nothing_when_all_is_well(world):
    p = world.run("export", "-dir", world.sample(), "-q")
    equal((p.returncode, p.stdout, p.stderr), (0, "", ""))


# ---- exports
def test_the_sample_is_exported_completely_and_without_a_warning(world):
    prof = world.sample()
    p = world.run("export", "-dir", prof)
    equal(p.returncode, 0, p.stderr)
    assert "warning" not in p.stderr.lower(), p.stderr[:300]
    rows = [r for r in op_summary(prof) if r["Task Type"] not in ("COMMUNICATION", "HCCL")]
    equal(len(rows), SAMPLE_OPTIONS["kernels"], "kernels in op_summary")
    equal({r["Device_id"] for r in rows}, {"0", "1"}, "devices")
    equal([r for r in rows if "Task Duration(us)" in r and float(r["Task Duration(us)"]) <= 0], [], "durations")


def test_the_generator_makes_the_same_sample_again(world):
    prof = os.path.join(world.folder, "again")
    gen_prof.generate(prof, **SAMPLE_OPTIONS)
    for folder, _, names in os.walk(SAMPLE):
        for name in names:
            path = os.path.join(folder, name)
            assert filecmp.cmp(path, os.path.join(prof, os.path.relpath(path, SAMPLE)), shallow=False), path


def test_many_kernels_with_wrapping_task_ids_are_all_there(world):
    prof = os.path.join(world.folder, "PROF_many")
    counts = gen_prof.generate(prof, kernels=6000, threads=3, devices=2, first_task=65000, slice_mb=0.1)
    assert counts["flips"] >= 4
    p = world.run("export", "-dir", prof)
    equal((p.returncode, "warning" in p.stderr.lower()), (0, False), p.stderr[:300])
    rows = op_summary(prof)
    kernels = [r for r in rows if r["Task Type"] not in ("COMMUNICATION", "HCCL")]
    equal(len(kernels), 6000, "kernels in op_summary")
    without = [r for r in kernels if r["Task Type"] == "AI_VECTOR_CORE" and r["aiv_time(us)"] in ("", "N/A", "0", "0.0")]
    equal(len(without), 0, "vector kernels without counters")


def test_a_folder_of_prof_directories_exports_each(world):
    profs = [world.sample("PROF_a"), world.sample("PROF_b")]
    equal(world.run("export", "-dir", world.folder).returncode, 0)
    for prof in profs:
        assert "msprof.db" in facts.files(prof), prof


def test_one_bad_prof_does_not_stop_the_others(world):
    good, bad = world.sample("PROF_a"), world.sample("PROF_b")
    for name in ("host/info.json", "device_0/info.json.0", "device_1/info.json.1"):
        with open(os.path.join(bad, name), "w") as file:
            file.write("{")
    equal(world.run("export", "-dir", world.folder).returncode, 1)
    assert "msprof.db" in facts.files(good)


def test_a_second_export_takes_the_place_of_the_database(world):
    prof = world.sample()
    world.run("export", "db", "-dir", prof)
    time.sleep(1.1)
    world.run("export", "db", "-dir", prof)
    equal(len(glob.glob(os.path.join(prof, "msprof_*.db"))), 1, "databases")


def test_left_overs_of_other_tools_do_not_matter(world):
    plain, used = world.sample("PROF_a"), world.sample("PROF_b")
    for folder in ("host", "device_0", "device_1"):
        os.mkdir(os.path.join(used, folder, "sqlite"))
        open(os.path.join(used, folder, "sqlite", "ascend_task.db"), "w").close()
        open(os.path.join(used, folder, "data", "all_file.complete"), "w").close()
    os.mkdir(os.path.join(used, "mindstudio_profiler_log"))
    for prof in (plain, used):
        equal(world.run("export", "-dir", prof).returncode, 0)
    for name, path in facts.files(plain).items():
        assert filecmp.cmp(path, facts.files(used)[name], shallow=False), name


def test_missing_done_marks_do_not_matter(world):
    plain, bare = world.sample("PROF_a"), world.sample("PROF_b")
    for folder, _, names in os.walk(bare):
        for name in names:
            if name.endswith(".done"):
                os.remove(os.path.join(folder, name))
    for prof in (plain, bare):
        equal(world.run("export", "-dir", prof).returncode, 0)
    for name, path in facts.files(plain).items():
        assert filecmp.cmp(path, facts.files(bare)[name], shallow=False), name


# ---- builds
def test_the_static_build_needs_no_shared_library(world):
    with open(world.static, "rb") as file:
        head = file.read(1 << 16)
    at, size, count = struct.unpack_from("<Q14xHH", head, 32)
    kinds = [struct.unpack_from("<I", head, at + i * size)[0] for i in range(count)]
    assert PT_LOAD in kinds and PT_INTERP not in kinds and PT_DYNAMIC not in kinds, kinds
    a, b = world.sample("PROF_a"), world.sample("PROF_b")
    equal(world.run("export", "-dir", a).returncode, 0)
    equal(world.run("export", "-dir", b, program=world.static).returncode, 0)
    for name, path in facts.files(a).items():
        assert filecmp.cmp(path, facts.files(b)[name], shallow=False), name


def test_the_public_header_is_standard_c(world):
    source = os.path.join(world.folder, "user.c")
    with open(source, "w") as file:
        file.write("#include <npuprof.h>\nint main(void)\n{\n    return npuprof_version() == 0;\n}\n")
    p = world.run("-std=c11", "-pedantic-errors", "-Wall", "-Werror", "-fsyntax-only", "-I", os.path.join(ROOT, "include"),
                  source, program="gcc")
    equal((p.returncode, p.stderr), (0, ""))


# ---- damage
def each_file(world, damage, wanted=lambda name: True):
    """Damage one file of a fresh sample at a time; returns [(name, the run, the PROF directory)]."""
    names = sorted(os.path.relpath(os.path.join(d, n), SAMPLE) for d, _, ns in os.walk(SAMPLE) for n in ns)
    names = [n for n in names if not n.endswith(".done") and wanted(n)]

    def one(name):
        prof = world.sample("PROF_" + name.replace("/", "-"))
        damage(os.path.join(prof, name))
        return name, world.damaged(prof), prof

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(one, names))


def is_binary(name):
    return ".slice_" in name and "_dic." not in name


def cut(count):
    def damage(path):
        os.truncate(path, max(0, os.path.getsize(path) - count))
    return damage


def test_each_file_missing_in_turn(world):
    each_file(world, os.remove)


def test_each_file_empty_in_turn(world):
    each_file(world, lambda path: os.truncate(path, 0))


def test_each_file_cut_in_the_middle_in_turn(world):
    each_file(world, lambda path: os.truncate(path, os.path.getsize(path) // 2 + 1))


def test_a_torn_record_is_said_and_costs_nothing_else(world):
    for name, p, prof in each_file(world, cut(3), is_binary):
        assert os.path.basename(name) in p.stderr, "%s is not named: %s" % (name, p.stderr[:200])
        rows = [r for r in op_summary(prof) if r["Task Type"] not in ("COMMUNICATION", "HCCL")]
        assert len(rows) >= SAMPLE_OPTIONS["kernels"] - 1, "%s: %d kernels are left" % (name, len(rows))


def test_a_folder_where_a_file_should_be(world):
    def damage(path):
        os.remove(path)
        os.mkdir(path)
    each_file(world, damage)


def test_a_pipe_where_a_file_should_be_does_not_hang(world):
    def damage(path):
        os.remove(path)
        os.mkfifo(path)
    each_file(world, damage, lambda name: "device_1" not in name)


def test_unknown_files_do_not_matter(world):
    prof = world.sample()
    for name in ("host/data/aging.compact.from_the_future.slice_0", "device_0/data/new.data.0.slice_0", "device_0/notes.txt"):
        with open(os.path.join(prof, name), "wb") as file:
            file.write(b"\xff" * 1000)
    equal(world.run("export", "-dir", prof).returncode, 0)


def test_one_broken_device_does_not_hide_the_other(world):
    prof = world.sample()
    with open(os.path.join(prof, "device_0", "info.json.0"), "w") as file:
        file.write("not json")
    world.damaged(prof)
    rows = [r for r in op_summary(prof) if r["Task Type"] not in ("COMMUNICATION", "HCCL") and r["Device_id"] == "1"]
    equal(len(rows), SAMPLE_OPTIONS["kernels"] // 2, "kernels of device 1")


def test_without_host_or_without_devices(world):
    for gone in (["host"], ["device_0", "device_1"]):
        prof = world.sample("PROF_without_" + gone[0])
        for name in gone:
            shutil.rmtree(os.path.join(prof, name))
        world.damaged(prof)


# ---- failures while writing
def test_an_output_folder_that_cannot_be_made_is_status_1(world):
    prof = world.sample()
    open(os.path.join(prof, "mindstudio_profiler_output"), "w").close()
    p = world.run("export", "-dir", prof)
    equal((p.returncode, "mindstudio_profiler_output" in p.stderr), (1, True), p.stderr[:200])


def test_a_full_disk_leaves_no_half_files(world):
    prof = world.sample()
    p = world.run("export", "-dir", prof, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)))
    equal((p.returncode, bool(p.stderr)), (1, True))
    equal(leftovers(prof), [], "left over")
    assert "msprof.json" not in facts.files(prof)


def test_an_interrupted_run_leaves_no_half_files(world):
    whole = os.path.join(world.folder, "PROF_big")
    gen_prof.generate(whole, kernels=8000)
    for number, delay in ((signal.SIGINT, 0.03), (signal.SIGTERM, 0.1), (signal.SIGTERM, 0.2), (signal.SIGTERM, 0.3)):
        process = subprocess.Popen([world.release, "export", "-dir", whole, "-q"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(delay)
        process.send_signal(number)
        status = process.wait(60)
        assert status in (0, 128 + number, -number), "exit status %d" % status
        equal(leftovers(whole), [], "left over")
        for name, path in facts.files(whole).items():
            if name.endswith(".json"):
                facts.strict_json(path)


def main():
    release, asan, static = (os.path.abspath(p) for p in sys.argv[1:4])
    tests = [f for name, f in globals().items() if name.startswith("test_") and (not sys.argv[4:] or name in sys.argv[4:])]
    failed = 0
    for test in tests:
        with tempfile.TemporaryDirectory(prefix="npuprof-test-") as folder:
            try:
                test(World(folder, release, asan, static))
                print("ok   program %s" % test.__name__[5:], flush=True)
            except Exception as error:  # whatever it raises, it is this test that failed
                failed += 1
                print("FAIL program %s   %s: %s" % (test.__name__[5:], type(error).__name__, error), flush=True)
    return 1 if failed or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
