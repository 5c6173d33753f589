"""The contract's launch attributes, function attributes, occupancy and limits, answer by answer on both runtimes.

Each test collects many answers and compares the whole list at once. If a runtime differs, the message shows all
differences.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator

import pytest

SOURCE = r"""
__global__ void plain(int* p) { extern __shared__ int s[]; if (p) { s[threadIdx.x] = 1; *p = s[0]; } }
__global__ void __cluster_dims__(2, 1, 1) paired(int* p) { if (p) *p = 1; }
__global__ void __launch_bounds__(256) bounded(int* p) { __shared__ int s[1024]; if (p) { s[threadIdx.x] = 1; *p = s[0]; } }
"""
NULL = bytes(8)
(
    ACCESS_WINDOW, COOPERATIVE, SYNC_POLICY, CLUSTER, SCHEDULING, SERIALIZATION, EVENT, PRIORITY, DOMAIN_MAP, DOMAIN,
    PREFERRED_CLUSTER, COMPLETION_EVENT, UPDATABLE, CARVEOUT, RESERVED, NVLINK,
) = range(1, 17)  # fmt: skip
NO_TIMING = 2
OK, INVALID = "cudaSuccess", "cudaErrorInvalidValue"


class Kernels:
    def __init__(self, contract):
        self.c = contract
        status, image, names, log = contract.compile(SOURCE)
        assert status == OK, log
        status, self.library = contract.library_load_data(image)
        assert status == OK
        self.by_name = {n: contract.library_get_kernel(self.library, lowered)[1] for n, lowered in names}

    def launch(self, *attributes, kernel="plain", grid=4, block=32, **more) -> str:
        status = self.c.launch_kernel(
            self.by_name[kernel], grid, block, [NULL], attributes=list(attributes), **more
        )
        self.c.get_last_error()
        return status


@pytest.fixture
def kernels(contract):
    made = Kernels(contract)
    yield made
    assert contract.device_synchronize() == OK
    contract.library_unload(made.library)


def check(answers: list, expected: str) -> None:
    """The answers as text, so that a failed comparison shows every line."""
    written = "\n".join(
        f"{label} {' '.join(str(v) for v in (values if isinstance(values, tuple) else (values,)))}"
        for label, values in answers
    )
    compare(written.splitlines(), expected)


def compare(lines: list[str], expected: str) -> None:
    wanted = [line.strip() for line in expected.strip().splitlines()]
    if lines != wanted:
        difference = difflib.ndiff(wanted, lines)
        pytest.fail("\n".join(line for line in difference if line[0] in "+-"), pytrace=False)


def test_attributes_of_launches_are_answered_as_by_a_gpu(kernels):
    launch, c = kernels.launch, kernels.c
    _, event = c.event_create_with_flags(NO_TIMING)
    _, timed = c.event_create_with_flags(0)
    _, base = c.malloc(4096)

    def window(nbytes=4096, ratio=0.5, hit=2, miss=1, address=base):
        return {
            "id": ACCESS_WINDOW,
            "base": address,
            "bytes": nbytes,
            "hit_ratio": ratio,
            "hit": hit,
            "miss": miss,
        }

    answers = [
        ("ignore", launch({"id": 0})),
        ("unknown", launch({"id": 99})),
        ("window", launch(window())),
        ("window_none", launch(window(0, 0.0, 0, 0, 0))),
        ("window_large", launch(window(1 << 40))),
        ("window_ratio", launch(window(ratio=1.5))),
        ("window_negative_ratio", launch(window(ratio=-0.5))),
        ("window_hit", launch(window(hit=3))),
        ("window_miss", launch(window(miss=2))),
        ("cooperative", launch({"id": COOPERATIVE, "value": 1})),
        ("cooperative_too_large", launch({"id": COOPERATIVE, "value": 1}, grid=1 << 20)),
        ("sync_policy", launch({"id": SYNC_POLICY, "value": 2})),
        ("cluster", launch({"id": CLUSTER, "cluster": 2})),
        ("cluster_not_dividing", launch({"id": CLUSTER, "cluster": 3})),
        ("cluster_of_16", launch({"id": CLUSTER, "cluster": 16}, grid=16)),
        ("cluster_zero", launch({"id": CLUSTER, "cluster": (0, 1, 1)})),
        ("cluster_as_compiled", launch({"id": CLUSTER, "cluster": 2}, kernel="paired")),
        ("cluster_not_as_compiled", launch({"id": CLUSTER, "cluster": 4}, kernel="paired")),
        ("grid_not_of_compiled", launch(kernel="paired", grid=3)),
        ("scheduling", launch({"id": CLUSTER, "cluster": 2}, {"id": SCHEDULING, "value": 1})),
        ("scheduling_bad", launch({"id": CLUSTER, "cluster": 2}, {"id": SCHEDULING, "value": 3})),
        ("serialization", launch({"id": SERIALIZATION, "value": 1})),
        ("event", launch({"id": EVENT, "event": event})),
        ("event_at_start", launch({"id": EVENT, "event": event, "at_block_start": True})),
        ("event_timed", launch({"id": EVENT, "event": timed})),
        ("event_flags", launch({"id": EVENT, "event": event, "event_flags": 1})),
        ("event_null", launch({"id": EVENT})),
        ("priority", launch({"id": PRIORITY, "value": -1})),
        ("priority_beyond", launch({"id": PRIORITY, "value": -100})),
        ("priority_below", launch({"id": PRIORITY, "value": 100})),
        ("domain_map", launch({"id": DOMAIN_MAP, "default_domain": 0, "remote_domain": 3})),
        ("domain_map_beyond", launch({"id": DOMAIN_MAP, "default_domain": 0, "remote_domain": 4})),
        ("domain", launch({"id": DOMAIN, "value": 1})),
        ("domain_bad", launch({"id": DOMAIN, "value": 2})),
        ("completion_event", launch({"id": COMPLETION_EVENT, "event": event})),
        ("completion_event_timed", launch({"id": COMPLETION_EVENT, "event": timed})),
        ("completion_event_null", launch({"id": COMPLETION_EVENT})),
        ("updatable", launch({"id": UPDATABLE, "value": 1})),
        ("carveout", launch({"id": CARVEOUT, "value": 50})),
        ("carveout_default", launch({"id": CARVEOUT, "value": -1})),
        ("carveout_bad", launch({"id": CARVEOUT, "value": 101})),
        ("nvlink", launch({"id": NVLINK, "value": 1})),
        ("nvlink_bad", launch({"id": NVLINK, "value": 2})),
        (
            "preferred_not_dividing",
            launch({"id": CLUSTER, "cluster": 2}, {"id": PREFERRED_CLUSTER, "cluster": 3}),
        ),
        ("preferred_alone", launch({"id": PREFERRED_CLUSTER, "cluster": 2})),
        ("preferred", launch({"id": CLUSTER, "cluster": 2}, {"id": PREFERRED_CLUSTER, "cluster": 4})),
        ("twice", launch({"id": CLUSTER, "cluster": 3}, {"id": CLUSTER, "cluster": 2})),
    ]
    check(
        answers,
        """
        ignore cudaSuccess
        unknown cudaErrorInvalidValue
        window cudaSuccess
        window_none cudaSuccess
        window_large cudaErrorInvalidValue
        window_ratio cudaErrorInvalidValue
        window_negative_ratio cudaErrorInvalidValue
        window_hit cudaSuccess
        window_miss cudaErrorInvalidValue
        cooperative cudaSuccess
        cooperative_too_large cudaErrorCooperativeLaunchTooLarge
        sync_policy cudaErrorInvalidValue
        cluster cudaSuccess
        cluster_not_dividing cudaErrorInvalidClusterSize
        cluster_of_16 cudaErrorInvalidClusterSize
        cluster_zero cudaErrorInvalidClusterSize
        cluster_as_compiled cudaSuccess
        cluster_not_as_compiled cudaErrorInvalidClusterSize
        grid_not_of_compiled cudaErrorInvalidClusterSize
        scheduling cudaSuccess
        scheduling_bad cudaErrorInvalidValue
        serialization cudaSuccess
        event cudaSuccess
        event_at_start cudaSuccess
        event_timed cudaErrorNotSupported
        event_flags cudaErrorIllegalState
        event_null cudaErrorInvalidResourceHandle
        priority cudaSuccess
        priority_beyond cudaSuccess
        priority_below cudaSuccess
        domain_map cudaSuccess
        domain_map_beyond cudaErrorInvalidValue
        domain cudaSuccess
        domain_bad cudaErrorInvalidValue
        completion_event cudaSuccess
        completion_event_timed cudaErrorNotSupported
        completion_event_null cudaErrorInvalidResourceHandle
        updatable cudaErrorNotSupported
        carveout cudaSuccess
        carveout_default cudaErrorInvalidValue
        carveout_bad cudaErrorInvalidValue
        nvlink cudaSuccess
        nvlink_bad cudaErrorInvalidValue
        preferred_not_dividing cudaErrorInvalidClusterSize
        preferred_alone cudaErrorInvalidClusterSize
        preferred cudaSuccess
        twice cudaSuccess
        """,
    )
    c.device_synchronize()
    c.event_destroy(event)
    c.event_destroy(timed)
    c.free(base)


def test_attributes_of_streams_are_answered_as_by_a_gpu(contract):
    c = contract
    _, stream = c.stream_create_with_priority(0, -1)
    _, other = c.stream_create_with_priority(0, 0)
    _, base = c.malloc(4096)

    def put(attribute, **values) -> str:
        status = c.stream_set_attribute(stream, attribute, values)
        c.get_last_error()
        return status

    def get(attribute, of=None) -> str:
        status, values = c.stream_get_attribute(of or stream, attribute)
        c.get_last_error()
        values = {k: v - base if k == "base" and v else v for k, v in values.items()}
        return status if status != OK else json.dumps(values)

    answers = [
        ("priority", get(PRIORITY)),
        ("priority_set", put(PRIORITY, value=-2)),
        ("priority_now", get(PRIORITY)),
        ("priority_call", c.stream_get_priority(stream)[1]),
        ("priority_beyond", put(PRIORITY, value=-100)),
        ("priority_clamped", get(PRIORITY)),
        ("policy", get(SYNC_POLICY)),
        ("policy_set", put(SYNC_POLICY, value=4)),
        ("policy_now", get(SYNC_POLICY)),
        ("policy_bad", put(SYNC_POLICY, value=5)),
        ("policy_zero", put(SYNC_POLICY, value=0)),
        ("domain", get(DOMAIN)),
        ("domain_set", put(DOMAIN, value=1)),
        ("domain_now", get(DOMAIN)),
        ("domain_bad", put(DOMAIN, value=7)),
        ("map", get(DOMAIN_MAP)),
        ("map_set", put(DOMAIN_MAP, default_domain=1, remote_domain=2)),
        ("map_now", get(DOMAIN_MAP)),
        ("map_bad", put(DOMAIN_MAP, default_domain=1, remote_domain=9)),
        ("window", get(ACCESS_WINDOW)),
        ("window_set", put(ACCESS_WINDOW, base=base, bytes=4096, hit_ratio=0.5, hit=2, miss=1)),
        ("window_now", get(ACCESS_WINDOW)),
        ("window_bad", put(ACCESS_WINDOW, base=base, bytes=4096, hit_ratio=2.0, hit=2, miss=1)),
        ("window_still", get(ACCESS_WINDOW)),
        ("cooperative", put(COOPERATIVE, value=1)),
        ("cooperative_get", get(COOPERATIVE)),
        ("unknown", put(99)),
        ("unknown_get", get(99)),
        ("copy", c.stream_copy_attributes(other, stream)),
        ("copied_policy", get(SYNC_POLICY, other)),
        ("copied_domain", get(DOMAIN, other)),
        ("copied_priority", get(PRIORITY, other)),
        ("reset_persisting", c.ctx_reset_persisting_l2_cache()),
    ]
    check(
        answers,
        """
        priority {"value": -1}
        priority_set cudaSuccess
        priority_now {"value": -2}
        priority_call -2
        priority_beyond cudaSuccess
        priority_clamped {"value": -5}
        policy {"value": -1}
        policy_set cudaSuccess
        policy_now {"value": 4}
        policy_bad cudaErrorInvalidValue
        policy_zero cudaErrorInvalidValue
        domain {"value": 0}
        domain_set cudaSuccess
        domain_now {"value": 1}
        domain_bad cudaErrorInvalidValue
        map {"default_domain": 0, "remote_domain": 1}
        map_set cudaSuccess
        map_now {"default_domain": 1, "remote_domain": 2}
        map_bad cudaErrorInvalidValue
        window {"base": 0, "bytes": 0, "hit_ratio": 0.0, "hit": 0, "miss": 0}
        window_set cudaSuccess
        window_now {"base": 0, "bytes": 4096, "hit_ratio": 0.5, "hit": 2, "miss": 1}
        window_bad cudaErrorInvalidValue
        window_still {"base": 0, "bytes": 4096, "hit_ratio": 0.5, "hit": 2, "miss": 1}
        cooperative cudaErrorInvalidValue
        cooperative_get cudaErrorInvalidValue
        unknown cudaErrorInvalidValue
        unknown_get cudaErrorInvalidValue
        copy cudaSuccess
        copied_policy {"value": 4}
        copied_domain {"value": 1}
        copied_priority {"value": -5}
        reset_persisting cudaSuccess
        """,
    )
    c.stream_destroy(stream)
    c.stream_destroy(other)
    c.free(base)


MAX_DYNAMIC, CARVEOUT_OF, MUST_BE_SET, WIDTH, HEIGHT, DEPTH, NON_PORTABLE, POLICY = range(8, 16)


def test_attributes_of_functions_are_answered_as_by_a_gpu(kernels):
    c = kernels.c

    def put(attribute, value, kernel="plain") -> str:
        status = c.func_set_attribute(kernels.by_name[kernel], attribute, value)
        c.get_last_error()
        return status

    def get(*names, kernel="plain"):
        status, attributes = c.func_get_attributes(kernels.by_name[kernel])
        return tuple(getattr(attributes, n) for n in names) if status == OK else status

    cluster = ("required_cluster_width", "required_cluster_height", "required_cluster_depth")
    answers = [
        ("carveout", get("preferred_shared_memory_carveout")),
        ("carveout_set", put(CARVEOUT_OF, 40)),
        ("carveout_now", get("preferred_shared_memory_carveout")),
        ("carveout_default", put(CARVEOUT_OF, -1)),
        ("carveout_bad", put(CARVEOUT_OF, 101)),
        ("carveout_below", put(CARVEOUT_OF, -2)),
        ("cluster", get("cluster_dim_must_be_set", *cluster)),
        ("cluster_compiled", get("cluster_dim_must_be_set", *cluster, kernel="paired")),
        ("cluster_compiled_set", put(WIDTH, 4, "paired")),
        ("must_be_set", put(MUST_BE_SET, 1, "bounded")),
        ("width", put(WIDTH, 2)),
        ("height", put(HEIGHT, 1)),
        ("depth", put(DEPTH, 1)),
        ("cluster_now", get(*cluster)),
        ("width_negative", put(WIDTH, -1)),
        ("launch", kernels.launch()),
        ("launch_same", kernels.launch({"id": CLUSTER, "cluster": 2})),
        ("launch_other", kernels.launch({"id": CLUSTER, "cluster": 4})),
        ("launch_odd_grid", kernels.launch(grid=3)),
        ("width_zero", put(WIDTH, 0)),
        ("height_zero", put(HEIGHT, 0)),
        ("depth_zero", put(DEPTH, 0)),
        ("launch_again", kernels.launch(grid=3)),
        ("policy", get("cluster_scheduling_policy_preference")),
        ("policy_set", put(POLICY, 2)),
        ("policy_now", get("cluster_scheduling_policy_preference")),
        ("policy_bad", put(POLICY, 3)),
        ("non_portable", get("non_portable_cluster_size_allowed")),
        ("non_portable_set", put(NON_PORTABLE, 1)),
        ("non_portable_now", get("non_portable_cluster_size_allowed")),
        ("non_portable_launch", kernels.launch({"id": CLUSTER, "cluster": 16}, grid=16)),
        ("non_portable_17", kernels.launch({"id": CLUSTER, "cluster": 17}, grid=17)),
        ("non_portable_bad", put(NON_PORTABLE, 2)),
        ("unknown", put(99, 1)),
        ("cache_config", c.func_set_cache_config(kernels.by_name["plain"], 1)),
        ("cache_config_bad", c.func_set_cache_config(kernels.by_name["plain"], 9)),
        ("static", get("shared_size", "max_dynamic_shared_size", kernel="bounded")),
        ("static_optin", put(MAX_DYNAMIC, (227 << 10) - 4096, "bounded")),
        ("static_optin_too_big", put(MAX_DYNAMIC, (227 << 10) - 4095, "bounded")),
        ("cache_mode", get("cache_mode_ca")),
    ]
    c.get_last_error()
    check(
        answers,
        """
        carveout -1
        carveout_set cudaSuccess
        carveout_now 40
        carveout_default cudaSuccess
        carveout_bad cudaErrorInvalidValue
        carveout_below cudaErrorInvalidValue
        cluster 0 0 0 0
        cluster_compiled 1 2 1 1
        cluster_compiled_set cudaErrorInvalidValue
        must_be_set cudaErrorInvalidValue
        width cudaSuccess
        height cudaSuccess
        depth cudaSuccess
        cluster_now 2 1 1
        width_negative cudaErrorInvalidValue
        launch cudaSuccess
        launch_same cudaSuccess
        launch_other cudaErrorInvalidClusterSize
        launch_odd_grid cudaErrorInvalidClusterSize
        width_zero cudaSuccess
        height_zero cudaSuccess
        depth_zero cudaSuccess
        launch_again cudaSuccess
        policy 0
        policy_set cudaSuccess
        policy_now 2
        policy_bad cudaErrorInvalidValue
        non_portable 0
        non_portable_set cudaSuccess
        non_portable_now 1
        non_portable_launch cudaSuccess
        non_portable_17 cudaErrorInvalidClusterSize
        non_portable_bad cudaSuccess
        unknown cudaErrorInvalidValue
        cache_config cudaSuccess
        cache_config_bad cudaErrorInvalidValue
        static 4096 45056
        static_optin cudaSuccess
        static_optin_too_big cudaErrorInvalidValue
        cache_mode 0
        """,
    )


def test_occupancy_is_answered_as_by_a_gpu(kernels):
    c = kernels.c
    plain, bounded = kernels.by_name["plain"], kernels.by_name["bounded"]

    def asked(answer: tuple):
        c.get_last_error()
        return answer if answer[0] == OK else answer[0]

    with_flags = c.occupancy_max_active_blocks_per_multiprocessor_with_flags
    available = c.occupancy_available_dynamic_smem_per_block
    clusters, potential = c.occupancy_max_active_clusters, c.occupancy_max_potential_cluster_size
    answers = [
        ("flags_0", asked(with_flags(plain, 256, 0, 0))),
        ("flags_1", asked(with_flags(plain, 256, 0, 1))),
        ("flags_2", asked(with_flags(plain, 256, 0, 2))),
        ("block_0", asked(with_flags(plain, 0, 0, 0))),
        ("block_1025", asked(with_flags(plain, 1025, 0, 0))),
        ("block_512_of_256", asked(with_flags(bounded, 512, 0, 0))),
        ("shared_48k", asked(with_flags(plain, 128, 48 << 10, 0))),
        ("shared_100k", asked(with_flags(plain, 128, 100 << 10, 0))),
        ("shared_227k", asked(with_flags(plain, 128, 227 << 10, 0))),
        ("shared_228k", asked(with_flags(plain, 128, 228 << 10, 0))),
        ("available_1", asked(available(plain, 1, 256))),
        ("available_2", asked(available(plain, 2, 256))),
        ("available_3", asked(available(plain, 3, 256))),
        ("available_5", asked(available(plain, 5, 256))),
        ("available_8", asked(available(plain, 8, 256))),
        ("available_9", asked(available(plain, 9, 256))),
        ("available_0", asked(available(plain, 0, 256))),
        ("available_static", asked(available(bounded, 4, 256))),
        ("clusters_2", asked(clusters(plain, 132, 1024, 0, 2))),
        ("clusters_4_whole", asked(clusters(plain, 16, 1024, 100 << 10, 4))),
        ("clusters_2_whole", asked(clusters(bounded, 132, 256, 40 << 10, 2))),
        ("clusters_16", asked(clusters(plain, 16, 128, 0, 16))),
        ("clusters_bad", asked(clusters(plain, 16, 128, 0, 3))),
        ("clusters_none", asked(clusters(plain, 16, 128, 0))),
        ("potential", asked(potential(plain, 16, 128))),
        ("potential_non_portable_set", c.func_set_attribute(plain, NON_PORTABLE, 1)),
        ("potential_non_portable", asked(potential(plain, 16, 128))),
        ("clusters_16_allowed", asked(clusters(plain, 16, 1024, 0, 16))),
    ]
    check(
        answers,
        """
        flags_0 cudaSuccess 8
        flags_1 cudaSuccess 8
        flags_2 cudaErrorInvalidValue
        block_0 cudaErrorInvalidValue
        block_1025 cudaSuccess 0
        block_512_of_256 cudaSuccess 4
        shared_48k cudaSuccess 4
        shared_100k cudaSuccess 0
        shared_227k cudaSuccess 0
        shared_228k cudaSuccess 0
        available_1 cudaSuccess 49152
        available_2 cudaSuccess 49152
        available_3 cudaSuccess 49152
        available_5 cudaSuccess 46592
        available_8 cudaSuccess 29184
        available_9 cudaErrorInvalidValue
        available_0 cudaErrorInvalidValue
        available_static cudaSuccess 45056
        clusters_2 cudaSuccess 132
        clusters_4_whole cudaSuccess 0
        clusters_2_whole cudaSuccess 330
        clusters_16 cudaErrorInvalidClusterSize
        clusters_bad cudaErrorInvalidClusterSize
        clusters_none cudaSuccess 0
        potential cudaSuccess 8
        potential_non_portable_set cudaSuccess
        potential_non_portable cudaSuccess 16
        clusters_16_allowed cudaSuccess 14
        """,
    )


@pytest.mark.subprocess
def test_limits_are_answered_as_by_a_gpu(run_python, device):
    """In a process of its own, because limits cannot be reset."""
    done = run_python(
        """
        import sys
        from cuscope import _core
        import os
        c = _core.contract(os.environ["CUSCOPE_DEVICE"])

        def get(limit):
            status, value = c.device_get_limit(limit)
            c.get_last_error()
            return value if status == "cudaSuccess" else status

        def put(limit, value):
            status = c.device_set_limit(limit, value)
            c.get_last_error()
            return f"{status} {get(limit)}"

        for limit in range(-1, 8):
            print("limit", limit, get(limit))
        for value in (0, 1, 1000, 1030, 5000, 20_000, 1 << 30, 1024):
            print("stack", value, put(0, value))
        for value in (0, 1, 1 << 20, 10_000_000, 10_000_001, 1 << 50):
            print("fifo", value, put(1, value))
        for value in (0, 1, 1 << 20, 5_000_000, 16_000_001):
            print("heap", value, put(2, value))
        for value in (0, 1, 5):
            print("depth", value, put(3, value))
        for value in (0, 1, 100, 4096):
            print("pending", value, put(4, value))
        for value in (0, 32, 33, 100, 128, 129, 1 << 20):
            print("granularity", value, put(5, value))
        print("persisting_most", c.device_get_attribute(108, 0))
        print("window_most", c.device_get_attribute(109, 0))
        print("domains", c.device_get_attribute(126, 0))
        for value in (0, 1, 1 << 20, 10_000_001, 1 << 25, 1 << 26, 1 << 40):
            print("persisting", value, put(6, value))
        print("unknown", put(7, 1), put(-1, 1))

        def load(name, source):
            status, image, names, log = c.compile(source)
            assert status == "cudaSuccess", log
            _, library = c.library_load_data(image)
            return c.library_get_kernel(library, dict(names)[name])[1]

        print("fifo_before", put(1, 2 << 20))
        kernel = load("prints", '__global__ void prints() { printf("x\\\\n"); }')
        print("fifo_loaded", put(1, 3 << 20))
        print("launch", c.launch_kernel(kernel, 1, 1), c.device_synchronize())
        print("fifo_after", put(1, 4 << 20))
        _, out = c.malloc(8)
        kernel = load(
            "allocates",
            "__global__ void allocates(int** out) { *out = (int*)malloc(16); **out = 7; free(*out); }",
        )
        print("heap_loaded", put(2, 32 << 20))
        print("launch", c.launch_kernel(kernel, 1, 1, [out.to_bytes(8, "little")]), c.device_synchronize())
        print("heap_after", put(2, 64 << 20))
        print("stack_after", put(0, 2048))
        """
    )
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line != "x"]
    # A sixteenth of the second-level cache: 3,932,160 bytes on an H200, 3,276,800 on an H100.
    unit = 3_932_160 if device.simulated else device.properties.l2_cache_size // 16
    answers = LIMITS.format(usual=3 * unit, most=10 * unit, persisting="\n".join(persisting_limits(unit)))
    compare(lines, answers)


def persisting_limits(unit: int) -> Iterator[str]:
    """The answer after the limit is set to each number: it is rounded up to units, of which there are ten."""
    now = 0
    for value in (0, 1, 1 << 20, 10_000_001, 1 << 25, 1 << 26, 1 << 40):
        fits = value <= 10 * unit
        now = -(-value // unit) * unit if fits else now
        yield f"persisting {value} {'cudaSuccess' if fits else 'cudaErrorInvalidValue'} {now}"


LIMITS = """
limit -1 cudaErrorInvalidValue
limit 0 1024
limit 1 8650752
limit 2 8388608
limit 3 cudaErrorUnsupportedLimit
limit 4 2048
limit 5 64
limit 6 {usual}
limit 7 232448
stack 0 cudaSuccess 0
stack 1 cudaSuccess 16
stack 1000 cudaSuccess 1008
stack 1030 cudaSuccess 1040
stack 5000 cudaSuccess 5008
stack 20000 cudaSuccess 20000
stack 1073741824 cudaErrorInvalidValue 20000
stack 1024 cudaSuccess 1024
fifo 0 cudaSuccess 524288
fifo 1 cudaSuccess 524288
fifo 1048576 cudaSuccess 1048576
fifo 10000000 cudaSuccess 10000128
fifo 10000001 cudaSuccess 10000128
fifo 1125899906842624 cudaSuccess 2147483648
heap 0 cudaSuccess 4194304
heap 1 cudaSuccess 4194304
heap 1048576 cudaSuccess 4194304
heap 5000000 cudaSuccess 5046272
heap 16000001 cudaSuccess 16056320
depth 0 cudaErrorUnsupportedLimit cudaErrorUnsupportedLimit
depth 1 cudaErrorUnsupportedLimit cudaErrorUnsupportedLimit
depth 5 cudaErrorUnsupportedLimit cudaErrorUnsupportedLimit
pending 0 cudaSuccess 32
pending 1 cudaSuccess 32
pending 100 cudaSuccess 100
pending 4096 cudaSuccess 4096
granularity 0 cudaSuccess 0
granularity 32 cudaSuccess 32
granularity 33 cudaSuccess 33
granularity 100 cudaSuccess 100
granularity 128 cudaSuccess 128
granularity 129 cudaErrorInvalidValue 128
granularity 1048576 cudaErrorInvalidValue 128
persisting_most ('cudaSuccess', {most})
window_most ('cudaSuccess', 134217728)
domains ('cudaSuccess', 4)
{persisting}
unknown cudaErrorNotPermitted 232448 cudaErrorInvalidValue cudaErrorInvalidValue
fifo_before cudaSuccess 2097152
fifo_loaded cudaSuccess 3145728
launch cudaSuccess cudaSuccess
fifo_after cudaErrorInvalidValue 3145728
heap_loaded cudaSuccess 33554432
launch cudaSuccess cudaSuccess
heap_after cudaErrorInvalidValue 33554432
stack_after cudaSuccess 2048
"""
