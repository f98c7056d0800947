#!/usr/bin/env python3
"""Make a golden case of a PROF directory and an export of it that is known to be right.

    tests/golden/add_case.py NAME PROF EXPORT "what the case shows" [KIND]

PROF holds the raw data (outputs and .done marks in it are left out), EXPORT the outputs: mindstudio_profiler_output/ and
msprof_*.db, and analyze/ if it was analyzed, as a PROF directory has them; KIND is what was exported when it was not all
three: a kind, options ("--model-id 1 --iteration-id 2"). An existing case of that name is replaced. Keep cases small: they are in git.
"""
import io
import json
import os
import shutil
import sys
import tarfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import facts  # noqa: E402
from run import CASES  # noqa: E402

SKIP = ("mindstudio_profiler_output", "mindstudio_profiler_log", "sqlite", "analyze")


def pack(prof, path):
    """The raw data, with nothing in the archive that depends on who packs it."""
    with tarfile.open(path, "w:xz", preset=9) as archive:
        for folder, folders, names in os.walk(prof):
            folders[:] = sorted(f for f in folders if f not in SKIP)
            for name in sorted(names):
                if name.endswith((".done", ".complete", ".db")):
                    continue
                source = os.path.join(folder, name)
                with open(source, "rb") as file:
                    data = file.read()
                info = tarfile.TarInfo(os.path.relpath(source, os.path.dirname(prof)))
                info.size, info.mode = len(data), 0o640
                archive.addfile(info, io.BytesIO(data))


def keep(path, folder, name):
    """An output as it is, a database as SQL."""
    os.makedirs(folder, exist_ok=True)
    if not name.endswith(".db"):
        shutil.copyfile(path, os.path.join(folder, name))
        return
    connection = facts.open_database(path)
    with open(os.path.join(folder, name[:-3] + ".sql"), "w", encoding="utf-8", errors="surrogateescape") as file:
        file.writelines(line + "\n" for line in connection.iterdump())


def main():
    if len(sys.argv) not in (5, 6):
        sys.exit(__doc__)
    name, prof, export, about, *kind = sys.argv[1:]
    folder = os.path.join(CASES, name)
    expected = os.path.join(folder, "expected")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(expected)
    pack(os.path.abspath(prof), os.path.join(folder, "prof.tar.xz"))
    with open(os.path.join(folder, "case.json"), "w", encoding="utf-8") as file:
        json.dump({"about": about, **({"export": kind[0]} if kind else {})}, file, indent=1)
        file.write("\n")
    for output, path in facts.files(export).items():
        keep(path, expected, output)
    analysis = os.path.join(export, "analyze")
    for output in sorted(os.listdir(analysis)) if os.path.isdir(analysis) else []:
        keep(os.path.join(analysis, output), os.path.join(folder, "analyze"), output)


if __name__ == "__main__":
    main()
