// Which addresses in a piece of assembly lie at a constant distance from each other. A GPU adds a constant in
// the access itself, so one instruction serves all of them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cuscope::simt {

class KnownAddresses {
  public:
    // Adds the next instruction of the piece. True if its result lies at a constant distance from a result
    // before it, or from a value that the piece began with.
    bool add(std::string_view name, std::string_view operands);
    // A call changes the registers that a called function may change.
    void add_call();
    void clear();

  private:
    // A constant, and numbers times values that are not known.
    struct Sum {
        std::map<unsigned, std::int64_t> terms;
        std::int64_t constant = 0;
        void add(const Sum& other, std::int64_t times);
    };
    Sum unknown() { return {{{next_++, 1}}, 0}; }
    Sum value(std::string_view place);
    Sum address(std::string_view operand);
    bool is_known(const Sum& sum);

    std::map<std::string, Sum, std::less<>> values_;  // by register or place of the stack
    std::set<std::map<unsigned, std::int64_t>> known_;
    unsigned next_ = 0;
};

}  // namespace cuscope::simt
