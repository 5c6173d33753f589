#include "host/counting/known_addresses.hpp"

#include <charconv>
#include <optional>

#include "host/counting/operands.hpp"

namespace cuscope::simt {
namespace {

std::optional<std::int64_t> constant_of(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
    for (const std::string_view its : names)
        if (name == its) return true;
    return false;
}

bool on_stack(std::string_view operand) {
    const std::size_t bracket = operand.find('(');
    return bracket != std::string_view::npos &&
           (operand.substr(bracket) == "(%rsp)" || operand.substr(bracket) == "(%rbp)");
}

}  // namespace

void KnownAddresses::Sum::add(const Sum& other, std::int64_t times) {
    constant += other.constant * times;
    for (const auto& [name, factor] : other.terms)
        if ((terms[name] += factor * times) == 0) terms.erase(name);
}

KnownAddresses::Sum KnownAddresses::value(std::string_view place) {
    if (place.front() == '%') place = whole_register(place.substr(1));
    const auto found = values_.find(place);
    if (found != values_.end()) return found->second;
    return values_.emplace(place, unknown()).first->second;
}

// Of an operand like 16(%rbx,%rax,4).
KnownAddresses::Sum KnownAddresses::address(std::string_view operand) {
    const std::size_t bracket = operand.find('(');
    Sum sum;
    if (bracket == std::string_view::npos || operand.find("%rip") != std::string_view::npos) return unknown();
    if (bracket != 0) {
        // The name of a variable is a constant, too.
        if (const auto constant = constant_of(operand.substr(0, bracket))) sum.constant = *constant;
    }
    operand = operand.substr(bracket + 1, operand.find(')') - bracket - 1);
    const std::size_t comma = operand.find(',');
    if (comma != 0) sum.add(value(operand.substr(0, comma)), 1);
    if (comma == std::string_view::npos) return sum;
    operand.remove_prefix(comma + 1);
    const std::size_t times = operand.find(',');
    sum.add(value(operand.substr(0, times)),
            times == std::string_view::npos ? 1 : constant_of(operand.substr(times + 1)).value_or(1));
    return sum;
}

// A value that was there before is known without an instruction.
bool KnownAddresses::is_known(const Sum& sum) {
    if (sum.terms.empty() || (sum.terms.size() == 1 && sum.terms.begin()->second == 1)) return true;
    return !known_.insert(sum.terms).second;
}

bool KnownAddresses::add(std::string_view name, std::string_view operands) {
    const auto parts = divided(operands);
    if (parts.empty()) return false;
    const std::string_view to = parts.back();
    const bool is_register = to.front() == '%' && to.find("mm") == std::string_view::npos;
    // Instructions without an operand that name registers: cltd, div.
    if (!is_register && !on_stack(to)) return false;
    const std::string place(is_register ? whole_register(to.substr(1)) : to);
    const std::string_view from = parts.front();
    const bool constant = from.front() == '$';
    const auto amount = constant ? constant_of(from.substr(1)) : std::nullopt;
    const bool readable =
        from.front() == '%' ? from.find("mm") == std::string_view::npos : !constant && on_stack(from);
    Sum result;
    bool known = false, found = true;
    if (parts.size() == 2 && is_one_of(name, {"leaq", "leal"})) {
        result = address(from);
        // A step of a pointer is an instruction of its own.
        known = is_known(result) && from.find(to) == std::string_view::npos;
    } else if (parts.size() == 2 && is_one_of(name, {"movq", "movl", "movslq"}) && readable) {
        result = value(from);
    } else if (parts.size() == 2 && is_one_of(name, {"addq", "addl", "subq", "subl"}) &&
               (amount || readable)) {
        result = value(to);
        const std::int64_t sign = name.front() == 'a' ? 1 : -1;
        result.add(amount ? Sum{{}, *amount} : value(from), sign);
        known = !constant && is_known(result);
    } else if (parts.size() == 2 && is_one_of(name, {"salq", "sall", "shlq"}) && amount && *amount >= 0 &&
               *amount < 32) {
        result.add(value(to), std::int64_t{1} << *amount);
        known = is_known(result);
    } else {
        found = false;
    }
    if (name.substr(0, 3) != "cmp" && name.substr(0, 4) != "test")
        values_[place] = found ? result : unknown();
    return known;
}

void KnownAddresses::add_call() {
    for (const std::string_view name : {"rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11"})
        if (const auto found = values_.find(name); found != values_.end()) values_.erase(found);
}

void KnownAddresses::clear() {
    values_.clear();
    known_.clear();
}

}  // namespace cuscope::simt
