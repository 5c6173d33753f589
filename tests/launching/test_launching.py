"""Launches with every option and kernels with every property, as a program uses them."""

from __future__ import annotations

import re

import numpy as np
import pytest

import cuscope as cs
from support import module

SOURCE = r"""
__global__ void add(int* x, int v) { atomicAdd(x, v); }
__global__ void shared(int* x) {
    extern __shared__ int s[];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) x[blockIdx.x] = s[blockDim.x - 1];
}
__global__ void __cluster_dims__(2, 1, 1) paired(int* x) { atomicAdd(x, 1); }
"""
GRID_SYNC = r"""
#include <cooperative_groups.h>
__global__ void ranks(unsigned* x) {
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    if (threadIdx.x == 0) x[blockIdx.x] = blockIdx.x + 1;
    grid.sync();
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        unsigned sum = 0;
        for (unsigned i = 0; i < gridDim.x; ++i) sum += x[i];
        x[gridDim.x] = sum;
    }
}
__global__ void cluster_ranks(unsigned* x) {
    cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    if (threadIdx.x == 0) x[blockIdx.x] = cluster.block_rank() + 100 * cluster.num_blocks();
}
"""


@pytest.fixture
def mod(device):
    return module(device, SOURCE)


def test_cooperative_grid_waits_for_all_its_blocks(device):
    x = cs.zeros(9, np.uint32)
    module(device, GRID_SYNC).ranks.launch(x, grid=8, block=32, cooperative=True)

    assert int(x.to_host()[8]) == sum(range(1, 9))


@pytest.mark.parametrize("cluster", [2, (2,), (2, 1, 1)])
def test_blocks_of_a_cluster_know_its_shape(device, cluster):
    x = cs.zeros(4, np.uint32)
    module(device, GRID_SYNC).cluster_ranks.launch(x, grid=4, block=32, cluster=cluster)

    assert x.to_host().tolist() == [200, 201, 200, 201]


def test_all_attributes_at_once(device, mod):
    x = cs.zeros(1, np.int32)
    done, begun = cs.Event(timing=False), cs.Event(timing=False)
    mod.add.launch(
        x,
        5,
        grid=4,
        block=32,
        cluster=2,
        cluster_scheduling_policy="spread",
        priority=-1,
        programmatic_stream_serialization=True,
        programmatic_event=done,
        trigger_at_block_start=True,
        launch_completion_event=begun,
        mem_sync_domain="remote",
        mem_sync_domain_map=(0, 1),
        access_policy_window=cs.AccessPolicyWindow(x, hit_ratio=0.5),
        preferred_shared_memory_carveout=50,
    )
    done.synchronize()
    begun.synchronize()

    assert int(x.to_host()[0]) == 5 * 128


def test_configured_launch_is_kept_with_its_attributes(device, mod):
    x = cs.zeros(1, np.int32)
    event = cs.Event(timing=False)
    add = mod.add.configure(grid=2, block=32, cluster=2, launch_completion_event=event, priority=-1)
    del event
    for i in range(3):
        add(x, i)

    assert int(x.to_host()[0]) == 3 * 64
    assert "cluster=(2, 1, 1)" in repr(add)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"cluster": 0}, ValueError, "cluster"),
        ({"cluster": (1, 2, 3, 4)}, ValueError, "cluster"),
        ({"cluster": "2"}, TypeError, "cluster"),
        ({"cluster": 3}, cs.CudaError, "cluster"),
        ({"cluster": 16, "grid": 16}, cs.CudaError, "non_portable_cluster_size_allowed"),
        ({"cooperative": True, "grid": 1 << 20}, cs.CudaError, "cudaErrorCooperativeLaunchTooLarge"),
        ({"cluster_scheduling_policy": "wide"}, ValueError, "'spread'"),
        ({"cluster_scheduling_policy": 1}, TypeError, "cluster_scheduling_policy"),
        ({"priority": "high"}, TypeError, "priority"),
        ({"priority": 1 << 40}, ValueError, "priority"),
        ({"programmatic_event": 7}, TypeError, "programmatic_event"),
        ({"launch_completion_event": "x"}, TypeError, "launch_completion_event"),
        ({"mem_sync_domain": "far"}, ValueError, "'remote'"),
        ({"mem_sync_domain_map": 3}, TypeError, "mem_sync_domain_map"),
        ({"mem_sync_domain_map": (0, 1, 2)}, TypeError, "mem_sync_domain_map"),
        ({"mem_sync_domain_map": (0, 300)}, ValueError, "mem_sync_domain_map"),
        ({"mem_sync_domain_map": (0, 200)}, cs.CudaError, "cudaErrorInvalidValue"),
        ({"access_policy_window": (0, 4)}, TypeError, "AccessPolicyWindow"),
        ({"preferred_shared_memory_carveout": 1.5}, TypeError, "preferred_shared_memory_carveout"),
        ({"preferred_shared_memory_carveout": 101}, cs.CudaError, "cudaErrorInvalidValue"),
        ({"no_such_attribute": 1}, TypeError, "no_such_attribute"),
    ],
)
def test_refused_launch_names_the_argument_and_launches_nothing(device, mod, arguments, error, text):
    x = cs.zeros(1, np.int32)
    with pytest.raises(error, match=re.escape(text)):
        mod.add.launch(x, 1, **({"grid": 4, "block": 32} | arguments))

    assert int(x.to_host()[0]) == 0


def test_events_of_launches_have_no_time(device, mod):
    x = cs.zeros(1, np.int32)
    with pytest.raises(ValueError, match=r"timing=False"):
        mod.add.launch(x, 1, grid=1, block=1, programmatic_event=cs.Event())
    closed = cs.Event(timing=False)
    closed.close()
    with pytest.raises(ValueError, match="closed"):
        mod.add.launch(x, 1, grid=1, block=1, launch_completion_event=closed)

    assert int(x.to_host()[0]) == 0


def test_attributes_of_another_device_are_refused(device, mod):
    x = cs.zeros(1, np.int32)
    with cs.add_host_device("h200") as other:
        event, foreign = cs.Event(timing=False), cs.zeros(1, np.int32)
    for arguments in (
        {"programmatic_event": event},
        {"access_policy_window": cs.AccessPolicyWindow(foreign)},
    ):
        with pytest.raises(ValueError, match=other.name):
            mod.add.launch(x, 1, grid=1, block=1, **arguments)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (("x",), TypeError, "array"),
        ((4096,), ValueError, "nbytes"),
        ((4096, -1), ValueError, "nbytes"),
    ],
)
def test_wrong_window_is_refused_with_the_reason(device, arguments, error, text):
    with pytest.raises(error, match=text):
        cs.AccessPolicyWindow(*arguments)


def test_window_is_of_its_array(device):
    x = cs.zeros(16, np.float32)
    window = cs.AccessPolicyWindow(x[4:], 16, hit_ratio=0.25, hit="streaming", miss="normal")

    assert (window.base, window.nbytes) == (x.pointer + 16, 16)
    assert (window.hit_ratio, window.hit, window.miss) == (0.25, "streaming", "normal")
    assert "hit_ratio=0.25" in repr(window)
    for arguments, text in (
        ({"nbytes": 1000}, "nbytes"),
        ({"hit_ratio": 2}, "hit_ratio"),
        ({"hit": "warm"}, "persisting"),
        ({"miss": "persisting"}, "miss"),
    ):
        with pytest.raises(ValueError, match=text):
            cs.AccessPolicyWindow(x, **arguments)


# Kernels


def test_carveout_and_policy_of_a_kernel_are_set_and_checked(device):
    kernel = cs.Module(SOURCE).add
    assert kernel.preferred_shared_memory_carveout == -1
    kernel.preferred_shared_memory_carveout = 100
    kernel.cluster_scheduling_policy = "load_balancing"
    kernel.set_cache_config("prefer_l1")

    assert kernel.attributes.preferred_shared_memory_carveout == 100
    assert kernel.attributes.cluster_scheduling_policy_preference == 2
    assert kernel.cluster_scheduling_policy == "load_balancing"
    with pytest.raises(cs.CudaError, match="cudaErrorInvalidValue"):
        kernel.preferred_shared_memory_carveout = 101
    with pytest.raises(ValueError, match="'spread'"):
        kernel.cluster_scheduling_policy = "none"
    with pytest.raises(ValueError, match="prefer_shared"):
        kernel.set_cache_config("shared")
    assert kernel.preferred_shared_memory_carveout == 100


def test_required_cluster_is_used_by_launches(device):
    mod = cs.Module(GRID_SYNC)
    kernel = mod.cluster_ranks
    assert kernel.required_cluster is None
    kernel.required_cluster = (2, 1, 1)
    assert kernel.required_cluster == (2, 1, 1)
    x = cs.zeros(4, np.uint32)
    kernel[4, 32](x)
    assert x.to_host().tolist() == [200, 201, 200, 201]
    with pytest.raises(ValueError, match="required_cluster"):
        kernel.required_cluster = (0, 1, 1)
    assert kernel.required_cluster == (2, 1, 1)
    kernel.required_cluster = None
    assert kernel.required_cluster is None
    kernel[3, 32](x)
    assert x.to_host().tolist()[:3] == [100, 100, 100]


def test_compiled_cluster_is_fixed(device, mod):
    assert mod.paired.required_cluster == (2, 1, 1)
    assert mod.paired.attributes.cluster_dim_must_be_set == 1
    with pytest.raises(cs.CudaError, match="__cluster_dims__"):
        mod.paired.required_cluster = 4
    assert mod.paired.required_cluster == (2, 1, 1)
    x = cs.zeros(1, np.int32)
    mod.paired[4, 32](x)
    assert int(x.to_host()[0]) == 128


def test_larger_clusters_have_to_be_allowed(device):
    mod = cs.Module(GRID_SYNC)
    kernel = mod.cluster_ranks
    x = cs.zeros(16, np.uint32)
    assert not kernel.non_portable_cluster_size_allowed
    assert kernel.max_cluster_size(32) == 8
    kernel.non_portable_cluster_size_allowed = True
    assert kernel.non_portable_cluster_size_allowed
    assert kernel.max_cluster_size(32) == 16
    kernel.launch(x, grid=16, block=32, cluster=16)

    assert x.to_host().tolist() == [1600 + i for i in range(16)]


def test_shared_memory_beyond_48_kib_is_asked_for(device):
    kernel = cs.Module(SOURCE).shared
    x = cs.zeros(1, np.int32)
    most = device.properties.shared_memory_per_block_optin
    with pytest.raises(cs.CudaError, match=r"kernel\.max_dynamic_shared = 102400"):
        kernel[1, 32, None, 100 << 10](x)
    with pytest.raises(cs.CudaError, match=str(most)):
        kernel.max_dynamic_shared = most + 1
    with pytest.raises(cs.CudaError, match=str(most)):
        kernel[1, 32, None, most + 1](x)
    kernel.max_dynamic_shared = most
    kernel[1, 32, None, most](x)

    assert int(x.to_host()[0]) == 31


def test_best_block_size_with_shared_memory_of_the_block(device):
    kernel = cs.Module(SOURCE).shared
    seen = []

    def shared_bytes(block):
        seen.append(block)
        return 100 * block

    grid, block = kernel.best_block_size(shared_bytes)
    best = max(kernel.occupancy(b, 100 * b) * b for b in range(32, 1025, 32))

    assert kernel.occupancy(block, 100 * block) * block == best
    assert grid == kernel.occupancy(block, 100 * block) * device.properties.multiprocessor_count
    assert seen[0] == 1024
    assert kernel.best_block_size(lambda b: 0, limit=128)[1] <= 128
    assert kernel.best_block_size(lambda b: 0) == kernel.best_block_size()


def test_exception_of_the_shared_memory_function_is_raised(device, mod):
    def fails(_block):
        raise RuntimeError("no idea")

    with pytest.raises(RuntimeError, match="no idea"):
        mod.shared.best_block_size(fails)
    with pytest.raises(TypeError, match="shared"):
        mod.shared.best_block_size(lambda b: "4")
    with pytest.raises(TypeError, match="shared"):
        mod.shared.best_block_size("4")


def test_available_shared_memory_is_the_allowed_size_or_a_fair_share(device, mod):
    whole = device.properties.shared_memory_per_multiprocessor
    for blocks in (1, 2, 3, 4, 5, 8):
        available = mod.shared.available_shared(256, blocks)
        assert available <= mod.shared.max_dynamic_shared
        assert available == mod.shared.max_dynamic_shared or available * (blocks + 1) > whole
    with pytest.raises(cs.CudaError, match="cudaErrorInvalidValue"):
        mod.shared.available_shared(256, 9)


def test_fewer_large_clusters_are_active_than_small_ones(device, mod):
    assert mod.add.max_active_clusters(2, 1024) >= 1
    assert mod.add.max_active_clusters(1, 1024) >= mod.add.max_active_clusters(4, 1024)
    with pytest.raises((cs.CudaError, ValueError)):
        mod.add.max_active_clusters(64, 1024)
    with pytest.raises(TypeError, match="cluster"):
        mod.add.max_active_clusters("2", 1024)


# Streams and devices


def test_attributes_of_a_stream_are_read_back(device):
    stream = cs.Stream(priority=-1)
    x = cs.zeros(16)
    assert (stream.synchronization_policy, stream.mem_sync_domain) == ("auto", "default")
    assert stream.mem_sync_domain_map == (0, 1)
    assert stream.access_policy_window is None
    stream.priority = -2
    stream.synchronization_policy = "blocking_sync"
    stream.mem_sync_domain = "remote"
    stream.mem_sync_domain_map = (1, 2)
    stream.access_policy_window = cs.AccessPolicyWindow(x, hit_ratio=0.5)
    other = cs.Stream()
    other.copy_attributes(stream)

    for s in (stream, other):
        assert s.synchronization_policy == "blocking_sync"
        assert s.mem_sync_domain == "remote"
        assert s.mem_sync_domain_map == (1, 2)
    assert stream.priority == -2
    assert (stream.access_policy_window.base, stream.access_policy_window.nbytes) == (x.pointer, 64)
    stream.access_policy_window = None
    assert stream.access_policy_window is None


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("priority", "x", TypeError),
        ("synchronization_policy", "wait", ValueError),
        ("synchronization_policy", 1, TypeError),
        ("mem_sync_domain", "far", ValueError),
        ("mem_sync_domain_map", (0,), TypeError),
        ("mem_sync_domain_map", (0, 99), cs.CudaError),
        ("access_policy_window", 5, TypeError),
    ],
)
def test_wrong_attribute_of_a_stream_is_refused(device, name, value, error):
    stream = cs.Stream()
    before = getattr(stream, name)
    with pytest.raises(error):
        setattr(stream, name, value)
    assert getattr(stream, name) == before


def test_closed_stream_has_no_attributes_to_set(device):
    stream = cs.Stream(priority=-1)
    stream.close()
    assert stream.priority == -1
    with pytest.raises(ValueError, match="closed"):
        stream.priority = 0


def test_limits_have_names(device):
    for name in ("stack_size", "printf_fifo_size", "malloc_heap_size", "dev_runtime_pending_launch_count",
                 "max_l2_fetch_granularity", "persisting_l2_cache_size"):  # fmt: skip
        assert device.limit(name) >= 0
    with pytest.raises(cs.CudaError, match="cudaErrorUnsupportedLimit"):
        device.limit("dev_runtime_sync_depth")
    with pytest.raises(ValueError, match="persisting_l2_cache_size"):
        device.limit("heap")
    before = device.limit("persisting_l2_cache_size")
    device.set_limit("persisting_l2_cache_size", 1 << 20)
    assert device.limit("persisting_l2_cache_size") >= 1 << 20
    device.set_limit("persisting_l2_cache_size", before)
    assert device.limit("persisting_l2_cache_size") == before
    device.reset_persisting_l2_cache()


# The heap of kernels

HEAP = r"""
__global__ void allocate(int** list, unsigned bytes, int* failed) {
    list[threadIdx.x] = (int*)malloc(bytes);
    if (list[threadIdx.x] == nullptr) atomicAdd(failed, 1);
    else *list[threadIdx.x] = threadIdx.x;
}
__global__ void collect(int** list, int* out) {
    out[threadIdx.x] = list[threadIdx.x] ? *list[threadIdx.x] : -1;
    free(list[threadIdx.x]);
}
"""


def test_memory_that_one_kernel_allocates_is_freed_by_another(device):
    mod = module(device, HEAP)
    addresses, out, failed = cs.zeros(64, np.uint64), cs.zeros(64, np.int32), cs.zeros(1, np.int32)
    for _ in range(3):
        mod.allocate[1, 64](addresses, 100, failed)
        mod.collect[1, 64](addresses, out)

        assert out.to_host().tolist() == list(range(64))
    assert int(failed.to_host()[0]) == 0
    assert len(set(addresses.to_host().tolist())) == 64


def test_full_heap_gives_null(device):
    mod = module(device, HEAP)
    addresses, out, failed = cs.zeros(64, np.uint64), cs.zeros(64, np.int32), cs.zeros(1, np.int32)
    mod.allocate[1, 64](addresses, device.limit("malloc_heap_size") // 4, failed)
    mod.collect[1, 64](addresses, out)

    got = out.to_host()
    assert 60 <= int(failed.to_host()[0]) <= 64
    assert int((got == -1).sum()) == int(failed.to_host()[0])


def test_functions_of_the_source_called_free_are_its_own(device):
    mod = cs.Module(
        """
        struct Node { int value; };
        __device__ void free(Node* node, int value) { node->value = value; }
        struct Pool { int free; __device__ int take(int n) { return free - n; } };
        __global__ void own(Node* node) { free(node, 5); Pool pool{9}; node[1].value = pool.take(2); }
        """
    )
    x = cs.zeros(2, np.dtype([("value", "i4")]))
    mod.own[1, 1](x)

    assert [int(v) for v in x.to_host()["value"]] == [5, 7]


@pytest.mark.host_only("on a GPU, freeing memory that malloc() did not return has an undefined effect")
@pytest.mark.subprocess
def test_freeing_memory_that_was_not_allocated_is_an_error(run_python):
    done = run_python(
        '''
        import cuscope as cs
        mod = cs.Module("""
        __global__ void wrong(int* p) { free(p); }
        """)
        x = cs.zeros(1, "i4")
        mod.wrong[1, 1](x)
        try:
            cs.synchronize()
        except cs.CudaError as error:
            print(error)
        '''
    )
    assert "free()" in done.stdout, done.stderr
    assert "kernel.cu:2" in done.stdout


FAULT = """
import numpy as np, cuscope as cs
bad = cs.Module("__global__ void bad(int* p) { p[1LL << 40] = 1; }").bad
x, stream = cs.zeros(1, np.int32), cs.Stream()
if GRAPH:
    with stream.capture() as graph:
        bad[1, 1](x)
    exe = graph.instantiate()
try:
    exe.launch(stream) if GRAPH else bad[1, 1](x)
    print("no error")
except cs.CudaError as error:
    print(error.name)
"""


@pytest.mark.parametrize("graph", [False, True], ids=["kernel", "graph"])
def test_a_blocking_launch_raises_the_error_of_its_kernel(run_python, device, graph):
    done = run_python(f"GRAPH = {graph}\n{FAULT}", env={"CUDA_LAUNCH_BLOCKING": "1"})

    assert done.returncode == 0, done.stderr
    assert done.stdout == "cudaErrorIllegalAddress\n"
