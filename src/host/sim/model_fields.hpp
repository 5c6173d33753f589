// Device models as data. One table has a row for each field of a model: its name, unit, range and meaning,
// and its place in DeviceModel. The text of a model, the checks, and the names that Python shows come from
// it. src/runtime/device_models.hpp describes the text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "host/sim/device_model.hpp"

namespace cuscope::host {

// The model of a name or a text. Empty if there is no such model, or if it cannot be simulated; `refusal`
// then says why: the field, its value and the allowed values.
std::optional<DeviceModel> read_model(std::string_view text, std::string* refusal);

}  // namespace cuscope::host
