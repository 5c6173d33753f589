// KernelTime: the parts of the simulated time of a launch.
#include <cstdio>

#include "bindings/kernels/launch.hpp"

namespace cuscope::bindings {
namespace {

constexpr std::array<const char*, time_bounds> names{"DRAM",    "L2",      "shared memory", "issue",
                                                     "latency", "atomics", "launch"};

std::string with_unit(double value, std::initializer_list<const char*> units) {
    auto unit = units.begin();
    while (value >= 1000 && unit + 1 != units.end()) {
        value /= 1000;
        ++unit;
    }
    char text[48];
    std::snprintf(text, sizeof text, **unit == '\0' ? "%.3g" : "%.3g %s", value, *unit);
    return text;
}

std::string time(double ns) { return with_unit(ns, {"ns", "us", "ms", "s"}); }
std::string bytes(double count) { return with_unit(count, {"B", "kB", "MB", "GB", "TB"}); }
std::string number(double count) { return with_unit(count, {"", "thousand", "million", "billion"}); }

// The cause of a part of the time, in words.
std::string cause(const KernelTime& time, TimeBound bound) {
    switch (bound) {
        case TimeBound::dram:
            return bytes(time.dram_bytes) + " to and from memory; the launch touches " +
                   bytes(time.footprint_bytes);
        case TimeBound::l2:
            return bytes(time.l2_bytes) + " to and from the L2 cache";
        case TimeBound::shared:
            return number(time.l1_wavefronts) + " wavefronts of the L1 cache, " +
                   number(time.shared_wavefronts) + " of shared memory";
        case TimeBound::issue:
            return number(time.instructions) + " instructions of warps; the busiest multiprocessor has " +
                   with_unit(time.imbalance, {"times"}) + " the mean work";
        case TimeBound::latency:
            return "the waits of one warp, one after the other; " + with_unit(time.waves, {"waves"}) +
                   " of blocks, " + std::to_string(time.blocks_per_multiprocessor) +
                   " at once on a multiprocessor";
        case TimeBound::atomics:
            return number(time.atomic_operations) + " operations";
        case TimeBound::launch:
            return "start and end of the kernel, and the start of its " + std::to_string(time.blocks) +
                   (time.blocks == 1 ? " block" : " blocks");
    }
    return "";
}

std::string table(const TimeOfKernel& self) {
    const KernelTime& its = self.time;
    std::string text = self.kernel + ": " + time(static_cast<double>(its.total_ns)) + ", bound by " +
                       names[static_cast<std::size_t>(its.bound)] + " (" +
                       std::to_string(its.sampled_blocks) + " of " + std::to_string(its.blocks) +
                       " blocks counted)";
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (its.part_ns[i] < 1) continue;
        char row[64];
        std::snprintf(row, sizeof row, "\n  %-14s %10s  ", names[i], time(its.part_ns[i]).c_str());
        text += row + cause(its, static_cast<TimeBound>(i));
    }
    return text;
}

}  // namespace

void bind_kernel_times(py::module_& m) {
    const auto field = [](double KernelTime::*member) {
        return [member](const TimeOfKernel& self) { return self.time.*member; };
    };
    py::class_<TimeOfKernel>(
        m, "KernelTime",
        R"(The simulated time of one launch and the parts of the device that bound it, from Kernel.explain_time().

Times are in seconds. print(time) shows a table: the time that each part of the device would take if the others took
none, and its cause. The estimate comes from counts of some blocks of the launch; docs/kernel-time.md explains it.

There is no such function in CUDA; Nsight Compute's "Speed Of Light" section answers the same question on a GPU.

Examples
--------
>>> import numpy as np, cuscope as cs
>>> with cs.Device("host:0"):
...     mod = cs.Module("__global__ void copy(const float* a, float* b) { int i = blockIdx.x * 512 + threadIdx.x; b[i] = a[i]; }")
...     a, b = cs.zeros(1 << 25, np.float32), cs.zeros(1 << 25, np.float32)
...     time = mod.copy.explain_time(a, b, grid=1 << 16, block=512)
>>> time.bound
'DRAM'
)")
        .def_property_readonly(
            "seconds", [](const TimeOfKernel& self) { return static_cast<double>(self.time.total_ns) / 1e9; },
            "The time of the launch, alone on the device.")
        .def_property_readonly(
            "cold_seconds",
            [](const TimeOfKernel& self) { return static_cast<double>(self.time.cold_ns) / 1e9; },
            "The time of the launch if the L2 cache holds none of its data when it begins. `seconds` assumes "
            "that a footprint of up to a third of the cache is there, as in a program that launches "
            "the kernel again and again with the same arrays.")
        .def_property_readonly(
            "bound",
            [](const TimeOfKernel& self) { return names[static_cast<std::size_t>(self.time.bound)]; },
            "The part that takes longest: 'DRAM', 'L2', 'shared memory' (with the L1 cache), 'issue' (of "
            "instructions), 'latency', 'atomics' or 'launch'.")
        .def_property_readonly(
            "parts",
            [](const TimeOfKernel& self) {
                py::typing::Dict<py::str, py::float_> parts;
                for (std::size_t i = 0; i < names.size(); ++i)
                    parts[names[i]] = py::float_(self.time.part_ns[i] / 1e9);
                return parts;
            },
            "The seconds that each part of the device would take if the others took none, by the names of "
            "`bound`. They overlap, but for the start and the end of the kernel, which are a part of "
            "'launch', and for atomic operations at the end of blocks.")
        .def_property_readonly(
            "blocks", [](const TimeOfKernel& self) { return self.time.blocks; }, "The blocks of the grid.")
        .def_property_readonly(
            "counted_blocks", [](const TimeOfKernel& self) { return self.time.sampled_blocks; },
            "The blocks that were counted; the others are assumed to be like them.")
        .def_property_readonly("waves", field(&KernelTime::waves),
                               "The blocks of the grid / the blocks that the device holds at once.")
        .def_property_readonly("imbalance", field(&KernelTime::imbalance),
                               "The work of the busiest multiprocessor / the mean.")
        .def_property_readonly("instructions", field(&KernelTime::instructions),
                               "Instructions of warps, estimated.")
        .def_property_readonly("l2_bytes", field(&KernelTime::l2_bytes),
                               "Bytes between the multiprocessors and the L2 cache.")
        .def_property_readonly("dram_bytes", field(&KernelTime::dram_bytes),
                               "Bytes between the L2 cache and memory.")
        .def_property_readonly("footprint_bytes", field(&KernelTime::footprint_bytes),
                               "Bytes of memory that the launch touches at least once.")
        .def("__str__", &table)
        .def("__repr__", [](const TimeOfKernel& self) {
            return "<KernelTime of " + self.kernel + ": " + time(static_cast<double>(self.time.total_ns)) +
                   ", bound by " + names[static_cast<std::size_t>(self.time.bound)] + ">";
        });
}

}  // namespace cuscope::bindings
