// The longest chain of instructions in a straight piece of assembly that wait for each other's results.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cuscope::simt {

// Of x86-64 in the syntax of AT&T: the last operand is the result.
class Dependences {
  public:
    // `instructions`: of a GPU, for this one of the processor. `is_step`: it adds a constant, as a loop does
    // to its counter.
    void add(std::string_view name, std::string_view operands, double instructions, bool is_step);
    // A function that takes the first registers for arguments, and returns its result there.
    void add_call(double instructions);
    void drop_last();
    // The longest chain of one execution.
    double longest() const;
    // The instructions by which the chain grows with each execution, if the piece is the body of a loop. A
    // step of the loop's counter counts as `step` of an instruction.
    double growth(double step) const;
    void clear() { instructions_.clear(); }

  private:
    // Registers by their first names, and places of the stack by their addresses.
    using Place = int;
    static constexpr Place none = -1;
    struct Instruction {
        std::vector<Place> sources;
        Place result = none;
        double instructions = 0;
        bool is_step = false, multiplies = false, adds = false;
    };
    struct Value {
        double length = 0;
        // A GPU makes one instruction of a multiplication and the addition behind it.
        double unmultiplied = 0;  // the length without the multiplication, if the value is a product
    };
    struct Chain {
        std::map<Place, Value> at;
        double longest = 0;
    };

    Place place(std::string_view name);
    Place memory(std::string_view operand);
    void add_registers(std::string_view operand, Instruction& to);
    void run(Chain& chain, double step) const;

    std::map<std::string, Place, std::less<>> places_;
    std::vector<Instruction> instructions_;
};

}  // namespace cuscope::simt
