"""Traces of typical programs, written by hand. The times are made up; their order is that of the programs."""

import random

from cuscope.tracing import Trace

US = 1000
H200 = {
    "model": "h200",
    "simulated": True,
    "multiprocessors": 132,
    "copy_engines": 2,
    "memory_bandwidth": 4800.0,
    "pcie_bandwidth": 55.0,
}
IN, OUT = "copy to device", "copy to host"


def streams(count, device="host:0", first=1):
    return {
        first + i: {"device": device, "label": f"stream {first + i}", "priority": 0} for i in range(count)
    }


def copy(stream, start, end, engine, **more):
    name = {IN: "host to device", OUT: "device to host", "copy on device": "device to device"}[engine]
    row = {"kind": "copy", "name": name, "stream": stream, "start": start, "end": end, "engine": engine}
    return {"device": "host:0", "bytes": 1 << 20, "line": "pipeline.py:14", **row, **more}


def kernel(stream, start, end, name="saxpy", **more):
    row = {"kind": "kernel", "name": name, "stream": stream, "start": start, "end": end, "engine": "kernels"}
    return {
        "device": "host:0",
        "grid": (1024, 1, 1),
        "block": (256, 1, 1),
        "line": "pipeline.py:15",
        **row,
        **more,
    }


def call(start, end, name, **more):
    return {
        "kind": "call",
        "name": name,
        "start": start,
        "end": end,
        "thread": 0,
        "line": "pipeline.py:14",
        **more,
    }


def span(kind, name, start, end, **more):
    return {"kind": kind, "name": name, "start": start, "end": end, **more}


def pipeline(chunks=4, copied=20 * US, computed=20 * US, start=0):
    """Breadth first on two copy engines: chunk i is copied in while chunk i - 1 is computed."""
    rows = []
    kernel_end = out_end = 0
    for i in range(chunks):
        begin = start + i * copied
        at = {"issued": 2 * i * US}
        reason = {"reason": "engine", "cause": 3 * (i - 1)} if i else {"reason": "issued"}
        rows.append(copy(i + 1, begin, begin + copied, IN, **reason, **at))
        begin = max(begin + copied, kernel_end)
        kernel_end = begin + computed
        rows.append(kernel(i + 1, begin, kernel_end, reason="stream order", cause=3 * i, **at))
        begin = max(kernel_end, out_end)
        out_end = begin + copied
        rows.append(copy(i + 1, begin, out_end, OUT, reason="stream order", cause=3 * i + 1, **at))
    return rows


def breadth_first():
    return Trace.from_spans(pipeline(), devices={"host:0": H200}, streams=streams(4))


def depth_first_on_one_engine():
    """One copy engine does the copies in the order of the calls: chunk i + 1 waits for the way back of chunk i."""
    rows, time = [], 0
    for i in range(4):
        for engine, made in ((IN, copy), (None, kernel), (OUT, copy)):
            end = time + 20 * US
            rows.append(made(i + 1, time, end, engine) if engine else made(i + 1, time, end))
            rows[-1].update(engine="copy to device" if engine else "kernels")
            time = end
    c1060 = {"model": "c1060", "simulated": True, "multiprocessors": 30, "copy_engines": 1}
    return Trace.from_spans(rows, devices={"host:0": c1060}, streams=streams(4))


def serial():
    rows = [
        copy(1, 0, 84 * US, IN, bytes=4 << 20),
        kernel(1, 84 * US, 164 * US),
        copy(1, 164 * US, 248 * US, OUT),
    ]
    return Trace.from_spans(rows, devices={"host:0": H200}, streams=streams(1))


def program():
    """Calls and ranges of the host, four streams, an event, and a long wait at the end."""
    rows = pipeline(start=9 * US)
    for i, row in enumerate(rows):
        row["call"] = len(rows) + i
    calls = []
    for i in range(12):
        name = "cudaLaunchKernel" if i % 3 == 1 else "cudaMemcpyAsync"
        calls.append(call(6 * US + i * 2500, 8 * US + i * 2500, name))
    rows += calls
    rows += [
        call(0, 5 * US, "cudaStreamCreate", line="pipeline.py:8"),
        call(37 * US, 129 * US, "cudaDeviceSynchronize", cause=11, line="pipeline.py:19"),
        span("range", "pipeline", 5 * US, 130 * US, thread=0, line="pipeline.py:11"),
        span("range", "issue", 6 * US, 36 * US, thread=0, line="pipeline.py:12"),
        span("range", "wait", 36 * US + 500, 129 * US + 500, thread=0, line="pipeline.py:18"),
        *(
            span("event record", "event record", t, t, device="host:0", stream=s)
            for s, t in ((1, 69 * US), (2, 89 * US), (3, 109 * US), (4, 129 * US))
        ),
    ]
    return Trace.from_spans(
        rows, devices={"host:0": H200}, streams=streams(4), threads={0: "MainThread"}, duration=130 * US
    )


def graph():
    """A graph of six nodes on one stream, twice, beside a kernel on another."""
    rows = []
    for start in (10 * US, 52 * US):
        at = len(rows)
        rows.append(span("graph", "graph 3", start, start + 36 * US, device="host:0", stream=1))
        of = {"graph": at, "reason": "graph"}
        rows += [
            copy(1, start, start + 8 * US, IN, **of),
            kernel(1, start + 8 * US, start + 20 * US, "blur", **of),
            kernel(1, start + 8 * US, start + 16 * US, "edges", **of),
            kernel(1, start + 20 * US, start + 28 * US, "merge", **of),
            span(
                "memset",
                "memset",
                start + 16 * US,
                start + 18 * US,
                device="host:0",
                stream=1,
                bytes=4096,
                **of,
            ),
            copy(1, start + 28 * US, start + 36 * US, OUT, **of),
        ]
    rows.append(kernel(2, 14 * US, 80 * US, "background"))
    rows.append(
        span("host function", "log", 80 * US, 86 * US, device="host:0", stream=2, engine="host functions")
    )
    rows.append(call(4 * US, 9 * US, "cudaGraphLaunch"))
    rows.append(call(12 * US, 16 * US, "cudaGraphLaunch"))
    rows.append(call(18 * US, 88 * US, "cudaStreamSynchronize"))
    return Trace.from_spans(rows, devices={"host:0": H200}, streams=streams(2))


def concurrent_kernels():
    """Eight small kernels on eight streams, all at once."""
    rows = [
        kernel(i + 1, (3 + 2 * i) * US, (63 + 2 * i) * US, "clock_block", grid=(8, 1, 1)) for i in range(8)
    ]
    return Trace.from_spans(rows, devices={"host:0": H200}, streams=streams(8))


def two_devices():
    rows = []
    for device, stream in (("host:0", 1), ("host:1", 2)):
        begin = 5 * US * (stream - 1)
        for i in range(3):
            at = begin + i * 40 * US
            rows.append(copy(stream, at, at + 16 * US, IN, device=device, pageable=True))
            rows.append(kernel(stream, at + 16 * US, at + 34 * US, "step", device=device))
            rows.append(copy(stream, at + 34 * US, at + 40 * US, "copy on device", device=device))
    both = {"host:0": H200, "host:1": H200}
    named = {**streams(1), **streams(1, "host:1", 2)}
    return Trace.from_spans(rows, devices=both, streams=named)


def training(steps=60):
    """Many short kernels of many names: most are narrower than a pixel."""
    draw = random.Random(1)
    names = [
        "gemm_128x128",
        "void softmax<float, 32>(float*, int)",
        "layer_norm",
        "gelu",
        "dropout",
        "add",
        "adam",
    ]
    rows, time = [], 0
    for step in range(steps):
        begin = time
        rows.append(copy(2, time, time + 30 * US, IN, bytes=1 << 20))
        for layer in range(40):
            name = names[layer % 6] if layer < 39 else "adam"
            took = draw.randrange(3, 9) * US if name != "gemm_128x128" else 25 * US
            rows.append(kernel(1, time, time + took, name))
            rows.append(call(max(time - 5 * US, 0), max(time - 3 * US, 1), "cudaLaunchKernel"))
            time += took + (700 if draw.random() < 0.9 else 30 * US)
        rows.append(span("range", f"step {step}", begin, time, thread=0))
    return Trace.from_spans(rows, devices={"host:0": H200}, streams=streams(2))


SAMPLES = {
    made.__name__: made
    for made in (
        breadth_first,
        depth_first_on_one_engine,
        serial,
        program,
        graph,
        concurrent_kernels,
        two_devices,
        training,
    )
}
