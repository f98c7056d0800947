#!/usr/bin/env python3
"""Stands where MindSpore looks for get_msprof_info.py: says what a directory of a collection is about, as a line of JSON.

    get_msprof_info.py -dir PROF_XXX/host

Put it at <tools>/profiler/profiler_tool/analysis/interface/get_msprof_info.py. It reads the JSON files that the profiler
left; models and iterations come from `npuprof query`: the program that $NPUPROF names, else the npuprof beside this file,
else that in PATH. Without it there are none.
"""
import argparse
import glob
import json
import logging
import os
import shutil
import subprocess
import sys

DEVICE = {"AI Core Number": "ai_core_num", "AI CPU Number": "ai_cpu_core_num", "Control CPU Number": "ctrl_cpu_core_num",
          "Control CPU Type": "ctrl_cpu_id", "Device Id": "id", "TS CPU Number": "ts_cpu_core_num"}


def read(folder, name):
    """the JSON of info.json, info.json.0 …"""
    paths = [p for p in sorted(glob.glob(os.path.join(glob.escape(folder), name + "*"))) if not p.endswith(".done")]
    with open(paths[0], encoding="utf-8") as file:
        return json.load(file)


def size_of(folder):
    return sum(os.path.getsize(os.path.join(parent, n)) for parent, _, names in os.walk(folder) for n in names)


def iterations(folder):
    beside = os.path.join(os.path.dirname(os.path.realpath(__file__)), "npuprof")
    program = os.environ.get("NPUPROF") or (beside if os.access(beside, os.X_OK) else shutil.which("npuprof"))
    if not program:
        return []
    said = subprocess.run([program, "query", "-dir", folder], stdout=subprocess.PIPE, universal_newlines=True, check=False).stdout
    rows = [[cell.strip() for cell in line.split("\t")] for line in said.splitlines() if line][1:]
    return [{"Device Id": int(r[1]), "Iteration Number": r[5], "Model Id": r[4]} for r in rows if r[1].isdigit()]


def describe(folder):
    info, start, end = (read(folder, name) for name in ("info.json", "start_info", "end_info"))
    devices, cpus = info.get("DeviceInfo") or [], info.get("CPU") or []
    return {
        "collection_info": {"Collection end time": end.get("collectionTimeEnd"),
                            "Collection start time": start.get("collectionTimeBegin"),
                            "Result Size": "%.6f MB" % (size_of(folder) / 1048576)},
        "device_info": {name: devices[0].get(key) for name, key in DEVICE.items()} if devices else {},
        "host_info": {"cpu_info": [{"CPU ID": "CPU%s" % c.get("Id"), "Name": c.get("Name"), "Type": c.get("Type"),
                                    "Frequency": c.get("Frequency"), "Logical_CPU_Count": c.get("Logical_CPU_Count")}
                                   for c in cpus],
                      "cpu_num": sum(c.get("Logical_CPU_Count") or 0 for c in cpus),
                      "Host Computer Name": info.get("hostname"), "Host Operating System": info.get("OS")},
        "model_info": {"iterations": iterations(folder)},
        "version_info": {"analysis_version": "1.0", "collection_version": info.get("version"),
                         "drv_version": info.get("drvVersion")},
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-dir", "--collection-dir", dest="dir", required=True)
    if len(sys.argv) < 2:
        parser.print_usage()
        return
    folder = parser.parse_args().dir
    if not glob.glob(os.path.join(glob.escape(folder), "info.json*")):
        logging.error("%s is no host or device directory of a collection", folder)
        return
    try:
        answer = {"status": 0, "info": "", "data": describe(folder)}
    except (OSError, ValueError, IndexError, KeyError, AttributeError, TypeError) as error:
        answer = {"status": 1, "info": str(error), "data": ""}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
