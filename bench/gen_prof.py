#!/usr/bin/env python3
"""Make a PROF_XXX directory of an Atlas A2 training job, of any size.

    bench/gen_prof.py OUT [--kernels N] [--threads T] [--devices D] [--seed S] [--steps K] [--first-task ID] [--slice MB]
                      [--allreduce-every K]

OUT becomes the PROF directory (it must not exist). T host threads launch N kernels in turn: each on two streams of its
own, thread k on device k mod D. A launch is what PyTorch does: aclnnXGetWorkspaceSize, then aclnnX around launch around
KernelLaunch (4 API records), a task track, the operator's name and its tensors; on the device a start and an end, and the
counters of the cores. In between: all-reduces of small tasks on two streams of a communication, copies, events,
synchronisation when the device is behind, training steps, frequency changes. Task ids wrap with a flip record on both sides.

The same arguments give the same bytes. Python's standard library only; about 100,000 kernels per second.
"""
import argparse
import hashlib
import itertools
import json
import os
import random
import struct
import sys
import time

# ---- what a collection looks like ------------------------------------------------------------------------------------
PID = 20240
HOST_MHZ, DEVICE_MHZ, CORE_MHZ = 100, 50, 1800
HOST_TICK_NS, DEVICE_TICK_NS = 1000 // HOST_MHZ, 1000 // DEVICE_MHZ
EPOCH_US = 1_760_000_000_000_000  # wall clock when the collection began
RAW_NS = 86_400_000_000_000  # CLOCK_MONOTONIC_RAW at that moment: the host is up for a day
HOST_COUNT, DEVICE_COUNT = 8_640_000_000_000, 4_320_123_456_789  # both counters at that moment

MAGIC, STARS_MAGIC = 0x5A5A, 0x6BD3
ACL, NODE, COMMUNICATION, RUNTIME = 20000, 10000, 5500, 5000
NONE32, NONE64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF

API = struct.Struct("<HHIIIQQQ")  # level, type, thread, reserved, begin, end, item
NODE_BASIC = struct.Struct("<HHIIIQ QIQIIB 11x")
TASK_TRACK = struct.Struct("<HHIIIQ HHIQQ HHB 11x")
MEMCPY_INFO = struct.Struct("<HHIIIQ QQH 22x")
HCCL_OP = struct.Struct("<HHIIIQ BBQQQ 14x")
HEADER = struct.Struct("<HHIIIQ")  # of the 256-byte records; their 232 bytes of body are made once per operator
HCCL_INFO = struct.Struct("<QQQIIIIIIQIIdQQQIIIIII 112x")
CONTEXT_IDS = struct.Struct("<QI55I")
STARS = struct.Struct("<HHHHQHHHH 40x")  # ACSQ log and FFTS+ sub-task log
PMU = struct.Struct("<HHHHQHHHHQQQ64sQQ")  # context and block counters
STEP_TRACE = struct.Struct("<BBHIQQQHHHH")
DEVICE_FLIP = struct.Struct("<BBHIQHHHH 16x")
FREQUENCY = struct.Struct("<II880s")

LAUNCH, NODE_BASIC_INFO, TENSOR_INFO, CONTEXT_ID_INFO, HCCL_OP_INFO = 5, 0, 1, 4, 10
MASTER, SLAVE, HCCL_INFO_TYPE = 0x010001, 0x010002, 0x010003
TASK_TRACK_TYPE, MEMCPY_INFO_TYPE = 1900, 1901
KERNEL_LAUNCH, NOTIFY_RECORD_API, NOTIFY_WAIT_API, MEMCPY_API = 1036, 1045, 1046, 1077
SYNCHRONIZE_API, EVENT_RECORD_API, STREAM_WAIT_API = 1010, 1011, 1012
ACL_SYNCHRONIZE, ACL_MEMCPY, ACL_RECORD, ACL_WAIT, ACL_ALLREDUCE = 0x030001, 0x030002, 0x030003, 0x030004, 0x070001

# runtime task types (host) and what the device's log calls them (SQE)
RT = {"AIC": 0, "AICPU": 1, "EVENT": 2, "WAIT": 3, "COPY": 5, "NOTIFY_WAIT": 14, "NOTIFY": 15, "AIV": 66, "FLIP": 98,
      "MIX": 108}
SQE = {"AIC": 0, "AICPU": 1, "AIV": 2, "EVENT": 4, "WAIT": 5, "NOTIFY": 6, "NOTIFY_WAIT": 7, "COPY": 11, "MIX": 0}
GE = {"AIC": 0, "AICPU": 1, "AIV": 2, "MIX": 4}
GE_COMMUNICATION = 9
FLOAT, FLOAT16, INT64, BF16 = 0, 1, 9, 27
NCHW, ND, FRACTAL_NZ = 0, 2, 29

# name, operator type, cores, blocks, vector cores per cube core, microseconds, share, data type, format, inputs, outputs
# (s = a number that differs between the variants of the operator)
OPERATORS = [
    ("Matmul", "MatMulV2", "AIC", 24, 0, 52, 20, BF16, ND, ["s,4096", "4096,4096"], ["s,4096"]),
    ("BatchMatMul", "BatchMatMulV2", "AIC", 24, 0, 34, 8, FLOAT16, ND, ["32,s,128", "32,128,s"], ["32,s,s"]),
    ("Conv2d", "Conv2D", "AIC", 20, 0, 71, 3, FLOAT16, NCHW, ["8,64,s,s", "64,64,3,3", "64"], ["8,64,s,s"]),
    ("Add", "Add", "AIV", 48, 0, 11, 18, BF16, ND, ["s,4096", "s,4096"], ["s,4096"]),
    ("Mul", "Mul", "AIV", 40, 0, 9, 12, BF16, ND, ["s,4096", ""], ["s,4096"]),
    ("Cast", "Cast", "AIV", 48, 0, 8, 12, FLOAT, ND, ["s,4096"], ["s,4096"]),
    ("Silu", "Swish", "AIV", 48, 0, 13, 5, BF16, ND, ["s,11008"], ["s,11008"]),
    ("RmsNorm", "RmsNorm", "AIV", 48, 0, 17, 6, BF16, ND, ["s,4096", "4096"], ["s,4096", "s,1"]),
    ("SoftmaxBackward", "SoftmaxGrad", "AIV", 48, 0, 19, 3, FLOAT16, ND, ["32,s,s", "32,s,s"], ["32,s,s"]),
    ("TransData", "TransData", "AIV", 32, 0, 15, 3, FLOAT16, FRACTAL_NZ, ["s,4096"], ["256,s,16,16"]),
    ("ApplyAdamW", "ApplyAdamWV2", "AIV", 48, 0, 28, 4, FLOAT, ND, ["s,4096"] * 5, ["s,4096"] * 3),
    ("FlashAttentionScore", "FlashAttentionScore", "MIX", 8, 2, 95, 4, BF16, ND, ["s,32,128"] * 3,
     ["32,s,8", "32,s,8", "s,32,128"]),
    ("Range", "Range", "AICPU", 1, 0, 40, 2, INT64, ND, ["1", "1", "1"], ["s"]),
]
VARIANTS = 8
ALLREDUCE_EVERY, COPY_EVERY, EVENT_EVERY = 100, 67, 41  # kernels; the first can be chosen
# of one all-reduce: name, kind, bytes, transport (0 SDMA, 2 local), runtime API
SMALL_TASKS = [
    ("Notify_Record", "NOTIFY", 0, 0, NOTIFY_RECORD_API),
    ("Notify_Wait", "NOTIFY_WAIT", 0, 0, NOTIFY_WAIT_API),
    ("Memcpy", "COPY", 1 << 20, 0, MEMCPY_API),
    ("Notify_Record", "NOTIFY", 0, 2, NOTIFY_RECORD_API),
    ("Reduce_Inline", "COPY", 1 << 19, 0, MEMCPY_API),
    ("Notify_Wait", "NOTIFY_WAIT", 0, 0, NOTIFY_WAIT_API),
]
GROUP = "10.0.0.1%eth0_60000_0_1760000000000000"
BEHIND_NS = 1_000_000  # the host waits when a stream is so far behind
FLUSH = 1 << 15  # records that are kept for sorting


def host_ticks(ns):
    return HOST_COUNT + ns // HOST_TICK_NS


def device_ticks(ns):
    return DEVICE_COUNT + ns // DEVICE_TICK_NS


class Slices:
    """A stream of records of one size, written as files of at most `limit` bytes; no record is cut."""

    def __init__(self, folder, stem, size, limit):
        self.path, self.records, self.slice, self.bytes = os.path.join(folder, stem), [], 0, 0
        self.per_slice = max(1, limit // size)
        self.add = self.records.append

    def spill(self, everything=False):
        records = self.records
        while len(records) >= self.per_slice or (everything and records):
            data = b"".join(records[: self.per_slice])
            del records[: self.per_slice]
            name = "%s.slice_%d" % (self.path, self.slice)
            with open(name, "wb") as out:
                out.write(data)
            with open(name + ".done", "w") as out:
                out.write("filesize:%d\n" % len(data))
            self.slice += 1
            self.bytes += len(data)


class Ordered:
    """Device records: they arrive as tuples (ticks, word, fields …) nearly in order and leave in order, numbered mod 16
    in bits 6 to 9 of their first word as the hardware does."""

    def __init__(self, slices, pack):
        self.slices, self.pack, self.waiting, self.number = slices, pack, [], 0
        self.add = self.waiting.append

    def spill(self, until):
        """Write what is older than `until` ticks (None: everything)."""
        waiting, add, pack, number = self.waiting, self.slices.add, self.pack, self.number
        waiting.sort(key=lambda record: record[0])
        done = len(waiting) if until is None else 0
        if until is not None:
            while done < len(waiting) and waiting[done][0] < until:
                done += 1
        for ticks, word, *fields in itertools.islice(waiting, done):
            add(pack(word | (number & 15) << 6, ticks, fields))
            number += 1
        self.number = number
        del waiting[:done]
        self.slices.spill(until is None)


def pack_stars(word, ticks, f):
    return STARS.pack(word, STARS_MAGIC, f[0], f[1], ticks, f[2], f[3], f[4], 0)


def pack_pmu(word, ticks, f):
    return PMU.pack(word, STARS_MAGIC, f[0], f[1], 0, f[2], f[3], f[4], 0, f[5], f[6], 0, f[7], f[8], ticks)


class Stream:
    __slots__ = ("id", "device", "next_task", "flips", "free")

    def __init__(self, number, device, first_task):
        self.id, self.device, self.next_task, self.flips, self.free = number, device, first_task, 0, 0


class Thread:
    __slots__ = ("id", "now", "streams", "turn", "comm", "device")


class Operator:
    """One variant of an operator: everything about it that its launches share."""
    __slots__ = ("name", "type", "kind", "blocks", "ratio", "kernel", "api", "workspace_api", "tensors", "contexts",
                 "runs")


class Device:
    def __init__(self, folder, number, limit):
        self.id, self.folder = number, folder
        data = os.path.join(folder, "data")
        os.makedirs(data)
        suffix = ".data.%d" % number
        self.log = Ordered(Slices(data, "stars_soc" + suffix, 64, limit), pack_stars)
        self.pmu = Ordered(Slices(data, "ffts_profile" + suffix, 128, limit), pack_pmu)
        self.track = Slices(data, "ts_track" + suffix, 40, limit)
        self.frequency = Slices(data, "lpmFreqConv" + suffix, 888, limit)

    def spill(self, until):
        for ordered in (self.log, self.pmu):
            if until is None or len(ordered.waiting) >= FLUSH:
                ordered.spill(until)
        for slices in (self.track, self.frequency):
            slices.spill(until is None)


class Generator:
    def __init__(self, out, kernels=1000, threads=4, devices=1, seed=1, steps=4, first_task=0, slice_mb=8,
                 allreduce_every=ALLREDUCE_EVERY):
        self.out, self.kernels, self.steps, self.allreduce_every = out, kernels, steps, allreduce_every
        self.rng = random.Random(seed)
        self.hashes, self.types = {}, {}
        self.counts = {"kernels": 0, "api": 0, "small_tasks": 0, "copies": 0, "events": 0, "allreduces": 0, "flips": 0}
        limit = int(slice_mb * (1 << 20))
        data = os.path.join(out, "host", "data")
        os.makedirs(data)

        def host(stem, size):
            return Slices(data, stem, size, limit)

        self.api = host("aging.api_event.data", 40)
        self.node = host("aging.compact.node_basic_info", 64)
        self.task = host("aging.compact.task_track", 64)
        self.copy = host("aging.compact.memcpy_info", 64)
        self.hccl_op = host("aging.compact.hccl_op_info", 64)
        self.tensor = host("aging.additional.tensor_info", 256)
        self.context = host("aging.additional.context_id_info", 256)
        self.hccl = host("aging.additional.hccl_info", 256)
        self.host_files = [self.api, self.node, self.task, self.copy, self.hccl_op, self.tensor, self.context, self.hccl]
        self.devices = [Device(os.path.join(out, "device_%d" % d), d, limit) for d in range(devices)]
        self.threads = []
        for k in range(threads):
            t = Thread()
            t.id, t.now, t.turn, t.device = PID + k * 7, 2_000_000 + k * 13_000, 0, self.devices[k % devices]
            t.streams = [Stream(2 + 4 * k + j, t.device, first_task) for j in range(2)]
            t.comm = [Stream(4 + 4 * k + j, t.device, 0) for j in range(2)]
            self.threads.append(t)
        self.operators = [self.operator(spec, v) for spec in OPERATORS for v in range(VARIANTS)]
        self.shares = [spec[6] for spec in OPERATORS for v in range(VARIANTS)]
        self.group, self.algorithm, self.tag = self.hash(GROUP), self.hash("MESH-RING"), self.hash("AllReduce_" + GROUP)
        self.allreduce_type = self.hash("hcom_allReduce_")
        self.small = [(self.hash(name), *rest) for name, *rest in SMALL_TASKS]
        self.name_types()

    # ---- dictionaries
    def hash(self, text):
        number = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
        self.hashes[number] = text
        return number

    def name_types(self):
        for level, names in {
            ACL: {ACL_SYNCHRONIZE: "aclrtSynchronizeStream", ACL_MEMCPY: "aclrtMemcpyAsync", ACL_RECORD: "aclrtRecordEvent",
                  ACL_WAIT: "aclrtStreamWaitEvent", ACL_ALLREDUCE: "HcclAllReduce"},
            NODE: {LAUNCH: "launch", NODE_BASIC_INFO: "node_basic_info", TENSOR_INFO: "tensor_info",
                   CONTEXT_ID_INFO: "context_id_info", HCCL_OP_INFO: "hccl_op_info"},
            COMMUNICATION: {MASTER: "master", SLAVE: "slave", HCCL_INFO_TYPE: "hccl_info"},
            RUNTIME: {KERNEL_LAUNCH: "KernelLaunchWithHandle", NOTIFY_RECORD_API: "NotifyRecord",
                      NOTIFY_WAIT_API: "NotifyWait", MEMCPY_API: "MemcpyAsync", SYNCHRONIZE_API: "StreamSynchronize",
                      EVENT_RECORD_API: "EventRecord", STREAM_WAIT_API: "StreamWaitEvent",
                      TASK_TRACK_TYPE: "task_track", MEMCPY_INFO_TYPE: "memcpy_info", RT["AIC"]: "KERNEL_AICORE",
                      RT["AICPU"]: "KERNEL_AICPU", RT["EVENT"]: "EVENT_RECORD", RT["WAIT"]: "STREAM_WAIT_EVENT",
                      RT["COPY"]: "MEMCPY_ASYNC", RT["NOTIFY_WAIT"]: "NOTIFY_WAIT", RT["NOTIFY"]: "NOTIFY_RECORD",
                      RT["AIV"]: "KERNEL_AIVEC", RT["FLIP"]: "FLIP_TASK", RT["MIX"]: "KERNEL_MIX_AIC"},
        }.items():
            for number, name in names.items():
                self.types[level, number] = name

    # ---- operators
    def operator(self, spec, variant):
        name, op_type, kind, blocks, ratio, mean_us, _, dtype, form, inputs, outputs = spec
        o = Operator()
        o.kind, o.blocks, o.ratio = kind, blocks, ratio
        o.name = self.hash("aclnn%s_%s_%s%d" % (name, op_type, op_type, variant))
        o.type = self.hash(op_type)
        o.kernel = self.hash("%s_%s_mix" % (op_type, hashlib.md5(op_type.encode()).hexdigest()[:12]))
        number = 2 * [s[0] for s in OPERATORS].index(name) + 1
        o.api, o.workspace_api = 0x050000 + number, 0x050001 + number
        self.types[ACL, o.api], self.types[ACL, o.workspace_api] = "aclnn" + name, "aclnn%sGetWorkspaceSize" % name
        size = 128 << (variant % 5)
        tensors = [(0, s) for s in inputs] + [(1, s) for s in outputs]
        o.tensors = []
        for first in range(0, len(tensors), 5):
            part = tensors[first: first + 5]
            body = struct.pack("<QI", o.name, len(part))
            for side, shape in part:
                dims = [size if d == "s" else int(d) for d in shape.split(",") if d]
                body += struct.pack("<III8I", side, form, dtype, *(dims + [0] * (8 - len(dims))))
            o.tensors.append(body.ljust(232, b"\0"))
        o.contexts = CONTEXT_IDS.pack(o.name, 1, *[0] * 55) if kind == "MIX" else None
        o.runs = [self.run(kind, blocks, mean_us * (0.6 + 0.2 * variant)) for _ in range(16)]
        return o

    def run(self, kind, blocks, mean_us):
        """How one execution went: (nanoseconds, cycles of all blocks, the eight counters, the same of one vector core)"""
        rng = self.rng
        ns = max(1000, int(rng.gauss(mean_us, mean_us * 0.06) * 1000))
        cycles = (ns - 300) * CORE_MHZ // 1000 * min(blocks, 48 if kind == "AIV" else 24)
        share = [0.5 + 0.3 * rng.random(), 0.02, 0.06 * rng.random(), 0.1 + 0.2 * rng.random(), 0.3 + 0.4 * rng.random(),
                 0.1 * rng.random(), 0.03 * rng.random(), 0.004 * rng.random()]
        counters = struct.pack("<8Q", *(int(cycles * s) for s in share))
        one = cycles // blocks
        return ns, cycles, counters, one, struct.pack("<8Q", *(int(one * s) for s in share))

    # ---- host records
    def call(self, level, kind, thread, begin, end, item=0):
        self.api.add(API.pack(MAGIC, level, kind, thread, 0, host_ticks(begin), host_ticks(end), item))

    def next_task(self, thread, stream, when):
        """The task's number on its stream; at a wrap both sides say so before it."""
        number = stream.next_task
        if number == 65535:
            number = 0
            stream.flips += 1
            self.counts["flips"] += 1
            self.task.add(TASK_TRACK.pack(MAGIC, RUNTIME, TASK_TRACK_TYPE, thread.id, 40, host_ticks(when - 100),
                                          stream.device.id, stream.id, stream.flips << 16, RT["FLIP"], 0, 0, 0, 0))
            stream.free = max(stream.free, when) + 200
            stream.device.track.add(DEVICE_FLIP.pack(0, 14, 40, 0, device_ticks(stream.free - 100), stream.id,
                                                     stream.flips & 0xFFFF, 0, 0))
        stream.next_task = number + 1
        return number

    def track(self, thread, stream, task, kind, when, kernel=0, blocks=0, ratio=0):
        self.task.add(TASK_TRACK.pack(MAGIC, RUNTIME, TASK_TRACK_TYPE, thread.id, 40, host_ticks(when), stream.device.id,
                                      stream.id, task, RT[kind], kernel, blocks, 64, ratio))

    def execute(self, stream, task, kind, when, ns):
        """On the device: as soon as the stream is free. Returns when it started and ended, in ticks."""
        start = max(stream.free + 700, when + 2500)
        end = start + ns
        stream.free = end
        start, end = device_ticks(start), device_ticks(end)
        word, add = SQE[kind] << 10, stream.device.log.add
        add((start, word, stream.id, task, 0, 0, 0))
        add((end, word | 1, stream.id, task, 0, 0, 0))
        return start, end

    # ---- what a thread does
    def launch(self, thread, op, turn):
        stream = thread.streams[turn & 1]
        now, tid = thread.now, thread.id
        ns, cycles, counters, core_cycles, core_counters = op.runs[turn & 15]
        self.call(ACL, op.workspace_api, tid, now, now + 1900)
        begin = now + 2300
        runtime = begin + 1700 + (turn & 7) * 110
        submitted, done = runtime + 900, runtime + 2600
        described, end = done + 400, done + 1500
        task = self.next_task(thread, stream, runtime)
        self.call(RUNTIME, KERNEL_LAUNCH, tid, runtime, done)
        self.call(NODE, LAUNCH, tid, begin + 500, end, op.name)
        self.call(ACL, op.api, tid, begin, end + 400)
        self.track(thread, stream, task, op.kind, submitted, op.kernel, op.blocks, op.ratio)
        ticks = host_ticks(described)
        self.node.add(NODE_BASIC.pack(MAGIC, NODE, NODE_BASIC_INFO, tid, 29, ticks, op.name, GE[op.kind], op.type,
                                      op.blocks | op.ratio << 16, 0, 1))
        for body in op.tensors:
            self.tensor.add(HEADER.pack(MAGIC, NODE, TENSOR_INFO, tid, 232, ticks) + body)
        start, stop = self.execute(stream, task, op.kind, submitted, ns)
        if op.kind == "MIX":
            self.context.add(HEADER.pack(MAGIC, NODE, CONTEXT_ID_INFO, tid, 16, ticks) + op.contexts)
            log, pmu = stream.device.log.add, stream.device.pmu.add
            log((start + 1, 34, stream.id, task, 6, 0, 4 << 13))
            log((stop - 1, 35, stream.id, task, 6, 0, 4 << 13))
            pmu((stop - 2, 40, stream.id, task, 6, 0, 4 << 13, 0, cycles, counters, start + 2))
            for block in range(op.blocks * op.ratio):
                pmu((stop - 2, 41, stream.id, task, 6, 0, 4 << 13 | 1 | block << 1, block << 48, core_cycles,
                     core_counters, start + 2))
        elif op.kind != "AICPU":
            side = (1 if op.kind == "AIV" else 0) << 13
            stream.device.pmu.add((stop - 1, 40, stream.id, task, 0, 0, side, 0, cycles, counters, start + 1))
        thread.now = end + 900 + (turn * 37 & 1023)
        self.counts["kernels"] += 1
        if stream.free - thread.now > BEHIND_NS:
            self.synchronize(thread, stream)

    def synchronize(self, thread, stream):
        begin, end = thread.now, stream.free - BEHIND_NS // 5
        self.call(RUNTIME, SYNCHRONIZE_API, thread.id, begin + 300, end)
        self.call(ACL, ACL_SYNCHRONIZE, thread.id, begin, end + 300)
        thread.now = end + 900

    def memcpy(self, thread, turn):
        stream, now, size = thread.streams[turn & 1], thread.now, (1 << 16) << (turn % 7)
        task, when = self.next_task(thread, stream, now + 500), now + 1500
        self.track(thread, stream, task, "COPY", when)
        self.copy.add(MEMCPY_INFO.pack(MAGIC, RUNTIME, MEMCPY_INFO_TYPE, thread.id, 18, host_ticks(when), size, 64 << 20,
                                       1 + turn % 3))
        self.call(RUNTIME, MEMCPY_API, thread.id, now + 400, now + 2600)
        self.call(ACL, ACL_MEMCPY, thread.id, now, now + 3000)
        self.execute(stream, task, "COPY", when, 2000 + size // 20)
        thread.now = now + 3500
        self.counts["copies"] += 1

    def event(self, thread, turn):
        """recorded on one stream of the thread, waited for by the other"""
        first = thread.streams[turn & 1]
        for stream, kind, api, acl, ns in ((first, "EVENT", EVENT_RECORD_API, ACL_RECORD, 80),
                                           (thread.streams[~turn & 1], "WAIT", STREAM_WAIT_API, ACL_WAIT, 1200)):
            now = thread.now
            task, when = self.next_task(thread, stream, now + 300), now + 800
            self.track(thread, stream, task, kind, when)
            self.call(RUNTIME, api, thread.id, now + 400, now + 1300)
            self.call(ACL, acl, thread.id, now, now + 1700)
            self.execute(stream, task, kind, when, ns)
            thread.now = now + 2200
            self.counts["events"] += 1

    def allreduce(self, thread, turn):
        now, tid = thread.now, thread.id
        number = self.counts["allreduces"]
        name = self.hash("hcom_allReduce__%03d_%d_1" % (thread.device.id + 100, number % 997))
        cursor = now + 2000
        for index, (item, kind, size, transport, api) in enumerate(self.small):
            plane = index // 3
            stream = thread.comm[plane]
            when = cursor + 900
            task = self.next_task(thread, stream, cursor + 200)
            self.track(thread, stream, task, kind, when)
            self.call(RUNTIME, api, tid, cursor + 300, cursor + 1400)
            self.call(COMMUNICATION, SLAVE if plane else MASTER, tid, cursor, cursor + 2200, item)
            body = HCCL_INFO.pack(item, self.tag, self.group, 0, (index + 1) % 8, 8, 0, plane, NONE32,
                                  NONE64 if size else 0x100 + index, 0, 1, 3.5, 0x12C0_0000_0000, 0x12C1_0000_0000, size,
                                  0 if kind == "COPY" else 255, 4 if size else 255, 1 if size else 255, transport, 255, 0)
            self.hccl.add(HEADER.pack(MAGIC, COMMUNICATION, HCCL_INFO_TYPE, tid, 120, host_ticks(cursor + 1700)) + body)
            self.execute(stream, task, kind, when, size // 20 or 900 + index * 140)
            cursor += 2500
        ticks = host_ticks(cursor + 300)
        self.node.add(NODE_BASIC.pack(MAGIC, NODE, NODE_BASIC_INFO, tid, 29, ticks, name, GE_COMMUNICATION,
                                      self.allreduce_type, 0, 0, 1))
        self.hccl_op.add(HCCL_OP.pack(MAGIC, NODE, HCCL_OP_INFO, tid, 26, ticks, 0, 4, self.algorithm, 1 << 18, self.group))
        self.call(NODE, LAUNCH, tid, now + 900, cursor + 1200, name)
        self.call(ACL, ACL_ALLREDUCE, tid, now, cursor + 1600)
        thread.now = cursor + 2500
        self.counts["allreduces"] += 1
        self.counts["small_tasks"] += len(self.small)
        behind = max(thread.comm, key=lambda s: s.free)
        if behind.free - thread.now > BEHIND_NS:
            self.synchronize(thread, behind)

    # ---- the device as a whole
    def step(self, number, begin, end):
        """Marks of one training step on every device: forward from its begin, backward ends before its end."""
        marks = ((0, begin), (2, begin + (end - begin) // 20), (10000, begin + (end - begin) // 2),
                 (10001, begin + (end - begin) * 3 // 5), (3, begin + (end - begin) * 9 // 10), (1, end))
        for device in self.devices:
            for tag, when in marks:
                device.track.add(STEP_TRACE.pack(0, 10, 40, 0, device_ticks(when), number, 1, 2, 0, tag, 0))

    def frequencies(self, end):
        """The core clock drops now and then, for a while."""
        for device in self.devices:
            points = [(DEVICE_COUNT + 10, CORE_MHZ)]
            when = 0
            while when < end and len(points) < 5500:
                when += int(20e6 + 180e6 * self.rng.random())
                points.append((device_ticks(when), CORE_MHZ - 50 * self.rng.randrange(1, 9)))
                when += int(2e6 + 20e6 * self.rng.random())
                points.append((device_ticks(when), CORE_MHZ))
            for first in range(0, len(points), 55):
                part = points[first: first + 55]
                body = b"".join(struct.pack("<QII", ticks, mhz, 0) for ticks, mhz in part)
                device.frequency.add(FREQUENCY.pack(len(part), 0, body))

    def spill(self):
        until = device_ticks(min(t.now for t in self.threads))
        for slices in self.host_files:
            slices.spill()
        for device in self.devices:
            device.spill(until)

    def generate(self):
        began = time.perf_counter()
        picks = self.rng.choices(self.operators, self.shares, k=min(self.kernels, 1 << 16)) if self.kernels else []
        threads, per_step = self.threads, max(1, -(-self.kernels // max(1, self.steps)))
        step_begin, steps = min(t.now for t in threads) - 100_000, 0
        for turn in range(self.kernels):
            thread = threads[turn % len(threads)]
            thread.turn += 1
            self.launch(thread, picks[turn * 7 % len(picks)], thread.turn)
            if turn % COPY_EVERY == COPY_EVERY - 1:
                self.memcpy(thread, turn)
            if turn % EVENT_EVERY == EVENT_EVERY - 1:
                self.event(thread, turn)
            if self.allreduce_every and turn % self.allreduce_every == self.allreduce_every - 1:
                self.allreduce(thread, turn)
            if turn & 1023 == 1023:
                self.spill()
            if self.steps and (turn % per_step == per_step - 1 or turn == self.kernels - 1):
                step_end = max(max(t.now for t in threads), step_begin + 1000)
                steps += 1
                self.step(steps, step_begin, step_end)
                step_begin = step_end + 20_000
        end = max([t.now for t in threads] + [s.free for t in threads for s in t.streams + t.comm]) + 5_000_000
        self.frequencies(end)
        for slices in self.host_files:
            slices.spill(True)
        for device in self.devices:
            device.spill(None)
        self.dictionary("hash_dic", ("%d:%s\n" % item for item in self.hashes.items()))
        self.dictionary("type_info_dic", ("%d_%d:%s\n" % (*key, name) for key, name in self.types.items()))
        self.metadata(end)
        self.counts["api"] = self.api.bytes // API.size
        self.counts["bytes"] = sum(os.path.getsize(os.path.join(folder, name))
                                   for folder, _, names in os.walk(self.out) for name in names)
        self.counts["seconds"] = time.perf_counter() - began
        return self.counts

    def dictionary(self, name, lines):
        self.text("host/data/unaging.additional.%s.slice_0" % name, "".join(lines))

    def text(self, name, content):
        path = os.path.join(self.out, name)
        with open(path, "w") as out:
            out.write(content)
        with open(path + ".done", "w") as out:
            out.write("filesize:%d\n" % len(content))

    def metadata(self, end):
        def date(us):
            return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(us // 1_000_000)) + ".%06d" % (us % 1_000_000)

        end_us = EPOCH_US + end // 1000
        start = json.dumps({"clockMonotonicRaw": str(RAW_NS), "collectionDateBegin": date(EPOCH_US),
                            "collectionDateEnd": "", "collectionTimeBegin": str(EPOCH_US), "collectionTimeEnd": ""})
        stop = json.dumps({"clockMonotonicRaw": str(RAW_NS + end), "collectionDateBegin": "",
                           "collectionDateEnd": date(end_us), "collectionTimeBegin": "", "collectionTimeEnd": str(end_us)})
        info = {"CPU": [{"Frequency": "%f" % HOST_MHZ, "Id": 0, "Logical_CPU_Count": 192, "Name": "HiSilicon",
                         "Type": "Kunpeng-920"}],
                "DeviceInfo": [], "OS": "Linux-5.10.0", "cannVersion": "8.2.0", "cpuCores": 192, "cpuNums": 4,
                "devices": ",".join(str(d.id) for d in self.devices), "drvVersion": 467732, "hostUid": "7341205561902337",
                "hostname": "bench-node", "hwtype": "aarch64", "jobInfo": "NA", "memoryTotal": 1583296000, "netCard":
                [{"netCardName": "eth0", "speed": 25000}], "netCardNums": 1, "pid": str(PID), "pid_name": "python3",
                "platform": "", "platform_version": "5", "rank_id": 0, "sysClockFreq": 100, "upTime": "86400.00 0.00",
                "version": "1.0"}
        sample = {"devices": "64", "ai_core_profiling": "on", "ai_core_profiling_mode": "task-based", "ai_core_metrics":
                  "PipeUtilizationExct", "ai_core_profiling_events": "0x416,0x417,0x9,0x302,0xc,0x303,0x54,0x55",
                  "aicore_sampling_interval": 10, "aiv_profiling": "on", "aiv_profiling_mode": "task-based",
                  "aiv_metrics": "PipeUtilization", "aiv_profiling_events": "0x8,0xa,0x9,0xb,0xc,0xd,0x54,0x55",
                  "aiv_sampling_interval": 10, "llc_profiling": "", "profLevel": "l1", "prof_level": "l1", "acl": "on",
                  "hcclTrace": "on", "runtimeApi": "on", "taskTrace": "on", "stars_acsq_task": "on", "msproftx": "off",
                  "dynamic": "off", "taskBlock": "off", "result_dir": "", "job_id": "", "host_sys_pid": -1,
                  "msprofBinPid": -1, "instr_profiling_freq": 1000, "hostProfiling": False}
        clock = "clock_monotonic_raw: %d\ncntvct: %d\n"
        self.text("host/info.json", json.dumps(info))
        self.text("host/sample.json", json.dumps(sample))
        self.text("host/start_info", start)
        self.text("host/end_info", stop)
        self.text("host/host_start.log", "[Host]\n" + clock % (RAW_NS, HOST_COUNT) + "cntvct_diff: 0\n")
        for device in self.devices:
            here, number = "device_%d/" % device.id, device.id
            info["devices"] = sample["devices"] = str(number)
            info["DeviceInfo"] = [{"id": number, "env_type": 3, "ctrl_cpu_id": "ARMv8_Cortex_A55", "ctrl_cpu_core_num": 1,
                                   "ctrl_cpu_endian_little": 1, "ts_cpu_core_num": 0, "ai_cpu_core_num": 6,
                                   "ai_core_num": 24, "ai_cpu_core_id": 2, "ai_core_id": 0, "aicpu_occupy_bitmap": 252,
                                   "ctrl_cpu": "0,1", "ai_cpu": "2,3,4,5,6,7", "aiv_num": 48, "hwts_frequency":
                                   "%f" % DEVICE_MHZ, "aic_frequency": str(CORE_MHZ), "aiv_frequency": str(CORE_MHZ)}]
            self.text(here + "info.json.%d" % number, json.dumps(info))
            self.text(here + "sample.json", json.dumps(sample))
            self.text(here + "start_info.%d" % number, start)
            self.text(here + "end_info.%d" % number, stop)
            self.text(here + "host_start.log.%d" % number,
                      "[Device%d]\n" % number + clock % (RAW_NS, HOST_COUNT) + "cntvct_diff: 0\n")
            self.text(here + "dev_start.log.%d" % number, clock % (RAW_NS, DEVICE_COUNT))


def generate(out, **options):
    """Make the PROF directory `out`; returns how much of what is in it: {"kernels": …, "api": …, "bytes": …, …}."""
    return Generator(out, **options).generate()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--kernels", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=4, help="training steps (0: none)")
    parser.add_argument("--first-task", type=int, default=0, help="task id that streams begin with: 65000 to see wraps soon")
    parser.add_argument("--slice", type=float, default=8, help="size of a slice in MB")
    parser.add_argument("--allreduce-every", type=int, default=ALLREDUCE_EVERY,
                        help="kernels from one all-reduce (6 small tasks) to the next (0: none)")
    a = parser.parse_args()
    if os.path.exists(a.out):
        sys.exit("gen_prof.py: %s exists" % a.out)
    counts = generate(a.out, kernels=a.kernels, threads=a.threads, devices=a.devices, seed=a.seed, steps=a.steps,
                      first_task=a.first_task, slice_mb=a.slice, allreduce_every=a.allreduce_every)
    print(", ".join("%s %s" % (k, "%.1f" % v if k == "seconds" else v) for k, v in counts.items()))


if __name__ == "__main__":
    main()
