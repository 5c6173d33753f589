// The symbol table of a shared object, read from its bytes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace cuscope::simt {

struct Symbol {
    std::string_view name;  // of the object's bytes
    std::uint64_t value = 0, size = 0;
    bool is_function = false;
    bool is_thread_local = false;
};

// Defined symbols. False if the bytes are no shared object for this machine.
bool read_symbols(std::string_view object, std::vector<Symbol>* symbols);

}  // namespace cuscope::simt
