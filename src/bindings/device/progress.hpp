// The bar that a long wait of the main thread shows.
#pragma once

#include "bindings/support/objects.hpp"

namespace cuscope::bindings {

// Called on the main thread during a wait, with the GIL. False: Ctrl-C came while the bar was drawn. Its
// Python exception is set.
bool show_progress();

void bind_progress(py::module_& m);

}  // namespace cuscope::bindings
