// What calls of a runtime cost, for cuscope.calibrate().
#include "core/device/call_costs.hpp"

#include <pybind11/stl.h>

#include "bindings/support/objects.hpp"

namespace cuscope::bindings {

void bind_call_costs(py::module_& m) {
    m.def(
        "call_costs",
        [](const core::Kernel& kernel, const StreamObject& stream) {
            const core::StreamPtr on = stream.open();
            return without_gil([&] { return core::measure_call_costs(kernel, on); });
        },
        py::arg("kernel"), py::arg("stream"),
        "Nanoseconds of the host for calls of the device's runtime, by the names of a model's fields without "
        "call_ and _ns. The kernel takes no arguments. Calls that the device does not support are left out.");
}

}  // namespace cuscope::bindings
