// Reads a shared object's symbol table, sections and table of initialisers from its bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cuscope::simt {

struct Symbol {
    std::string_view name;  // points into the object's bytes
    std::uint64_t value = 0, size = 0;
    bool is_function = false;
    bool is_thread_local = false;
};

// Lists the defined symbols. False if the bytes are not a shared object for this machine.
bool read_symbols(std::string_view object, std::vector<Symbol>* symbols);

// The bytes of a section, as a view of the object; empty if it has no such section.
std::string_view read_section(std::string_view object, std::string_view name);

// The place of an object's table of initialisers: functions that the loader would call.
struct InitializerTable {
    std::uint64_t value = 0, bytes = 0;
};

// Changes a shared object so that the loader calls none of its initialisers and finalisers, and returns the
// place of the table. False if the bytes are not a shared object for this machine.
bool take_initializers(std::string* object, InitializerTable* table);

}  // namespace cuscope::simt
