"""What traces make of CUPTI's records, with a CUPTI whose records a test chooses: see fake_cupti.py."""

import importlib.util
import shutil

import pytest

import cuscope as cs
from support import TESTS

pytestmark = [
    pytest.mark.skipif(cs.build_config["cuda"] == "OFF", reason="this build has no runtime for GPUs"),
    pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler"),
]


@pytest.fixture
def with_fake(run_python):
    """Runs a program that has the names of fake_cupti.py. CUPTI is loaded once, so each has a process of its own."""

    def run(source, **options):
        path = f"import sys; sys.path.insert(0, {str(TESTS / 'tracing')!r})\nfrom fake_cupti import *\n"
        done = run_python(path + source, **options)
        assert done.stderr == ""
        return done.stdout

    return run


def test_a_kernel_belongs_to_its_call(with_fake):
    assert with_fake("""
t = Traced()
t.start()
t.call(5)
record(KERNEL, **t.times(100, 300), device=1, context=1, stream=7, grid=(2, 3, 4), block=(32, 2, 1), static_shared=100,
       dynamic_shared=20, correlation=5, name="_Z5scaleIfEvPT_i")
trace = t.stop()
(kernel,) = work(trace)
print(kernel["kind"], kernel["name"], kernel["device"], kernel["engine"], kernel["shared_bytes"])
print(kernel["grid"], kernel["block"], kernel["end"] - kernel["start"], trace.spans[kernel["call"]]["name"])
print(trace.source, trace.notes, trace.dropped)
""") == (
        "kernel scale<float> cuda:1 kernels 120\n[2 3 4] [32  2  1] 200 cudaMemset\ncupti [] 0\n"
    )  # fmt: skip


def test_without_the_variable_a_trace_of_a_gpu_has_the_calls_alone(with_fake):
    assert (
        with_fake("""
del os.environ["CUSCOPE_TRACE_GPU"]
t = Traced()
t.start()
t.call(5)
trace = t.stop()
print(trace.source, trace.notes, len(work(trace)), len(trace) > 0)
""")
        == "calls [] 0 True\n"
    )


def test_copies_have_directions_bytes_and_kinds_of_memory(with_fake):
    assert with_fake("""
t = Traced()
t.start()
PAGEABLE, PINNED, DEVICE = 1, 2, 3
for kind, source, destination in ((1, PAGEABLE, DEVICE), (2, DEVICE, PINNED), (8, DEVICE, DEVICE), (4, 4, PAGEABLE), (9, 2, 2)):
    record(COPY, **t.times(kind, kind + 10), copy_kind=kind, source=source, destination=destination, bytes=64)
record(PEER_COPY, **t.times(20, 30), copy_kind=10, source=3, destination=3, bytes=64)
for span in work(t.stop()):
    print(span["kind"], span["name"], span["engine"], span["bytes"], span["pageable"], sep=",")
""") == (
        "copy,host to device,copy to device,64,True\n"
        "copy,device to host,copy to host,64,False\n"
        "copy,device to host,copy to host,64,True\n"
        "copy,device to device,copy on device,64,False\n"
        "copy,host to host,,64,False\n"
        "copy,device to other device,copy on device,64,False\n"
    )


def test_cupti_is_not_asked_for_memsets(with_fake):
    """With records of memsets, CUPTI 13.0 lost the device. Events measure memsets."""
    assert (
        with_fake("""
t = Traced()
t.start()
print(fake.fake_enabled(KERNEL), fake.fake_enabled(COPY), fake.fake_enabled(MEMSET))
t.stop()
""")
        == "1 1 0\n"
    )


def test_work_of_other_libraries_has_no_call(with_fake):
    assert (
        with_fake("""
t = Traced()
t.start()
t.call(7)
fake.fake_launch(8)  # outside of a traced call
record(KERNEL, **t.times(100, 200), correlation=7, name="own")
record(KERNEL, **t.times(300, 400), correlation=8, name="foreign")
trace = t.stop()
print(work(trace)["call"] >= 0)
t.start()
record(KERNEL, **t.times(100, 200), correlation=7, name="of a call in an earlier trace")
print(work(t.stop())["call"] >= 0)
""")
        == "[ True False]\n[False]\n"
    )


def test_the_nodes_of_a_graph_make_a_launch(with_fake):
    assert (
        with_fake("""
t = Traced()
t.start()
t.call(3)
for node, (start, end) in enumerate([(200, 300), (100, 150), (250, 400)], 1):
    record(KERNEL, **t.times(start, end), correlation=3, name="node", graph_node=node)
first = t.part
trace = t.stop()
spans = trace.spans
(launch,) = (spans["kind"] == "graph").nonzero()[0]
nodes = spans[spans["graph"] == launch]
print(len(nodes), spans[launch]["start"] == nodes["start"].min(), spans[launch]["end"] == nodes["end"].max())
print(spans[spans[launch]["call"]]["name"])
""")
        == "3 True True\ncudaMemset\n"
    )


def test_nodes_that_end_later_extend_the_launch_in_a_longer_trace(with_fake):
    assert (
        with_fake("""
t = Traced()
t.start()
outer = t.part
t.start()
t.call(3)
record(KERNEL, **t.times(100, 200), correlation=3, name="node", graph_node=1)
inner = t.stop()
record(KERNEL, **t.times(300, 500), correlation=3, name="node", graph_node=2)
t.part = outer
trace = t.stop()
for one in (inner, trace):
    spans = one.spans
    (launch,) = spans[spans["kind"] == "graph"]
    print(launch["end"] - launch["start"], (spans["graph"] >= 0).sum())
""")
        == "100 1\n400 2\n"
    )


def test_work_without_times_has_not_ended(with_fake):
    assert (
        with_fake("""
t = Traced()
t.start()
record(KERNEL, start=0, end=0, correlation=1, name="endless")
print(len(work(t.stop())))
""")
        == "0\n"
    )


def test_dropped_records_are_counted(with_fake):
    assert (
        with_fake("""
t = Traced()
t.start()
fake.fake_drop(7)
record(KERNEL, **t.times(1, 2), name="kernel")
print(t.stop().dropped)
t.start(most_bytes=250)
for i in range(10):
    record(KERNEL, **t.times(i, i + 1), name="kernel")
trace = t.stop()
print(len(trace), trace.dropped)
""")
        == "7\n2 8\n"
    )


def test_records_of_other_kinds_and_of_newer_versions_are_read(with_fake):
    assert (
        with_fake("""
t = Traced()
t.start()
data = (4).to_bytes(4, "little") + bytes(36)  # a record of a driver call
fake.fake_record(data, len(data))
record(KERNEL, **t.times(1, 2), name="kernel")
print(work(t.stop())["name"])
""")
        == "['kernel']\n"
    )


def test_cupti_is_on_only_while_a_trace_runs(with_fake):
    assert with_fake("""
def state():
    return fake.fake_subscribed(), fake.fake_enabled(KERNEL), fake.fake_callbacks() > 0

t = Traced()
t.calls.memset(0, 0, 4)
print(state())
t.start()
print(state())
outer = t.part
t.start()
t.stop()
print(state())
t.part = outer
t.stop()
print(state(), fake.fake_forced() > 0)
""") == (
        "(0, 0, False)\n(1, 1, True)\n(1, 1, True)\n(0, 0, False) True\n"
    )  # fmt: skip


def test_a_process_without_traces_does_not_load_it(with_fake):
    assert (
        with_fake("""
import cuscope as cs
with cs.Device("host:0"), cs.trace():
    cs.zeros(10).to_host()
print(fake.fake_subscribed(), fake.fake_callbacks())
""")
        == "0 0\n"
    )


def test_another_tool_that_uses_cupti(with_fake):
    assert with_fake("""
refuse("cuptiSubscribe", 39)
t = Traced()
t.start()
t.calls.memset(0, 0, 4)
trace = t.stop()
print(trace.source, len(trace))
print(*trace.notes)
""") == (
        "calls 1\n"
        "another tool (a profiler) uses CUPTI in this process, and CUPTI serves one tool at a time "
        "(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED (39)). Trace without the other tool: it may be torch.profiler, "
        "nsys, ncu, cuda-gdb or compute-sanitizer\n"
    )


def test_a_kind_that_is_refused(with_fake):
    out = with_fake("""
refuse("cuptiActivityEnable", 14)
t = Traced()
t.start()
trace = t.stop()
print(*trace.notes)
print(fake.fake_subscribed(), fake.fake_callbacks())
""")
    assert "refused CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: CUPTI_ERROR_FAKE (14)" in out
    assert out.endswith("\n0 0\n")


@pytest.mark.parametrize(("result", "source"), [(1, "cupti"), (14, "calls")])
def test_calls_that_this_version_of_cupti_does_not_know_are_left_out(with_fake, result, source):
    out = with_fake(f"""
refuse("cuptiEnableCallback", {result})
t = Traced()
t.start()
t.call(1)
trace = t.stop()
print(trace.source, *trace.notes)
""")
    assert out.startswith(source)
    assert ("refused cuptiEnableCallback: CUPTI_ERROR_FAKE (14)" in out) == (source == "calls")


@pytest.mark.skipif(
    importlib.util.find_spec("nvidia") is not None, reason="wheels of NVIDIA are installed here"
)
def test_a_missing_cupti_names_the_package(run_python, tmp_path):
    (tmp_path / "libcupti.so").write_text("no library")
    done = run_python(
        """
                traced = _core.TracedContract("cuda")
        part = traced.start()
        print(traced.stop(part)["problem"])
        """,
        env={"CUSCOPE_CUPTI": str(tmp_path / "libcupti.so"), "CUSCOPE_TRACE_GPU": "1"},
    )
    if "not found" not in done.stdout:
        pytest.skip("the toolkit of this machine has CUPTI")
    assert "pip install" in done.stdout
    assert "CUSCOPE_CUPTI names a file that does not do" in done.stdout


def test_threads_that_call_while_records_come(with_fake):
    assert (
        with_fake("""
import threading
t = Traced()
t.start()
count, threads = 2000, 4

def run(first):
    for i in range(count):
        t.call(first + i)
        record(KERNEL, **t.times(i, i + 1), correlation=first + i, name="kernel")

def deliver():
    while not done.is_set():
        fake.fake_deliver()

done = threading.Event()
delivering = threading.Thread(target=deliver)
delivering.start()
workers = [threading.Thread(target=run, args=(1 + n * count,)) for n in range(threads)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
done.set()
delivering.join()
trace = t.stop()
print(len(work(trace)), trace.dropped)
""")
        == f"{2000 * 4} 0\n"
    )
