"""Damaged input: what can still be exported is, and each damage is one clear line that names the file and what is wrong.

Every test runs through Bench.export, which also checks that the raw data stays as it was and no unfinished file is left.
"""
import csv
import json
import os
import random
import shutil
import sqlite3
import struct
import subprocess

from run import demand

API, TRACK, NODE, TENSOR = ("host/data/aging.api_event.data", "host/data/aging.compact.task_track",
                            "host/data/aging.compact.node_basic_info", "host/data/aging.additional.tensor_info")
STARS, PMU, STEPS, FREQ = ("device_0/data/stars_soc.data.0", "device_0/data/ffts_profile.data.0", "device_0/data/ts_track.data.0",
                           "device_0/data/lpmFreqConv.data.0")
DICTIONARY = "host/data/unaging.additional.hash_dic.slice_0"


def rewrite(path, change):
    """give a file the bytes that change(bytes) returns"""
    with open(path, "rb") as file:
        data = file.read()
    with open(path, "wb") as file:
        file.write(change(data))


def patch(path, offset, data):
    rewrite(path, lambda old: old[:offset] + data + old[offset + len(data):])


def last_slice(prof, stem):
    number = 0
    while os.path.exists("%s/%s.slice_%d" % (prof, stem, number + 1)):
        number += 1
    return "%s/%s.slice_%d" % (prof, stem, number)


def table(b, prof, name):
    with open(b.output(prof, name), encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def sound(b, prof):
    """what was written can be read"""
    with open(b.output(prof, "msprof.json"), encoding="utf-8") as file:
        demand(isinstance(json.load(file), list), "the timeline is no list")
    with sqlite3.connect("file:%s?mode=ro" % b.output(prof, "msprof.db"), uri=True) as db:
        demand(db.execute("PRAGMA integrity_check").fetchall() == [("ok",)], "the database is damaged")
        tasks = db.execute("SELECT COUNT(*) FROM TASK").fetchone()[0] if \
            db.execute("SELECT 1 FROM sqlite_master WHERE name = 'TASK'").fetchone() else 0
    return tasks


def test_a_sound_directory_says_nothing(b):
    prof = b.prof(devices=2)
    result = b.export(prof).ends(0)
    demand(not result.err, result.err)
    demand(len(table(b, prof, "op_summary.csv")) >= 400, "operators are missing")
    demand(sound(b, prof) >= 400, "tasks are missing")


def test_a_record_cut_at_the_end_of_the_last_slice(b):
    for stem in (API, TRACK, NODE, TENSOR, STARS, PMU, STEPS, FREQ):
        prof = b.prof("PROF_A")
        path = last_slice(prof, stem)
        rewrite(path, lambda data: data[:-11])
        result = b.export(prof).ends(0)
        result.says(r"warning: PROF_A/%s, byte \d+: " % os.path.relpath(path, prof))
        b.has_all(prof)
        sound(b, prof)
        shutil.rmtree(prof)


def test_a_slice_missing_in_the_middle(b):
    for stem in (API, TENSOR):
        prof = b.prof("PROF_A")
        os.remove("%s/%s.slice_1" % (prof, stem))
        b.export(prof).ends(0).says(r"warning: PROF_A/%s\.slice_2: slice 1 before it is missing" % stem)
        b.has_all(prof)
        sound(b, prof)
        shutil.rmtree(prof)


def test_a_hash_that_no_dictionary_knows(b):
    prof = b.prof()
    rewrite(os.path.join(prof, DICTIONARY), lambda data: b"\n".join(data.split(b"\n")[8:]))
    result = b.export(prof).ends(0)
    result.says(r"warning: PROF_A/host/data/.*(hash|dictionar)")
    b.has_all(prof)
    demand(len(table(b, prof, "op_summary.csv")) >= 400, "operators with unknown names are missing")


def test_no_dictionaries_at_all(b):
    prof = b.prof()
    for name in os.listdir(prof + "/host/data"):
        if "_dic." in name:
            os.remove(os.path.join(prof, "host/data", name))
    b.export(prof).ends(0).says("warning: PROF_A/host")
    b.has_all(prof, "msprof.db", "msprof.json")
    sound(b, prof)


def test_a_dictionary_of_garbage(b):
    prof = b.prof()
    rewrite(os.path.join(prof, DICTIONARY), lambda data: b"\x00\xff:::\n:\n12345678901234567890123:x\n" + b"no colon " * 9999 + b"\n" + data)
    b.export(prof).ends(0).says(r"warning: PROF_A/%s, byte \d+: " % DICTIONARY)
    b.has_all(prof)
    sound(b, prof)


def test_a_tensor_count_that_lies(b):
    prof = b.prof()
    for count in (6, 255, 0x7FFFFFFF, 0xFFFFFFFF):
        patch("%s/%s.slice_0" % (prof, TENSOR), 256 * (count & 7) + 32, struct.pack("<I", count))
    b.export(prof).ends(0).says(r"warning: PROF_A/%s\.slice_0, byte \d+: " % TENSOR)
    b.has_all(prof)
    sound(b, prof)


def test_a_data_length_that_lies(b):
    prof = b.prof()
    for index, length in enumerate((0, 1, 0xFFFF, 0xFFFFFFFF)):
        for stem, size in ((TRACK, 64), (NODE, 64), (TENSOR, 256)):
            patch("%s/%s.slice_0" % (prof, stem), size * index + 12, struct.pack("<I", length))
    b.export(prof).ends(0)
    b.has_all(prof)
    sound(b, prof)


def test_a_variable_record_whose_length_lies(b):
    for length in (0xFFFFFFFF, 0x7FFFFFFF, 3, 0):
        prof = b.prof("PROF_A")
        with open(prof + "/host/data/unaging.variable.capture_op_info.slice_0", "wb") as file:
            file.write(struct.pack("<HHIIIQ", 0x5A5A, 10000, 0, 1, length, 1) + b"\x01" * 40)
        b.export(prof).ends(0).says(r"warning: PROF_A/host/data/unaging\.variable\.capture_op_info\.slice_0")
        b.has_all(prof)
        shutil.rmtree(prof)


def test_a_broken_record_in_the_middle(b):
    for stem, size in ((API, 40), (TRACK, 64), (TENSOR, 256), (STARS, 64)):
        prof = b.prof("PROF_A")
        patch("%s/%s.slice_0" % (prof, stem), size * 9, b"\xEE" * size)
        b.export(prof).ends(0).says(r"warning: PROF_A/%s\.slice_0, byte %d: " % (stem, size * 9))
        b.has_all(prof)
        demand(sound(b, prof) >= 390, "a broken record of %s took others with it" % stem)
        shutil.rmtree(prof)


def test_an_unreadable_file(b):
    if os.getuid() == 0:
        user = {"user": 65534, "group": 65534, "extra_groups": []}
    else:
        user = {}
    prof = b.prof()
    subprocess.run(["chmod", "-R", "a+rX", prof], check=True)
    shutil.copy2(b.binary, b.path("npuprof"))
    os.chmod(b.path("npuprof"), 0o755)
    b.binary = b.path("npuprof")
    os.chmod(prof, 0o777)
    path = "%s/%s.slice_1" % (prof, PMU)
    os.chmod(path, 0)
    try:
        result = b.run("export", "-dir", prof, **user)
    finally:
        os.chmod(path, 0o644)
    result.ends(0).says(r"warning: PROF_A/%s\.slice_1: not read: .*Permission denied" % PMU)
    sound(b, prof)


def test_something_that_is_no_file_under_the_name_of_one(b):
    prof = b.prof()
    for stem, make in ((STARS, os.mkdir), (TENSOR, os.mkfifo)):
        path = "%s/%s.slice_1" % (prof, stem)
        os.remove(path)
        make(path)
    result = b.export(prof).ends(0)
    for stem in (STARS, TENSOR):
        result.says(r"warning: PROF_A/%s\.slice_1: not read: not a regular file" % stem)
    b.has_all(prof)
    sound(b, prof)


def test_a_link_out_of_the_directory_is_not_followed(b):
    prof = b.prof()
    path = "%s/%s.slice_1" % (prof, PMU)
    os.rename(path, b.path("elsewhere"))
    os.symlink(b.path("elsewhere"), path)
    b.export(prof).ends(0).says(r"warning: PROF_A/%s\.slice_1: not read: " % PMU)
    b.has_all(prof)


def test_a_device_directory_without_info_json(b):
    prof = b.prof(devices=2)
    os.remove(prof + "/device_1/info.json.1")
    result = b.export(prof)
    result.says(r"(warning|error): PROF_A/device_1.*info\.json")
    b.has_all(prof)
    demand("0" in {row["Device_id"] for row in table(b, prof, "op_summary.csv")}, "device 0 is missing")
    demand(sound(b, prof) >= 200, "device 0 is missing in the database")


def test_a_host_directory_without_info_json(b):
    prof = b.prof()
    os.remove(prof + "/host/info.json")
    b.export(prof).says(r"(warning|error): PROF_A/host.*info\.json")
    demand(sound(b, prof) >= 400, "the device is missing")


def test_metadata_that_is_no_json(b):
    for name in ("host/info.json", "host/sample.json", "host/start_info", "device_0/info.json.0", "device_0/sample.json",
                 "device_0/start_info.0"):
        for text in (b"", b"{", b"[1, 2]", b'{"platform_version": {"a": []}, "DeviceInfo": 7, "CPU": "x"}', b"\xff" * 100,
                     b"[" * 100000):
            prof = b.prof("PROF_A", kernels=60)
            rewrite(os.path.join(prof, name), lambda data, text=text: text)
            result = b.export(prof)
            demand(result.status in (0, 1), "exit status %d" % result.status)
            demand(result.err or text.startswith(b'{"'), "nothing was said about %s being %r" % (name, text[:60]))
            shutil.rmtree(prof)


def test_no_clock_files(b):
    for name in ("host/host_start.log", "device_0/host_start.log.0", "device_0/dev_start.log.0"):
        prof = b.prof("PROF_A")
        os.remove(os.path.join(prof, name))
        result = b.export(prof)
        demand(result.status in (0, 1), "exit status %d" % result.status)
        result.says(r"PROF_A/%s" % name.split("/")[0])
        b.has_all(prof, "msprof.db")
        shutil.rmtree(prof)


def test_an_interrupted_collection_without_end(b):
    prof = b.prof()
    for parent, _, names in os.walk(prof):
        for name in names:
            if name.startswith("end_info") or name.endswith(".done"):
                os.remove(os.path.join(parent, name))
    b.export(prof).ends(0)
    b.has_all(prof)


def test_host_or_device_alone(b):
    for gone, left in (("host", "task_time.csv"), ("device_0", "api_statistic.csv")):
        prof = b.prof("PROF_A")
        shutil.rmtree(os.path.join(prof, gone))
        b.export(prof).ends(0)
        b.has_all(prof, "msprof.db", "msprof.json", left)
        sound(b, prof)
        shutil.rmtree(prof)


def test_metadata_without_any_data(b):
    prof = b.prof()
    for side in ("host", "device_0"):
        shutil.rmtree(os.path.join(prof, side, "data"))
        os.mkdir(os.path.join(prof, side, "data"))
    b.export(prof).ends(0)
    b.has_all(prof, "msprof.db", "msprof.json")
    sound(b, prof)


def test_a_broken_prof_directory_beside_a_sound_one(b):
    b.prof("job/PROF_1")
    b.prof("job/PROF_2")
    shutil.rmtree(b.path("job/PROF_1/host"))
    rewrite(b.path("job/PROF_1/device_0/info.json.0"), lambda data: b"broken")
    result = b.run("export", "-dir", "job").ends(1)
    result.says(r"error: PROF_1").never_says("PROF_2")
    b.has_all(b.path("job/PROF_2"))


def test_files_of_random_bytes(b):
    noise = random.Random(7)
    prof = b.prof(devices=1)
    for side in ("host", "device_0"):
        for name in os.listdir(os.path.join(prof, side, "data")):
            rewrite(os.path.join(prof, side, "data", name), lambda data: noise.randbytes(len(data)))
    b.export(prof).ends(0).says("warning: PROF_A/host/data/", "warning: PROF_A/device_0/data/")
    b.has_all(prof, "msprof.db", "msprof.json")
    sound(b, prof)


def test_messages_stay_few_and_harmless_to_a_terminal(b):
    noise = random.Random(11)
    prof = b.prof()
    for stem in (API, TRACK, NODE, TENSOR, STARS, PMU):
        rewrite("%s/%s.slice_0" % (prof, stem), lambda data: bytes(x if noise.random() > 0.02 else 27 for x in data))
    rewrite(os.path.join(prof, DICTIONARY), lambda data: data.replace(b"aclnn", b"\x1b[31m"))
    result = b.export(prof).ends(0)
    demand("\x1b" not in result.err + result.out, "an escape sequence reached the terminal")
    demand(result.err.count("\n") < 80, "%d lines" % result.err.count("\n"))


def test_an_unknown_chip_is_named(b):
    prof = b.prof()
    for path in ("host/info.json", "device_0/info.json.0"):
        rewrite(os.path.join(prof, path), lambda data: data.replace(b'"platform_version":"5"', b'"platform_version":"99"')
                .replace(b'"platform_version": "5"', b'"platform_version": "99"'))
    result = b.export(prof).says(r"(warning|error): PROF_A.*platform_version 99")
    demand(result.status in (0, 1), "exit status %d" % result.status)


def test_slice_numbers_that_do_not_fit(b):
    prof = b.prof()
    for number in ("4294967295", "4294967296", "99999999999999999999", "-1", "1x", ""):
        shutil.copy("%s/%s.slice_1" % (prof, STARS), "%s/%s.slice_%s" % (prof, STARS, number))
    b.export(prof).ends(0)
    b.has_all(prof)


def test_very_many_warnings_are_counted(b):
    prof = b.prof()
    record = b"\xEE" * 128
    for number in range(2, 90):
        with open("%s/%s.slice_%d" % (prof, PMU, number), "wb") as file:
            file.write(record)
    result = b.export(prof).ends(0).says(r"^npuprof: warning: \d+ more warnings, -v shows them$")
    demand(result.err.count("\n") <= 51, "%d lines" % result.err.count("\n"))
    demand(b.export(prof, "-v").ends(0).err.count("damaged record") >= 88, "-v does not show them all")
