// The runtimes of this build. Each registers itself when the extension is loaded. It is created at its first
// use and then lives as long as the process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/runtime.hpp"

namespace cuscope {

struct RuntimeEntry {
    std::string kind;  // "cuda", "host"
    int rank = 0;      // the device list starts with the lowest rank
    std::shared_ptr<Runtime> (*make)() = nullptr;
};

struct RuntimeRegistration {
    explicit RuntimeRegistration(RuntimeEntry entry);
};

// Kinds in order of rank.
std::vector<std::string> runtime_kinds();
// The runtime of this kind; null if this build has none.
std::shared_ptr<Runtime> runtime(const std::string& kind);

}  // namespace cuscope
