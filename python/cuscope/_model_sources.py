"""Where the numbers of the device models come from, and which of them are estimates."""

from __future__ import annotations

__all__ = ["SOURCES"]

OLD_ESTIMATES = (
    "Estimates: the rates (70 % of the published memory bandwidth for kernels, about 6 GB/s for PCI Express 2.0), all "
    "latencies, and the costs of calls."
)
OVERLAP = "NVIDIA's article 'How to Overlap Data Transfers in CUDA C/C++'"

SOURCES = {
    "h200": "Measured on one NVIDIA H200 (driver 580.159, CUDA 13.0, x86-64 host): limits and properties, costs of "
    "calls, rates, latencies and overlap. Estimates: the costs of host_alloc, free_host, memcpy_async, "
    "elapsed_time and other; submit_latency_ns; the shares of calls that were measured together (create and destroy). "
    "The parts of a copy's latency were fitted to 40 measured stream programs and to single copies; small_copy_bytes lies "
    "between the measured sizes of 4 and 64 KiB.",
    "h100": "Published specifications of the H100 SXM with 80 GB, which has the multiprocessors, limits and host link "
    "of the H200. The size of the L2 cache was asked of an H100. Estimates: the rates on the device, which are those "
    "measured on an H200 times the ratio of the published bandwidths (3350 to 4800 GB/s); the groups of "
    "multiprocessors and all other times, which are the H200's.",
    "a100": "Published specifications of the A100 SXM with 40 GB, and the limits of compute capability 8.0 in the CUDA "
    "C++ Programming Guide. Estimates: the rates on the device and between devices, which are those measured on an H200 "
    "times the ratios of the published bandwidths (1555 to 4800 and 600 to 900 GB/s); the rates of copies of "
    "page-locked memory, which are half of the H200's, for PCI Express 4.0; all other times, which are the H200's.",
    "k20x": "Published specifications of the Tesla K20X, and the limits of compute capability 3.5 in the CUDA C++ "
    f"Programming Guide. Engines and queues: {OVERLAP}, for the K20c. {OLD_ESTIMATES}",
    "fermi": "Published specifications of the Tesla C2050, and the limits of compute capability 2.0 in the CUDA C++ "
    f"Programming Guide. Engines, queues and the late signals of kernels: {OVERLAP}, for the C2050. {OLD_ESTIMATES}",
    "c1060": "Published specifications of the Tesla C1060, and the limits of compute capability 1.3 in the CUDA C++ "
    f"Programming Guide. Engines and queues: {OVERLAP}, for the C1060. {OLD_ESTIMATES}",
    "no_overlap": "The model h200, but nothing overlaps: one copy or kernel at a time, in the order of issue, as on "
    "devices whose asyncEngineCount and concurrentKernels are 0. All times are the H200's.",
}
