// The contract's functions, occupancy and launches, for tests: see contract.cpp.
#include <pybind11/stl.h>

#include <memory>
#include <variant>
#include <vector>

#include "bindings/testing/contract.hpp"

namespace cuscope::bindings {
namespace {

using std::size_t;

using DimLike = std::variant<unsigned, std::vector<unsigned>>;

Dim3 dim_of(const DimLike& value) {
    if (const unsigned* x = std::get_if<unsigned>(&value)) return {*x, 1, 1};
    const auto& extents = std::get<std::vector<unsigned>>(value);
    Dim3 dim;
    if (!extents.empty()) dim.x = extents[0];
    if (extents.size() > 1) dim.y = extents[1];
    if (extents.size() > 2) dim.z = extents[2];
    return dim;
}

// {"id": 8, "value": -1}, {"id": 4, "cluster": (2, 1, 1)}, {"id": 7, "event": handle, "at_block_start":
// True}, ...
LaunchAttribute attribute_of(const py::dict& given) {
    const py::dict values = given;
    LaunchAttribute attribute;
    const auto get = [&](const char* key, auto otherwise) {
        return values.contains(key) ? values[key].cast<decltype(otherwise)>() : otherwise;
    };
    attribute.id = static_cast<LaunchAttributeId>(get("id", 0));
    attribute.value = get("value", 0);
    if (values.contains("cluster")) attribute.cluster = dim_of(values["cluster"].cast<DimLike>());
    attribute.window.base = as_pointer<void*>(get("base", Address{0}));
    attribute.window.bytes = get("bytes", size_t{0});
    attribute.window.hit_ratio = get("hit_ratio", 0.0F);
    attribute.window.hit = static_cast<AccessProperty>(get("hit", 0));
    attribute.window.miss = static_cast<AccessProperty>(get("miss", 0));
    attribute.event = as_pointer<EventHandle>(get("event", Address{0}));
    attribute.event_flags = get("event_flags", 0);
    attribute.trigger_at_block_start = get("at_block_start", false);
    attribute.default_domain = static_cast<unsigned char>(get("default_domain", 0));
    attribute.remote_domain = static_cast<unsigned char>(get("remote_domain", 1));
    return attribute;
}

py::dict values_of(const LaunchAttribute& attribute) {
    py::dict values;
    switch (launch_attribute_row(attribute.id).value) {
        case LaunchValue::window:
            values["base"] = reinterpret_cast<Address>(attribute.window.base);
            values["bytes"] = attribute.window.bytes;
            values["hit_ratio"] = attribute.window.hit_ratio;
            values["hit"] = static_cast<int>(attribute.window.hit);
            values["miss"] = static_cast<int>(attribute.window.miss);
            break;
        case LaunchValue::domain_map:
            values["default_domain"] = attribute.default_domain;
            values["remote_domain"] = attribute.remote_domain;
            break;
        case LaunchValue::none:
        case LaunchValue::number:
        case LaunchValue::cluster:
        case LaunchValue::event:
        case LaunchValue::programmatic_event:
            values["value"] = attribute.value;
            break;
    }
    return values;
}

struct Configuration {
    Configuration(const DimLike& grid, const DimLike& block, size_t dynamic_shared, Address stream,
                  bool cooperative, const std::optional<DimLike>& cluster,
                  const std::vector<py::dict>& attributes) {
        for (const py::dict& values : attributes) list.push_back(attribute_of(values));
        config.attributes = list;
        config.cooperative = cooperative;
        if (cluster) config.cluster = dim_of(*cluster);
        config.grid = dim_of(grid);
        config.block = dim_of(block);
        config.dynamic_shared_bytes = dynamic_shared;
        config.stream = as_pointer<StreamHandle>(stream);
    }
    LaunchConfig config;
    std::vector<LaunchAttribute> list;
};

template <Status (Runtime::*method)(int*, KernelHandle, const LaunchConfig*)>
Answer cluster_occupancy(const Contract& c, Address kernel, const DimLike& grid, const DimLike& block,
                         size_t dynamic_shared, const std::optional<DimLike>& cluster,
                         const std::vector<py::dict>& attributes) {
    const Configuration made(grid, block, dynamic_shared, 0, false, cluster, attributes);
    int count = 0;
    const Status status = c.call(
        [&](Runtime& r) { return (r.*method)(&count, as_pointer<KernelHandle>(kernel), &made.config); });
    return answer(status, count);
}

}  // namespace

void add_launch_methods(ContractMethods& methods) {
    methods.add(
        "func_get_attributes", "kernel", +[](const Contract& c, Address kernel) {
            FunctionAttributes attributes;
            const Status status = c.call([&](Runtime& r) {
                return r.func_get_attributes(&attributes, as_pointer<KernelHandle>(kernel));
            });
            return answer(status, attributes);
        });
    methods.add("occupancy_max_potential_cluster_size",
                "kernel, grid, block, dynamic_shared=0, cluster=None, attributes=()",
                cluster_occupancy<&Runtime::occupancy_max_potential_cluster_size>);
    methods.add("occupancy_max_active_clusters",
                "kernel, grid, block, dynamic_shared=0, cluster=None, attributes=()",
                cluster_occupancy<&Runtime::occupancy_max_active_clusters>);
    methods.add(
        "stream_set_attribute", "stream, id, values",
        +[](const Contract& c, Address stream, int id, const py::dict& values) {
            const LaunchAttribute attribute = attribute_of(values);
            return answer(c.call([&](Runtime& r) {
                return r.stream_set_attribute(as_pointer<StreamHandle>(stream),
                                              static_cast<LaunchAttributeId>(id), &attribute);
            }));
        });
    methods.add(
        "stream_get_attribute", "stream, id", +[](const Contract& c, Address stream, int id) {
            LaunchAttribute attribute;
            const Status status = c.call([&](Runtime& r) {
                return r.stream_get_attribute(as_pointer<StreamHandle>(stream),
                                              static_cast<LaunchAttributeId>(id), &attribute);
            });
            return py::object(py::make_tuple(name(status), values_of(attribute)));
        });
    methods.add(
        "launch_kernel",
        "kernel, grid, block, arguments=(), dynamic_shared=0, stream=0, duration_ns=-1, cooperative=False, "
        "cluster=None, attributes=()",
        +[](const Contract& c, Address kernel, const DimLike& grid, const DimLike& block,
            std::vector<std::string> arguments, size_t dynamic_shared, Address stream,
            std::int64_t duration_ns, bool cooperative, const std::optional<DimLike>& cluster,
            const std::vector<py::dict>& attributes) {
            Configuration made(grid, block, dynamic_shared, stream, cooperative, cluster, attributes);
            made.config.duration_ns = duration_ns;
            // A value is copied to where it is aligned as the largest type asks.
            std::vector<std::unique_ptr<std::byte[]>> values;
            std::vector<void*> pointers;
            for (const std::string& argument : arguments) {
                values.push_back(std::make_unique<std::byte[]>(argument.size() + 16));
                argument.copy(reinterpret_cast<char*>(values.back().get()), argument.size());
                pointers.push_back(values.back().get());
            }
            return answer(c.call([&](Runtime& r) {
                return r.launch_kernel(made.config, as_pointer<KernelHandle>(kernel), pointers.data());
            }));
        });
}

}  // namespace cuscope::bindings
