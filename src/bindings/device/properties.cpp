// The properties of a device.
#include <pybind11/stl.h>

#include "bindings/support/objects.hpp"

namespace cuscope::bindings {

void bind_properties(py::module_& m) {
    py::class_<DeviceProperties> properties(m, "DeviceProperties",
                                            R"(The properties of a device: the fields of cudaDeviceProp.

You get it from Device.properties. Sizes are in bytes, clock rates in kHz, bus widths in bits; ``max_block_dim`` and
``max_grid_dim`` are (x, y, z). Device.attribute() has further values.

See cudaGetDeviceProperties: CUDA C++ Programming Guide, "Device Enumeration".

Examples
--------
>>> import cuscope as cs
>>> properties = cs.Device("host:0").properties
>>> properties.warp_size, properties.max_threads_per_block
(32, 1024)
)");
    std::vector<std::string> names;
    const auto field = [&](const char* name, auto member, const char* meaning) {
        properties.def_readonly(name, member, meaning);
        names.emplace_back(name);
    };
    field("name", &DeviceProperties::name, "The name of the model.");
    field("total_global_memory", &DeviceProperties::total_global_memory,
          "The memory of the device, in bytes.");
    field("compute_capability_major", &DeviceProperties::compute_capability_major,
          "The compute capability before the point.");
    field("compute_capability_minor", &DeviceProperties::compute_capability_minor,
          "The compute capability after the point.");
    field("multiprocessor_count", &DeviceProperties::multiprocessor_count, "The number of multiprocessors.");
    field("warp_size", &DeviceProperties::warp_size, "The number of threads in a warp.");
    field("max_threads_per_block", &DeviceProperties::max_threads_per_block, "The most threads in a block.");
    field("max_threads_per_multiprocessor", &DeviceProperties::max_threads_per_multiprocessor,
          "The most threads that a multiprocessor holds at once.");
    field("max_blocks_per_multiprocessor", &DeviceProperties::max_blocks_per_multiprocessor,
          "The most blocks that a multiprocessor holds at once.");
    properties.def_property_readonly(
        "max_block_dim",
        [](const DeviceProperties& self) -> std::tuple<unsigned, unsigned, unsigned> {
            return {self.max_block_dim.x, self.max_block_dim.y, self.max_block_dim.z};
        },
        "The most threads of a block along (x, y, z).");
    names.emplace_back("max_block_dim");
    properties.def_property_readonly(
        "max_grid_dim",
        [](const DeviceProperties& self) -> std::tuple<unsigned, unsigned, unsigned> {
            return {self.max_grid_dim.x, self.max_grid_dim.y, self.max_grid_dim.z};
        },
        "The most blocks of a grid along (x, y, z).");
    names.emplace_back("max_grid_dim");
    field("registers_per_block", &DeviceProperties::registers_per_block,
          "The 32-bit registers that a block may have.");
    field("registers_per_multiprocessor", &DeviceProperties::registers_per_multiprocessor,
          "The 32-bit registers of a multiprocessor.");
    field("shared_memory_per_block", &DeviceProperties::shared_memory_per_block,
          "The shared memory that a block may have by default, in bytes.");
    field("shared_memory_per_block_optin", &DeviceProperties::shared_memory_per_block_optin,
          "The shared memory that a block may have if its kernel opts in (Kernel.max_dynamic_shared), in "
          "bytes.");
    field("shared_memory_per_multiprocessor", &DeviceProperties::shared_memory_per_multiprocessor,
          "The shared memory of a multiprocessor, in bytes.");
    field("total_constant_memory", &DeviceProperties::total_constant_memory,
          "The memory for __constant__ variables, in bytes.");
    field("memory_pitch", &DeviceProperties::memory_pitch,
          "The largest pitch of a two-dimensional copy, in bytes.");
    field("texture_alignment", &DeviceProperties::texture_alignment, "The alignment of textures, in bytes.");
    field("texture_pitch_alignment", &DeviceProperties::texture_pitch_alignment,
          "The alignment of the pitch of two-dimensional textures, in bytes.");
    field("l2_cache_size", &DeviceProperties::l2_cache_size, "The size of the second-level cache, in bytes.");
    field("memory_bus_width", &DeviceProperties::memory_bus_width, "The width of the memory bus, in bits.");
    field("clock_rate", &DeviceProperties::clock_rate, "The peak clock of the multiprocessors, in kHz.");
    field("memory_clock_rate", &DeviceProperties::memory_clock_rate, "The peak clock of the memory, in kHz.");
    field("async_engine_count", &DeviceProperties::async_engine_count,
          "The number of copy engines that can work while kernels run.");
    field("concurrent_kernels", &DeviceProperties::concurrent_kernels,
          "Can several kernels run at the same time?");
    field("integrated", &DeviceProperties::integrated, "Does the device share the host's memory?");
    field("can_map_host_memory", &DeviceProperties::can_map_host_memory,
          "Can kernels use page-locked memory of the host (pinned_empty(mapped=True))?");
    field("unified_addressing", &DeviceProperties::unified_addressing,
          "Do the host and the device share one address space?");
    field("managed_memory", &DeviceProperties::managed_memory, "Does the device support managed memory?");
    field("concurrent_managed_access", &DeviceProperties::concurrent_managed_access,
          "Can the host and kernels use managed memory at the same time?");
    field("pageable_memory_access", &DeviceProperties::pageable_memory_access,
          "Can kernels use the host's pageable memory?");
    field("stream_priorities_supported", &DeviceProperties::stream_priorities_supported,
          "Does the device support stream priorities?");
    field("host_register_supported", &DeviceProperties::host_register_supported,
          "Can existing memory of the host be page-locked?");
    field("host_register_read_only_supported", &DeviceProperties::host_register_read_only_supported,
          "Can existing memory of the host be page-locked for reading only?");
    field("memory_pools_supported", &DeviceProperties::memory_pools_supported,
          "Can memory be allocated in stream order, from pools?");
    field("cooperative_launch", &DeviceProperties::cooperative_launch,
          "Does the device support cooperative kernels, in which all blocks can wait for each other?");
    properties.def("__repr__", [names](const py::object& self) {
        std::string text = "DeviceProperties(";
        for (const std::string& name : names) {
            text += "\n    " + name + "=" + py::repr(self.attr(name.c_str())).cast<std::string>() + ",";
        }
        return text + "\n)";
    });
}

}  // namespace cuscope::bindings
