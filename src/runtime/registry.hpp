// The runtimes that this build has. Each registers itself when the program is loaded and is made when first
// asked for; it then lives as long as the process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/runtime.hpp"

namespace cuscope {

struct RuntimeEntry {
    std::string kind;  // "cuda", "host"
    int rank = 0;      // lower comes first in the list of devices
    std::shared_ptr<Runtime> (*make)() = nullptr;
};

struct RuntimeRegistration {
    explicit RuntimeRegistration(RuntimeEntry entry);
};

// Kinds in order of rank.
std::vector<std::string> runtime_kinds();
// The runtime of a kind; null if this build has none.
std::shared_ptr<Runtime> runtime(const std::string& kind);

}  // namespace cuscope
