#!/usr/bin/env python3
"""Damage copies of the sample in every way that disks, killed collectors and attackers do, export and analyze them.

    tests/fuzz/mutate.py [--bin build/asan/npuprof] [--runs N] [--first SEED] [--keep DIR]

Run i damages with seed FIRST + i: always the same way. One of the kinds below first, then up to three more anywhere. The
program (best a sanitized build) must end by itself within 30 s with status 0 or 1, without a sanitizer's report. Prints
"ok   fuzz KIND" or "FAIL fuzz KIND   why" per kind of damage; a failing PROF directory is kept in DIR
(default build/fuzz-failures), named after its seed.
"""
import argparse
import concurrent.futures
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SAMPLE = os.path.join(ROOT, "examples", "sample")
EXTREME = [0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000, 0xFFFFFFFFFFFFFFFF]
SIZES = {"api_event": 40, "compact": 64, "additional": 256, "stars_soc": 64, "ffts_profile": 128, "ts_track": 40,
         "lpmFreqConv": 888}


def record_size(path):
    return next((size for name, size in SIZES.items() if name in os.path.basename(path)), 64)


def is_text(path):
    return not ("/data/" in path and ".slice_" in path) or "_dic." in path


def flip_bits(rng, data, path):
    for _ in range(rng.choice([1, 8, 64])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def truncate(rng, data, path):
    del data[rng.randrange(len(data)):]


def extreme_words(rng, data, path):
    for _ in range(rng.choice([1, 10, 100])):
        width = rng.choice([2, 4, 8])
        if len(data) >= width:
            at = rng.randrange(0, len(data) - width + 1, width)
            data[at: at + width] = struct.pack("<Q", rng.choice(EXTREME))[:width]


def one_field_everywhere(rng, data, path):
    """the same field of every record gets an extreme value: counts that lie, times that run backwards"""
    size, width = record_size(path), rng.choice([2, 4, 8])
    at, value = rng.randrange(0, size - width + 1, width), struct.pack("<Q", rng.choice(EXTREME))[:width]
    for record in range(0, len(data) - size + 1, size):
        if rng.random() < 0.8:
            data[record + at: record + at + width] = value


def garbage(rng, data, path):
    data[:] = rng.randbytes(rng.choice([1, 39, 64, 1000, 100_000]))


def insert_bytes(rng, data, path):
    at = rng.randrange(len(data))
    data[at:at] = rng.randbytes(rng.randrange(1, 100))


def zero_range(rng, data, path):
    at = rng.randrange(len(data))
    end = min(len(data), at + rng.randrange(1, 5000))
    data[at:end] = bytes(end - at)


def shuffle_records(rng, data, path):
    size = record_size(path)
    records = [bytes(data[i: i + size]) for i in range(0, len(data), size)]
    rng.shuffle(records)
    data[:] = b"".join(records + records[: len(records) // 2])


def long_line(rng, data, path):
    data += b"%d:" % rng.getrandbits(64) + b"x" * 300_000


def nested(rng, data, path):
    data[:] = rng.choice([b"[" * 100_000, b'{"DeviceInfo":' * 5000, b'{"a":"\\ud800"}', b"\xff\xfe", b'{"a":1e999}'])


def numbers(rng, data, path):
    """every number in a text becomes a strange one"""
    value = rng.choice([b"-1", b"0", b"99999999999999999999999", b"1e400", b"", b"NaN", b"0x10", b"65536"])
    out, digits = bytearray(), False
    for c in data:
        is_digit = 48 <= c <= 57
        if is_digit and not digits:
            out += value
        if not is_digit:
            out.append(c)
        digits = is_digit
    data[:] = out


BYTES = [flip_bits, truncate, extreme_words, one_field_everywhere, garbage, insert_bytes, zero_range, shuffle_records]
TEXT = [flip_bits, truncate, garbage, long_line, nested, numbers]


def damage_file(rng, files, how):
    path = rng.choice([f for f in files if is_text(f) == (how in TEXT and (how not in BYTES or rng.random() < 0.3))])
    with open(path, "rb") as file:
        data = bytearray(file.read())
    if data:
        how(rng, data, path)
    with open(path, "wb") as file:
        file.write(data)


def of_bytes(how):
    def damage(rng, files):
        damage_file(rng, files, how)
    damage.__name__ = how.__name__
    return damage


def remove_file(rng, files):
    os.remove(files.pop(rng.randrange(len(files))))


def swap_files(rng, files):
    a, b = rng.sample(files, 2)
    os.rename(a, a + ".x")
    os.rename(b, a)
    os.rename(a + ".x", b)


def another_slice(rng, files):
    path = rng.choice([f for f in files if ".slice_" in f])
    shutil.copyfile(path, path.rpartition("_")[0] + "_" + rng.choice(["1", "7", "00", "99999999999999999999", "4294967296", "-1"]))


def odd_entry(rng, files):
    """something else than a file where a file should be"""
    path = files.pop(rng.randrange(len(files)))
    os.remove(path)
    rng.choice([os.mkdir, os.mkfifo, lambda p: os.symlink("/dev/zero", p), lambda p: os.symlink(p, p)])(path)


KINDS = [of_bytes(how) for how in dict.fromkeys(BYTES + TEXT)] + [remove_file, swap_files, another_slice, odd_entry]


COMMANDS = [(["export"], (0, 1, 2)), (["analyze", "--rule", "communication,communication_matrix"], (0, 1, 2, 3, 8))]


def run(binary, words, statuses, prof):
    """Returns what is wrong with how the program ended, or None."""
    try:
        p = subprocess.run([binary, *words, "-dir", prof, "--jobs", "2"], stdin=subprocess.DEVNULL, capture_output=True,
                           text=True, errors="replace", timeout=30,
                           env=dict(os.environ, ASAN_OPTIONS="detect_leaks=1:allocator_may_return_null=1"))
    except subprocess.TimeoutExpired:
        return "did not end within 30 s"
    for line in p.stderr.splitlines():
        if "Sanitizer" in line or "runtime error:" in line:
            return line.strip()[:250]
    if p.returncode not in statuses:
        return "exit status %d: %s" % (p.returncode, (p.stderr.strip().splitlines() or [""])[-1][:200])
    return None


def one(seed, binary, scratch, keep):
    """Returns (kind, what is wrong or None)."""
    rng = random.Random(seed)
    prof = os.path.join(scratch, "%d" % seed, "PROF_fuzz")
    shutil.copytree(os.path.join(SAMPLE, next(n for n in os.listdir(SAMPLE) if n.startswith("PROF"))), prof)
    files = sorted(os.path.join(d, n) for d, _, names in os.walk(prof) for n in names if not n.endswith(".done"))
    kind = KINDS[seed % len(KINDS)]
    kind(rng, files)
    for _ in range(rng.randrange(4)):
        damage = rng.choice(KINDS)
        if damage is not odd_entry:
            files = [f for f in files if os.path.isfile(f) and not os.path.islink(f)]
            damage(rng, files)
    problem = next((p for p in (run(binary, *command, prof) for command in COMMANDS) if p), None)
    if problem:
        kept = os.path.join(keep, "seed-%d" % seed)
        shutil.rmtree(kept, ignore_errors=True)
        os.makedirs(keep, exist_ok=True)
        subprocess.run(["cp", "-a", prof, kept], check=False)
        problem = "%s (seed %d, kept in %s)" % (problem, seed, kept)
    shutil.rmtree(os.path.dirname(prof), ignore_errors=True)
    return kind.__name__, problem


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/asan/npuprof")
    parser.add_argument("--runs", type=int, default=10 * len(KINDS))
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--keep", default="build/fuzz-failures")
    a = parser.parse_args()
    binary = os.path.abspath(a.bin)
    problems = {kind.__name__: [] for kind in KINDS}
    ran = dict.fromkeys(problems, 0)
    with tempfile.TemporaryDirectory(prefix="npuprof-fuzz-") as scratch, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for kind, problem in pool.map(lambda s: one(s, binary, scratch, a.keep), range(a.first, a.first + a.runs)):
            ran[kind] += 1
            problems[kind] += [problem] if problem else []
    for kind, found in problems.items():
        if ran[kind]:
            print("FAIL fuzz %s   %d of %d: %s" % (kind, len(found), ran[kind], found[0]) if found else "ok   fuzz %s" % kind)
            for problem in found[1:]:
                print("       " + problem)
    return 1 if any(problems.values()) or not a.runs else 0


if __name__ == "__main__":
    sys.exit(main())
