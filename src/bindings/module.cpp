// The extension module: declares the types, then binds each concept.
#include "bindings/device/progress.hpp"
#include "bindings/support/fast_calls.hpp"
#include "bindings/support/signatures.hpp"
#include "build_config.hpp"

namespace cuscope::bindings {

Classes::Classes(py::module_& m)
    : device(m, "Device"), stream(m, "Stream"), event(m, "Event"), array(m, "DeviceArray") {
    remember_type<StreamObject>(stream);
    remember_type<EventObject>(event);
    remember_type<DeviceArray>(array);
}

}  // namespace cuscope::bindings

PYBIND11_MODULE(_core, m, pybind11::mod_gil_not_used()) {
    using namespace cuscope::bindings;
    m.doc() = "The implementation of cuscope. It is private: import cuscope instead.";
    py::dict config;
    for (const auto& [key, value] : cuscope::build_config) config[key] = value;
    m.attr("build_config") = config;

    Classes classes(m);
    bind_errors(m);
    bind_process(m);
    bind_progress(m);
    bind_devices(m, classes);
    bind_launch_attributes(m);
    bind_streams(m, classes);
    bind_events(classes);
    bind_arrays(m, classes);
    bind_array_operators(classes);
    bind_fast_views(m, classes);
    bind_pinned(m);
    bind_memory_kinds(m, classes);
    bind_fast_copies(m, classes);
    bind_pools(m, classes);
    bind_textures(m);
    bind_tensor_maps(m);
    bind_interop(m, classes);
    bind_kernels(m);
    bind_modules(m);
    bind_call_costs(m);
    bind_looks(m);
    bind_memory_operations(m, classes);
    bind_external_semaphores(m, classes);
    bind_graphs(m, classes);
    bind_captures(m, classes);
    bind_operations(m);
    bind_pending(m);
    bind_tracing(m);
    publish_types(m);  // not the types below, which are for tests
    bind_contract(m);
    bind_faults(m);
    bind_traced_contract(m);
    define_copying(m);
    refuse_uninitialised_objects(m);
    explain_wrong_arguments(m);
    publish_signatures(m);
}
