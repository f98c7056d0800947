#!/usr/bin/env python3
"""How fast is the export, how much memory does it take, and how does that grow?

    bench/run.py [--bin build/npuprof] [--kernels 10000,100000,1000000] [--jobs N] [--reference PATH/msprof.py] [--work DIR]
                 [--allreduce-every K]

Makes PROF directories with bench/gen_prof.py (kept in DIR, default ~/.cache/npuprof-bench, for the next time), and exports
each, in one pass, --repeat times. The fastest counts: the first one pays for memory that the machine has not used yet,
which on virtual machines doubles the system time. Per export: user and system CPU seconds and the highest resident memory
(both of the kernel, by wait4), wall seconds, bytes written. `cp` is a plain copy of the input, `write` a dd of as many zeros
as npuprof wrote: what the disk and the page cache take at least, which differs from minute to minute on virtual machines.

With --reference, msprof.py exports copies of the same directory in the same run, as often: `export timeline`, `export
summary` and `export db`, of which the first reads the raw data and the others what it left; the row `reference` is the sum.
Its CPU includes the processes it starts, its memory is that of the largest of them. Its byte code is compiled before, as
where it has run once, whatever PYTHONDONTWRITEBYTECODE says here. It wants --steps 0: the generator's steps are those of a
graph whose operators nobody reported, on which it ends.

--allreduce-every 30 is a job that communicates a lot: 200,000 small tasks beside 1,000,000 kernels, where putting
operators together and computing the overlap count.

Prints a table as Markdown, and how CPU and memory grow from size to size (1.00 = linearly). Asserts nothing.
"""
import argparse
import os
import shutil
import subprocess
import sys
import time

ALLREDUCE_EVERY = 100  # what the generator does when it is not told
STEPS = 4
GENERATOR = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gen_prof.py")
KINDS = ("timeline", "summary", "db")
OUTPUTS = ("mindstudio_profiler_output", "mindstudio_profiler_log")


def measure(command, env=None):
    """(user seconds, system seconds, wall seconds, peak bytes) of a command and of the children it waited for"""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env)
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit("%s failed with status %d: %s" % (" ".join(command), process.returncode, said.decode(errors="replace")[-500:]))
    return usage.ru_utime, usage.ru_stime, time.perf_counter() - began, usage.ru_maxrss * 1024


def size_of(path):
    return sum(os.path.getsize(os.path.join(d, n)) for d, _, names in os.walk(path) for n in names)


def clean(prof):
    """Remove what an export left."""
    for folder in [prof] + [os.path.join(prof, d) for d in os.listdir(prof)]:
        for name in OUTPUTS + ("sqlite",):
            shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
    for name in os.listdir(prof):
        if name.endswith(".db"):
            os.remove(os.path.join(prof, name))


def warm(reference, work):
    """The environment in which the reference finds its byte code: below WORK, its installation stays as it is."""
    cache = os.path.join(os.path.abspath(work), "reference_pyc")
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": cache}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    subprocess.run([sys.executable, "-m", "compileall", "-q", os.path.dirname(os.path.dirname(os.path.abspath(reference)))],
                   env=environment, check=True)
    return environment


def bench(a, kernels):
    """[(what, user, system, wall, peak, input bytes, output bytes)]"""
    communication = "" if a.allreduce_every == ALLREDUCE_EVERY else "_allreduce%d" % a.allreduce_every
    steps = "" if a.steps == STEPS else "_steps%d" % a.steps
    prof = os.path.join(a.work, "PROF_%06d_seed%d%s%s" % (kernels, a.seed, communication, steps))
    if not os.path.exists(prof):
        shutil.rmtree(prof + ".new", ignore_errors=True)
        # In a process of its own: the peak memory that the system reports for a program includes what this one had.
        subprocess.run([sys.executable, GENERATOR, prof + ".new", "--kernels", str(kernels), "--threads", str(a.threads),
                        "--seed", str(a.seed), "--allreduce-every", str(a.allreduce_every), "--steps", str(a.steps)], check=True, stdout=subprocess.DEVNULL)
        os.rename(prof + ".new", prof)
    clean(prof)
    size = size_of(prof)
    rows = []
    copy = os.path.join(a.work, "PROF_copy")
    shutil.rmtree(copy, ignore_errors=True)
    rows.append(("cp", *measure(["cp", "-r", prof, copy]), size, size))
    command = [os.path.abspath(a.bin), "export", "-dir", prof, "-q"] + (["--jobs", str(a.jobs)] if a.jobs else [])
    runs = []
    for _ in range(a.repeat):
        clean(prof)
        runs.append(measure(command))
        written = size_of(prof) - size
    clean(prof)
    zeros = os.path.join(a.work, "zeros")
    rows.append(("write", *measure(["dd", "if=/dev/zero", "of=" + zeros, "bs=1M", "iflag=count_bytes", "count=%d" % written]), 0, written))
    os.remove(zeros)
    rows.append(("npuprof", *min(runs, key=lambda r: r[2]), size, written))
    if a.reference:
        runs = []
        for _ in range(a.repeat):
            shutil.rmtree(copy)
            shutil.copytree(prof, copy)
            runs.append([measure([sys.executable, a.reference, "export", kind, "-dir", copy], a.environment) for kind in KINDS])
        written = sum(size_of(os.path.join(copy, n)) for n in OUTPUTS) + sum(
            os.path.getsize(os.path.join(copy, n)) for n in os.listdir(copy) if n.endswith(".db"))
        fastest = min(runs, key=lambda r: sum(k[2] for k in r))
        for kind, measured in zip(KINDS, fastest):
            rows.append(("reference " + kind, *measured, 0, 0))
        rows.append(("reference", *(sum(k[i] for k in fastest) for i in range(3)), max(k[3] for k in fastest), size, written))
    shutil.rmtree(copy, ignore_errors=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/npuprof")
    parser.add_argument("--kernels", default="10000,100000,1000000")
    parser.add_argument("--threads", type=int, default=4, help="host threads of the profiled job")
    parser.add_argument("--jobs", type=int, default=0, help="threads of npuprof (default: its own)")
    parser.add_argument("--repeat", type=int, default=3, help="exports of each directory; the fastest counts")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--allreduce-every", type=int, default=ALLREDUCE_EVERY,
                        help="kernels from one all-reduce (6 small tasks) to the next")
    parser.add_argument("--steps", type=int, default=STEPS,
                        help="training steps (0 = none, as a reference wants it)")
    parser.add_argument("--reference", help="analysis/msprof/msprof.py of a CANN toolkit, to compare with")
    parser.add_argument("--work", default=os.path.expanduser("~/.cache/npuprof-bench"))
    a = parser.parse_args()
    os.makedirs(a.work, exist_ok=True)
    if a.reference:
        a.environment = warm(a.reference, a.work)
    print("| kernels | program | user s | system s | wall s | peak MB | bytes of memory per kernel | input MB | output MB |")
    print("| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    growth = {}
    for kernels in (int(n) for n in a.kernels.split(",")):
        for what, user, system, wall, peak, read, written in bench(a, kernels):
            print("| %d | %s | %.2f | %.2f | %.2f | %.0f | %.0f | %.0f | %.0f |"
                  % (kernels, what, user, system, wall, peak / 1e6, peak / kernels, read / 1e6, written / 1e6), flush=True)
            if what in ("npuprof", "reference"):
                growth.setdefault(what, []).append((kernels, user + system, peak))
    print()
    for what, sizes in growth.items():
        for (n0, cpu0, peak0), (n1, cpu1, peak1) in zip(sizes, sizes[1:]):
            print("%s, %d to %d kernels: CPU grows %.2f times as much, memory %.2f times"
                  % (what, n0, n1, cpu1 / cpu0 * n0 / n1, peak1 / peak0 * n0 / n1))


if __name__ == "__main__":
    main()
