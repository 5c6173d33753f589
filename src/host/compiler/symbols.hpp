// The symbol table of a shared object, its sections and its table of initialisers, read from its bytes.
#pragma once

#include <cstdint>
#include <string>
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

// The bytes of a section, of the object's; none if there is none of that name.
std::string_view read_section(std::string_view object, std::string_view name);

// Where an object's table of initialisers is: functions that the loader would call.
struct InitializerTable {
    std::uint64_t value = 0, bytes = 0;
};

// Makes a shared object such that the loader calls none of its initialisers and finalisers. Answers where
// they are. False as above.
bool take_initializers(std::string* object, InitializerTable* table);

}  // namespace cuscope::simt
