#include "host/counting/borrowed_variables.hpp"

#include <algorithm>
#include <cstring>

namespace cuscope::simt {
namespace {

constexpr std::size_t word = sizeof(std::uintptr_t);

std::uintptr_t word_at(const char* place) {
    std::uintptr_t value = 0;
    std::memcpy(&value, place, word);
    return value;
}

// Calls function(offset) for each place in a variable where an address may be.
template <class Function>
void each_word(const char* variable, std::size_t bytes, Function function) {
    std::size_t at = (word - reinterpret_cast<std::uintptr_t>(variable) % word) % word;
    for (; at + word <= bytes; at += word) function(at);
}

}  // namespace

bool BorrowedVariables::Side::holds(std::uintptr_t address) const {
    return address >= reinterpret_cast<std::uintptr_t>(facts.image_begin) &&
           address < reinterpret_cast<std::uintptr_t>(facts.image_end);
}

// Translates an address in a variable of one image to the same variable of the other image. False if it is in
// no variable.
bool BorrowedVariables::translate(const Side& from, const Side& to, std::uintptr_t* address) {
    for (const auto& global : from.image.globals()) {
        const auto begin = reinterpret_cast<std::uintptr_t>(global.address);
        if (*address < begin || *address >= begin + global.bytes) continue;
        const auto* other = to.image.global(global.name);
        if (other == nullptr) return false;
        *address = reinterpret_cast<std::uintptr_t>(other->address) + (*address - begin);
        return true;
    }
    return false;
}

BorrowedVariables::BorrowedVariables(const Image& from, const Image& to)
    : from_{from, from.facts()}, to_{to, to.facts()} {
    for (const auto& global : to.globals()) {
        const auto* original = from.global(global.name);
        if (original == nullptr || original->bytes != global.bytes) continue;
        Variable variable{static_cast<char*>(original->address), static_cast<char*>(global.address),
                          std::string(static_cast<const char*>(original->address), original->bytes)};
        each_word(variable.to, variable.before.size(), [&](std::size_t at) {
            std::uintptr_t value = word_at(variable.before.data() + at);
            if (!from_.holds(value)) return;
            // The address of a function cannot be translated. If the other variable still holds an address of
            // its own image, that address is kept.
            if (!translate(from_, to_, &value) && to_.holds(word_at(variable.to + at)))
                value = word_at(variable.to + at);
            std::memcpy(variable.before.data() + at, &value, word);
        });
        // Constant variables cannot be written. They are equal, so they need not be.
        if (!std::equal(variable.before.begin(), variable.before.end(), variable.to))
            std::memcpy(variable.to, variable.before.data(), variable.before.size());
        variables_.push_back(std::move(variable));
    }
}

// The kernel may have been given the address of a variable as an argument, too. Values that it wrote there
// stay.
void BorrowedVariables::put_back() const {
    for (const Variable& variable : variables_) {
        const std::size_t bytes = variable.before.size();
        std::string now(variable.to, bytes);
        each_word(variable.to, bytes, [&](std::size_t at) {
            std::uintptr_t value = word_at(now.data() + at);
            if (value == word_at(variable.before.data() + at) || !to_.holds(value)) return;
            if (!translate(to_, from_, &value)) return;
            std::memcpy(variable.from + at, &value, word);
            std::memcpy(now.data() + at, variable.before.data() + at, word);
        });
        for (std::size_t byte = 0; byte < bytes; ++byte)
            if (now[byte] != variable.before[byte]) variable.from[byte] = now[byte];
    }
}

}  // namespace cuscope::simt
