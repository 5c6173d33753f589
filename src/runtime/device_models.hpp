// The device models of the simulated runtime as text. They are data: reading and checking one makes no
// runtime, takes no simulated time, and cannot fail like a call of the contract.
#pragma once

#include <string>

namespace cuscope {

struct DeviceModels {
    // A line for each field with its name, kind, unit, least and most value, and meaning, separated by tabs;
    // an empty line; the names of the models, a line each.
    std::string (*table)();
    // A line "name=value" for each field of a model, after a check. `model` is a name, or a text: a first
    // line "base=" with a name, and lines for the fields in which the model differs. False if there is no
    // such model, or if it cannot be simulated; `text` then says why.
    bool (*describe)(const std::string& model, std::string* text);
};

// Set when the extension is loaded, by the runtime that has models.
inline DeviceModels device_models{};

}  // namespace cuscope
