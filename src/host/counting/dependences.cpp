#include "host/counting/dependences.hpp"

#include <algorithm>
#include <utility>

#include "host/counting/operands.hpp"

namespace cuscope::simt {
namespace {

bool begins(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }

// The result replaces the last operand, which is not read.
bool only_writes(std::string_view name, std::size_t operands) {
    if (operands >= 3) return !begins(name, "vf");  // a fused multiplication adds to its last operand
    for (const std::string_view beginning : {"mov", "vmov", "lea", "cvt", "vcvt", "set", "sqrt", "pshuf"})
        if (begins(name, beginning)) return true;
    return false;
}

bool compares(std::string_view name) {
    for (const std::string_view beginning : {"cmp", "test", "ucomi", "comi", "vucomi", "vcomi", "bt"})
        if (begins(name, beginning) && !begins(name, "cmpss") && !begins(name, "cmpsd")) return true;
    return false;
}

}  // namespace

Dependences::Place Dependences::place(std::string_view name) {
    const auto found = places_.find(name);
    if (found != places_.end()) return found->second;
    const auto number = static_cast<Place>(places_.size());
    places_.emplace(name, number);
    return number;
}

// Only a place of the stack that no register chooses is known.
Dependences::Place Dependences::memory(std::string_view operand) {
    const std::size_t bracket = operand.find('(');
    const std::string_view address = operand.substr(bracket);
    return address == "(%rsp)" || address == "(%rbp)" ? place(operand) : none;
}

void Dependences::add_registers(std::string_view operand, Instruction& to) {
    for (std::size_t at = operand.find('%'); at != std::string_view::npos; at = operand.find('%', at + 1)) {
        const std::size_t end = std::min(operand.find_first_of(",)", at), operand.size());
        const std::string_view name = operand.substr(at + 1, end - at - 1);
        if (name != "rsp" && name != "rip" && name != "fs") to.sources.push_back(place(whole_register(name)));
    }
}

void Dependences::add(std::string_view name, std::string_view operands, double instructions, bool is_step) {
    const auto parts = divided(operands);
    if (parts.empty()) return;
    Instruction its;
    its.instructions = instructions;
    its.is_step = is_step;
    const bool is_float = operands.find("mm") != std::string_view::npos;
    its.multiplies = is_float && (begins(name, "mul") || begins(name, "vmul"));
    its.adds = is_float &&
               (begins(name, "add") || begins(name, "sub") || begins(name, "vadd") || begins(name, "vsub"));
    const std::string_view last = parts.back();
    const bool to_memory = last.find('(') != std::string_view::npos;
    const bool zeroes = parts.size() == 2 && parts[0] == last &&
                        (begins(name, "xor") || begins(name, "pxor") || begins(name, "vpxor"));
    for (const std::string_view& part : parts) {
        if (zeroes || part.front() == '$') continue;
        const bool is_last = &part == &parts.back();
        if (part.find('(') != std::string_view::npos) {
            if (begins(name, "lea") || memory(part) == none) add_registers(part, its);
            if (const Place from = memory(part);
                from != none && !begins(name, "lea") && !(is_last && only_writes(name, parts.size())))
                its.sources.push_back(from);
        } else if (!is_last || !only_writes(name, parts.size())) {
            add_registers(part, its);
        }
    }
    if (!compares(name))
        its.result = to_memory             ? memory(last)
                     : last.front() == '%' ? place(whole_register(last.substr(1)))
                                           : none;
    instructions_.push_back(std::move(its));
}

void Dependences::add_call(double instructions) {
    for (const std::string_view its : {"mm0", "rax"}) {
        Instruction call;
        call.instructions = instructions;
        call.result = place(its);
        call.sources = its == "rax" ? std::vector<Place>{place("rdi"), place("rsi"), place("rdx")}
                                    : std::vector<Place>{place("mm0"), place("mm1")};
        instructions_.push_back(std::move(call));
    }
}

void Dependences::drop_last() {
    if (!instructions_.empty()) instructions_.pop_back();
}

void Dependences::run(Chain& chain, double step) const {
    for (const Instruction& its : instructions_) {
        Value longest;
        double others = 0;
        for (const Place source : its.sources) {
            const auto found = chain.at.find(source);
            if (found == chain.at.end()) continue;
            if (found->second.length > longest.length) {
                others = std::max(others, longest.length);
                longest = found->second;
            } else {
                others = std::max(others, found->second.length);
            }
        }
        Value result;
        if (its.adds) {
            result.length = std::max(longest.unmultiplied, others) + its.instructions;
            result.unmultiplied = result.length;
        } else if (its.instructions == 0 && its.sources.size() == 1) {
            result = longest;  // a move
        } else {
            result.length = longest.length + its.instructions * (its.is_step ? step : 1);
            result.unmultiplied = its.multiplies ? longest.length : result.length;
        }
        if (its.result != none) chain.at[its.result] = result;
        chain.longest = std::max(chain.longest, result.length);
    }
}

double Dependences::longest() const {
    Chain chain;
    run(chain, 1);
    return chain.longest;
}

double Dependences::growth(double step) const {
    // The first execution may still read values from before the loop.
    Chain chain;
    for (int i = 0; i < 2; ++i) run(chain, step);
    const auto before = chain.at;
    run(chain, step);
    double most = 0;
    for (const auto& [place, value] : chain.at)
        if (const auto found = before.find(place); found != before.end())
            most = std::max(most, value.length - found->second.length);
    return most;
}

}  // namespace cuscope::simt
