"""Operations on modules and kernels."""

from __future__ import annotations

import numpy as np
from table import operation, read_all
from workers import KERNELS, LENGTH, Worker

import cuscope as cs


@operation("Kernel", "Kernel.launch", "Kernel.configure", "KernelLaunch*")
def launch(w: Worker) -> None:
    add, stream = w.module.add, w.stream
    how = w.random.randrange(3)
    if how == 0:
        add[1, LENGTH, stream](w.array, 1)
    elif how == 1:
        add.launch(w.array, 1, grid=1, block=LENGTH, stream=stream)
    else:
        w.module.dynamic.configure(grid=1, block=LENGTH, stream=stream, shared=4 * LENGTH)(w.array)


@operation("Kernel.*", "FunctionAttributes*", "Parameter*")
def ask_kernels(w: Worker) -> None:
    kernel = w.module.dynamic
    read_all(kernel.attributes)
    read_all(kernel.parameters[0])
    kernel.occupancy(LENGTH)
    kernel.available_shared(LENGTH)
    kernel.best_block_size()
    kernel.max_cluster_size(LENGTH)
    kernel.max_active_clusters(2, LENGTH)
    kernel.set_cache_config("prefer_none")
    kernel.preferred_shared_memory_carveout = -1
    kernel.max_dynamic_shared = 4096
    for name in (
        "name",
        "device",
        "required_cluster",
        "non_portable_cluster_size_allowed",
        "cluster_scheduling_policy",
    ):
        getattr(kernel, name)


@operation("Kernel.explain_time", "KernelTime*", simulated_only=True)
def explain_the_time_of_a_kernel(w: Worker) -> None:
    # The other modules have variables, so their kernels are not counted.
    add = cs.Module("__global__ void add(int* x, int v) { x[blockIdx.x * 32 + threadIdx.x % 32] += v; }").add
    try:
        time = add.explain_time(cs.zeros(8 * LENGTH, np.int32), 1, grid=8, block=LENGTH)
    except ValueError as error:
        if "CUSCOPE_KERNEL_TIME is 'bytes'" not in str(error):
            raise
        return
    read_all(time)
    assert time.counted_blocks == 8


@operation("Kernel.count", "Counts*", "GlobalCounts*", simulated_only=True)
def count_a_kernel(w: Worker) -> None:
    counts = w.own.modules[0].add.count(cs.zeros(LENGTH, np.int32), 1, grid=1, block=LENGTH)
    read_all(counts)
    read_all(counts.by_argument["x"])
    assert counts.global_loads == LENGTH


@operation(
    "Kernel.profile", "Profile*", "ProfiledLine*", "ProfiledAccess*", "ProfileFinding*", simulated_only=True
)
def profile_a_kernel(w: Worker) -> None:
    profile = w.own.modules[0].add.profile(cs.zeros(LENGTH, np.int32), 1, grid=1, block=LENGTH)
    read_all(profile)
    str(profile)
    line = next(line for line in profile.lines if line.accesses)
    read_all(line)
    read_all(line.accesses[0])
    profile.accesses(line.number)
    profile.roofline()
    for finding in profile.findings:
        read_all(finding)
    assert profile.counts.global_loads == LENGTH


@operation("check", "CheckReport*", "Finding*", simulated_only=True)
def check_a_kernel(w: Worker) -> None:
    # Without the wait for all devices: other threads may capture their streams.
    with cs.check(wait=False) as report:
        x = cs.zeros(LENGTH, np.int32)
        w.own.modules[0].add[1, LENGTH + 1](x, 1)
        x.to_host()
    # Kernels of other threads are checked, too.
    late = [finding for finding in report.findings if finding.thread == (LENGTH, 0, 0)]
    assert late or report.unchecked, str(report)
    read_all(report)
    str(report)


@operation("Module", "Module.*")
def load_a_module(w: Worker) -> None:
    made = cs.Module(KERNELS)
    repr(
        (made.cached, made.device, made.kernels, made.log, len(made.image), made.symbol("variable", np.int32))
    )
    if w.random.random() < 0.2:
        w.replace("modules", made)
