// The counts of a counted launch, for Python.
#include <cstdio>

#include "bindings/kernels/launch.hpp"

namespace cuscope::bindings {
namespace {

double ratio(std::uint64_t a, std::uint64_t b) {
    return b == 0 ? 0.0 : static_cast<double>(a) / static_cast<double>(b);
}

std::string text_of(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", value);
    return text;
}

std::string counted(std::uint64_t count, const char* what) { return std::to_string(count) + " " + what; }

void bind_global_counts(py::module_& m) {
    const auto property = [](std::uint64_t GlobalCounts::*member) {
        return [member](const GlobalCounts& self) { return self.*member; };
    };
    py::class_<GlobalCounts>(
        m, "GlobalCounts",
        R"(How a kernel accessed the memory of one argument: the values of Counts.by_argument.

Accesses are counted for threads, requests for warps. Sectors are the 32-byte pieces of memory that the requests touch.

See CUDA C++ Programming Guide, "Device Memory Accesses".

Examples
--------
>>> import numpy as np, cuscope as cs
>>> with cs.Device("host:0"):
...     mod = cs.Module("__global__ void copy(const float* a, float* b) { b[threadIdx.x] = a[2 * threadIdx.x]; }")
...     counts = mod.copy.count(cs.zeros(64, np.float32), cs.zeros(32, np.float32), grid=1, block=32)
>>> counts.by_argument["a"].loads, counts.by_argument["a"].load_sectors, counts.by_argument["b"].store_sectors
(32, 8, 4)
)")
        .def_property_readonly("loads", property(&GlobalCounts::loads), "Reads of threads.")
        .def_property_readonly("stores", property(&GlobalCounts::stores), "Writes of threads.")
        .def_property_readonly("atomics", property(&GlobalCounts::atomics), "Atomic operations of threads.")
        .def_property_readonly("load_requests", property(&GlobalCounts::load_requests),
                               "Reads of warps: one for all lanes that execute an instruction together.")
        .def_property_readonly("store_requests", property(&GlobalCounts::store_requests), "Writes of warps.")
        .def_property_readonly("load_sectors", property(&GlobalCounts::load_sectors),
                               "Sectors of 32 bytes that the reads of warps touch, summed over requests.")
        .def_property_readonly("store_sectors", property(&GlobalCounts::store_sectors),
                               "Sectors of 32 bytes that the writes of warps touch, summed over requests.")
        .def_property_readonly("load_bytes", property(&GlobalCounts::load_bytes),
                               "Bytes that the reads of threads requested.")
        .def_property_readonly("store_bytes", property(&GlobalCounts::store_bytes),
                               "Bytes that the writes of threads requested.")
        .def("__repr__", [](const GlobalCounts& self) {
            std::string text = "<GlobalCounts " + counted(self.loads, "loads") + " in " +
                               counted(self.load_sectors, "sectors") + ", " + counted(self.stores, "stores") +
                               " in " + counted(self.store_sectors, "sectors");
            if (self.atomics != 0) text += ", " + counted(self.atomics, "atomics");
            return text + ">";
        });
}

}  // namespace

void bind_counts(py::module_& m) {
    bind_global_counts(m);
    const auto global = [](std::uint64_t GlobalCounts::*member) {
        return [member](const Counts& self) { return self.counts.global.*member; };
    };
    const auto shared = [](std::uint64_t SharedCounts::*member) {
        return [member](const Counts& self) { return self.counts.shared.*member; };
    };
    py::class_<Counts>(m, "Counts",
                       R"(The operations of the threads of one launch, from Kernel.count().

The names are Nsight Compute's where it has them: a *request* is one instruction of a warp, a *sector* 32 bytes of global
memory, a *wavefront* the data that the 32 banks of shared memory deliver at once. Counts are sums over all threads of
the launch, and the same on every run of the same program. Local memory, constants, textures and parameters are not
counted.

See docs/counting.md; CUDA C++ Programming Guide, "Device Memory Accesses" and "Shared Memory".

Examples
--------
>>> import numpy as np, cuscope as cs
>>> with cs.Device("host:0"):
...     mod = cs.Module("""__global__ void turn(float* x) {
...         __shared__ float tile[32][32];
...         tile[threadIdx.y][threadIdx.x] = x[threadIdx.y * 32 + threadIdx.x];
...         __syncthreads();
...         x[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
...     }""")
...     counts = mod.turn.count(cs.zeros((32, 32), np.float32), grid=1, block=(32, 32))
>>> counts.shared_load_requests, counts.shared_load_wavefronts, counts.shared_load_bank_conflicts
(32, 1024, 992)
)")
        .def_property_readonly("global_loads", global(&GlobalCounts::loads),
                               "Reads of global memory by threads.")
        .def_property_readonly("global_stores", global(&GlobalCounts::stores),
                               "Writes of global memory by threads.")
        .def_property_readonly("global_atomics", global(&GlobalCounts::atomics),
                               "Atomic operations on global memory by threads.")
        .def_property_readonly("global_load_requests", global(&GlobalCounts::load_requests),
                               "Reads of global memory by warps.")
        .def_property_readonly("global_store_requests", global(&GlobalCounts::store_requests),
                               "Writes of global memory by warps.")
        .def_property_readonly("global_load_sectors", global(&GlobalCounts::load_sectors),
                               "Sectors of 32 bytes that the reads of warps touch, summed over requests: 4 a "
                               "request if a warp reads 32 adjacent floats, 32 if they are far apart.")
        .def_property_readonly("global_store_sectors", global(&GlobalCounts::store_sectors),
                               "Sectors of 32 bytes that the writes of warps touch, summed over requests.")
        .def_property_readonly("global_load_bytes", global(&GlobalCounts::load_bytes),
                               "Bytes that the reads of threads requested.")
        .def_property_readonly("global_store_bytes", global(&GlobalCounts::store_bytes),
                               "Bytes that the writes of threads requested.")
        .def_property_readonly("shared_loads", shared(&SharedCounts::loads),
                               "Reads of shared memory by threads.")
        .def_property_readonly("shared_stores", shared(&SharedCounts::stores),
                               "Writes of shared memory by threads.")
        .def_property_readonly("shared_atomics", shared(&SharedCounts::atomics),
                               "Atomic operations on shared memory by threads.")
        .def_property_readonly("shared_load_requests", shared(&SharedCounts::load_requests),
                               "Reads of shared memory by warps.")
        .def_property_readonly("shared_store_requests", shared(&SharedCounts::store_requests),
                               "Writes of shared memory by warps.")
        .def_property_readonly("shared_load_wavefronts", shared(&SharedCounts::load_wavefronts),
                               "Wavefronts of the reads: in one wavefront, each bank delivers one word of 4 "
                               "bytes to all lanes that read it.")
        .def_property_readonly("shared_store_wavefronts", shared(&SharedCounts::store_wavefronts),
                               "Wavefronts of the writes.")
        .def_property_readonly(
            "shared_load_bank_conflicts", shared(&SharedCounts::load_bank_conflicts),
            "Wavefronts of reads beyond the fewest that any arrangement of the data would need.")
        .def_property_readonly(
            "shared_store_bank_conflicts", shared(&SharedCounts::store_bank_conflicts),
            "Wavefronts of writes beyond the fewest that any arrangement of the data would need.")
        .def_property_readonly(
            "bank_conflicts",
            [](const Counts& self) {
                return self.counts.shared.load_bank_conflicts + self.counts.shared.store_bank_conflicts;
            },
            "Bank conflicts of reads and writes together.")
        .def_property_readonly(
            "thread_steps", [](const Counts& self) { return self.counts.thread_steps; },
            "Basic blocks of the kernel's code that threads ran.")
        .def_property_readonly(
            "warp_steps", [](const Counts& self) { return self.counts.warp_steps; },
            "Basic blocks that warps issued. A warp issues a basic block if any of its lanes runs it.")
        .def_property_readonly(
            "active_threads_per_warp",
            [](const Counts& self) { return ratio(self.counts.thread_steps, self.counts.warp_steps); },
            "thread_steps / warp_steps: 32 if no lane ever waits for other lanes in another branch, or has "
            "ended; 0 if nothing ran.")
        .def_property_readonly(
            "by_argument",
            [](const Counts& self) {
                py::dict result;
                for (const LaunchCounts::Argument& argument : self.counts.arguments) {
                    const std::string& name = self.names.at(argument.parameter);
                    result[py::str(name.empty() ? std::to_string(argument.parameter) : name)] =
                        py::cast(argument.counts);
                }
                return CountsDict(result);
            },
            R"(A GlobalCounts for each argument that points to memory, by the parameter's name (or its position, if the name
is unknown). For a structure, it covers the memory of all its pointers. If several pointers point into one allocation,
each covers the memory from its address up to the next pointer's.)")
        .def("__repr__", [](const Counts& self) {
            const LaunchCounts& counts = self.counts;
            std::string text = "<Counts of " + self.kernel + ": global " +
                               counted(counts.global.loads, "loads") + " in " +
                               counted(counts.global.load_sectors, "sectors") + ", " +
                               counted(counts.global.stores, "stores") + " in " +
                               counted(counts.global.store_sectors, "sectors");
            if (counts.shared.loads + counts.shared.stores != 0) {
                text += "; shared " + counted(counts.shared.loads, "loads") + ", " +
                        counted(counts.shared.stores, "stores") + ", " +
                        counted(counts.shared.load_bank_conflicts + counts.shared.store_bank_conflicts,
                                "bank conflicts");
            }
            return text + "; " + text_of(ratio(counts.thread_steps, counts.warp_steps)) +
                   " active threads per warp>";
        });
}

}  // namespace cuscope::bindings
