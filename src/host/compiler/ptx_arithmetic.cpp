#include "host/compiler/ptx_arithmetic.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "host/compiler/word_lists.hpp"

namespace cuscope::simt {
namespace {

// An instruction with the modifiers that decide what it computes, and the function of ptx_arithmetic.h. The
// letters of `inputs` and `output` are types: T is the instruction's, W has twice its width, U is a number of
// 32 bits.
struct Instruction {
    std::string_view ptx, function, inputs;
    std::string_view types = "us";  // the first letters of the types that it may have
    char output = 'T';
};

// Functions of Integer<T>.
constexpr auto of_integers = std::to_array<Instruction>({
    {"add", "add", "TT"},
    {"sub", "sub", "TT"},
    {"add.sat", "add_sat", "TT", "s"},
    {"sub.sat", "sub_sat", "TT", "s"},
    {"mul.lo", "mul_lo", "TT"},
    {"mul.hi", "mul_hi", "TT"},
    {"mul.wide", "mul_wide", "TT", "us", 'W'},
    {"mad.lo", "mad_lo", "TTT"},
    {"mad.hi", "mad_hi", "TTT"},
    {"mad.wide", "mad_wide", "TTW", "us", 'W'},
    {"mul24.lo", "mul24_lo", "TT"},
    {"mul24.hi", "mul24_hi", "TT"},
    {"mad24.lo", "mad24_lo", "TTT"},
    {"sad", "sad", "TTT"},
    {"div", "div", "TT"},
    {"rem", "rem", "TT"},
    {"neg", "neg", "T", "s"},
    {"abs", "abs", "T", "s"},
    {"min", "min", "TT"},
    {"max", "max", "TT"},
    {"and", "bit_and", "TT", "b"},
    {"or", "bit_or", "TT", "b"},
    {"xor", "bit_xor", "TT", "b"},
    {"not", "bit_not", "T", "b"},
    {"cnot", "cnot", "T", "b"},
    {"shl", "shl", "TU", "b"},
    {"shr", "shr", "TU", "bus"},
    {"popc", "popc", "T", "b", 'U'},
    {"clz", "clz", "T", "b", 'U'},
    {"brev", "brev", "T", "b"},
    {"bfind", "bfind", "T", "us", 'U'},
    {"bfind.shiftamt", "bfind_shiftamt", "T", "us", 'U'},
    {"bfe", "bfe", "TUU"},
    {"bfi", "bfi", "TTUU", "b"},
});

// Functions of Float<T, ...>. In place of types, whether the instruction has a rounding mode: it must have
// one
// ("yes"), it may ("maybe"), or it has none ("no").
constexpr auto of_floats = std::to_array<Instruction>({
    {"add", "add", "TT", "maybe"},
    {"sub", "sub", "TT", "maybe"},
    {"mul", "mul", "TT", "maybe"},
    {"fma", "fma", "TTT", "yes"},
    {"mad", "fma", "TTT", "yes"},
    {"div", "div", "TT", "yes"},
    {"div.approx", "div", "TT", "no"},
    {"div.full", "div", "TT", "no"},
    {"rcp", "rcp", "T", "yes"},
    {"rcp.approx", "rcp", "T", "no"},
    {"sqrt", "sqrt", "T", "yes"},
    {"sqrt.approx", "sqrt", "T", "no"},
    {"rsqrt.approx", "rsqrt", "T", "no"},
    {"neg", "neg", "T", "no"},
    {"abs", "abs", "T", "no"},
    {"copysign", "copysign", "TT", "no"},
    {"min", "min", "TT", "no"},
    {"max", "max", "TT", "no"},
    {"min.NaN", "min_NaN", "TT", "no"},
    {"max.NaN", "max_NaN", "TT", "no"},
});

// Functions of Float16<...>.
constexpr auto of_halves = std::to_array<Instruction>({
    {"add", "add", "TT"},
    {"sub", "sub", "TT"},
    {"mul", "mul", "TT"},
    {"fma", "fma", "TTT"},
    {"neg", "neg", "T"},
    {"abs", "abs", "T"},
    {"min", "min", "TT"},
    {"max", "max", "TT"},
    {"ex2.approx", "ex2", "T"},
    {"tanh.approx", "tanh", "T"},
});

template <std::size_t n>
const Instruction* find(const std::array<Instruction, n>& list, std::string_view ptx) {
    for (const Instruction& it : list)
        if (it.ptx == ptx) return &it;
    return nullptr;
}

bool is_half(std::string_view type) { return type == "f16" || type == "bf16"; }
bool is_float(std::string_view type) { return type == "f32" || type == "f64"; }
bool is_type(std::string_view word) {
    return type_of(word) != nullptr || word == "pred" || is_half(word) || word == "f16x2" || word == "bf16x2";
}
std::string float16(std::string_view type) {
    return std::string("::cuscope_simt::ptx::Float16") + (type[0] == 'b' ? "<8, 7>" : "<5, 10>");
}

class Arithmetic {
  public:
    Arithmetic(const std::string& opcode, const std::vector<std::string>& operands, const PtxOperands& read,
               PtxCode* out)
        : operands_(operands), read_(read), out_(*out) {
        const std::vector<std::string> parts = parts_of(opcode);
        operation_ = parts[0];
        std::size_t end = parts.size();
        while (end > 1 && is_type(parts[end - 1])) --end;
        types_.assign(parts.begin() + static_cast<std::ptrdiff_t>(end), parts.end());
        for (std::size_t i = 1; i < end; ++i) {
            static constexpr std::array<std::pair<std::string_view, std::string_view>, 8> roundings{
                {{"rn", "nearest"},
                 {"rz", "zero"},
                 {"rm", "down"},
                 {"rp", "up"},
                 {"rni", "nearest"},
                 {"rzi", "zero"},
                 {"rmi", "down"},
                 {"rpi", "up"}}};
            const auto rounding = std::find_if(roundings.begin(), roundings.end(),
                                               [&](const auto& it) { return it.first == parts[i]; });
            if (rounding != roundings.end()) {
                rounding_ = rounding->second;
                rounds_to_integer_ = parts[i].size() == 3;
            } else if (parts[i] == "ftz") {
                ftz_ = true;
            } else if (parts[i] == "cc") {
                sets_carry_ = true;
            } else if (parts[i] == "sat") {
                sat_ = true;
            } else {
                modifiers_.push_back(parts[i]);
            }
        }
    }

    bool translate() {
        if (operation_ == "mov") return types_.size() == 1 && move();
        if (operation_ == "cvt") return types_.size() == 2 && convert();
        if (operation_ == "setp") return types_.size() == 1 && compare();
        if (operation_ == "testp") return types_.size() == 1 && test();
        if (operation_ == "dp4a") return dot_product();
        if (types_.size() != 1) return false;
        if (types_[0] == "pred") return logic();
        if (operation_ == "addc" || operation_ == "subc" || operation_ == "madc" || sets_carry_)
            return carry();
        if (is_float(types_[0])) return compute_floats();
        if (types_[0].find("f16") != std::string::npos) return compute_halves();
        return compute_integers();
    }

  private:
    static constexpr const char* ptx = "::cuscope_simt::ptx::";

    // The operation and its modifiers, without rounding, .ftz, .sat and .cc.
    std::string name() const {
        std::string text = operation_;
        for (const std::string& modifier : modifiers_) text += "." + modifier;
        return text;
    }

    std::optional<std::string> value(std::size_t i, const std::string& type) const {
        return read_.number(operands_[i], type);
    }

    // The result goes to the first operand; '_' takes none.
    bool put(const std::string& result, std::string_view function = "put_number") {
        const std::string to = read_.expression(operands_[0]);
        if (to.empty() && operands_[0] != "_") return false;
        out_.body +=
            to.empty() ? result + "; " : ptx + std::string(function) + "(" + to + ", " + result + "); ";
        return true;
    }

    bool call(const std::string& function, std::string_view inputs, const std::string& type) {
        if (operands_.size() != inputs.size() + 1) return false;
        std::string text = function + "(";
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const auto argument =
                value(i + 1, inputs[i] == 'U'   ? "unsigned"
                             : inputs[i] == 'W' ? "typename " + (ptx + ("Widths<" + type)) + ">::Twice"
                                                : type);
            if (!argument) return false;
            text += (i == 0 ? "" : ", ") + *argument;
        }
        return put(text + ")");
    }

    bool compute_integers() {
        const Instruction* const found = find(of_integers, name() + (sat_ ? ".sat" : ""));
        const std::string type = type_of(types_[0]);
        if (found == nullptr || ftz_ || !rounding_.empty() || type.find("char") != std::string::npos ||
            found->types.find(types_[0][0]) == std::string_view::npos)
            return false;
        if ((sat_ || name().find("24") != std::string::npos) && types_[0].substr(1) != "32") return false;
        if (found->output == 'W' && types_[0].substr(1) == "64") return false;
        return call(ptx + ("Integer<" + type) + ">::" + std::string(found->function), found->inputs, type);
    }

    std::string float_of(const std::string& type) const {
        return ptx + ("Float<" + type) + ", " + ptx +
               "Round::" + (rounding_.empty() ? "nearest" : rounding_) + ", " + (ftz_ ? "true" : "false") +
               ", " + (sat_ ? "true" : "false") + ">";
    }

    bool compute_floats() {
        const Instruction* const found = find(of_floats, name());
        const std::string type = type_of(types_[0]);
        if (found == nullptr || rounds_to_integer_) return false;
        if (found->types == (rounding_.empty() ? "yes" : "no")) return false;
        return call(float_of(type) + "::" + std::string(found->function), found->inputs, type);
    }

    bool compute_halves() {
        const Instruction* const found = find(of_halves, name());
        const bool two = types_[0].ends_with("x2");
        if (found == nullptr || sat_ || operands_.size() != found->inputs.size() + 1 ||
            (!rounding_.empty() && rounding_ != "nearest"))
            return false;
        const std::string function = float16(types_[0]) + "::" + std::string(found->function);
        if (!two) return call(function, found->inputs, "unsigned short");
        static constexpr std::array<const char*, 3> names{"a", "b", "c"};
        std::string lambda =
            "[](unsigned short a, unsigned short b, unsigned short c) { (void)b; (void)c; return " +
            function + "(";
        std::string arguments;
        for (std::size_t i = 0; i < found->inputs.size(); ++i) {
            const auto argument = value(i + 1, "unsigned");
            if (!argument) return false;
            lambda += (i == 0 ? "" : ", ") + std::string(names[i]);
            arguments += ", " + *argument;
        }
        return put(std::string(ptx) + "both(" + lambda + "); }" + arguments + ")");
    }

    // and.pred p, q, !r;
    bool logic() {
        static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> operators{
            {{"and", " & "}, {"or", " | "}, {"xor", " ^ "}}};
        if (operands_.empty() || !modifiers_.empty()) return false;
        const auto to = read_.predicate_to_set(operands_[0]);
        if (!to) return false;
        if (operation_ == "not" && operands_.size() == 2) {
            const auto from = read_.predicate(operands_[1]);
            if (from) out_.body += *to + " = !(" + *from + "); ";
            return from.has_value();
        }
        for (const auto& [word, op] : operators) {
            if (word != operation_ || operands_.size() != 3) continue;
            const auto a = read_.predicate(operands_[1]), b = read_.predicate(operands_[2]);
            if (!a || !b) return false;
            out_.body += *to + " = bool(" + *a + ")" + std::string(op) + "bool(" + *b + "); ";
            return true;
        }
        return false;
    }

    // add.cc.u32 d, a, b;  addc.cc.u32 d, a, b;  madc.lo.cc.u32 d, a, b, c;  The carry is a variable of the
    // asm statement, so an instruction that uses it needs one before it that sets it.
    bool carry() {
        static const std::string carry = "the carry";  // no name of a register
        const bool known =
            std::find(out_.registers.begin(), out_.registers.end(), carry) != out_.registers.end();
        const bool uses = operation_.size() == 4;
        static constexpr std::array<std::string_view, 4> types{"u32", "s32", "u64", "s64"};
        if (sat_ || !holds(types, types_[0]) || (uses && !known)) return false;
        const std::string op = operation_.substr(0, 3), type = type_of(types_[0]);
        if (!known) {
            out_.registers.push_back(carry);
            out_.variables += "bool carry = false; ";
        }
        const std::string flags = std::string(", carry, ") + (uses ? "true" : "false") + ", " +
                                  (sets_carry_ ? "true" : "false") + ")";
        const std::string integer = ptx + ("Integer<" + type) + ">::";
        if ((op == "add" || op == "sub") && operands_.size() == 3 && modifiers_.empty()) {
            const auto a = value(1, type), b = value(2, type);
            return a && b && put(integer + op + "_carry(" + *a + ", " + *b + flags);
        }
        if (op == "mad" && operands_.size() == 4 && (name().ends_with(".lo") || name().ends_with(".hi"))) {
            const auto a = value(1, type), b = value(2, type), c = value(3, type);
            return a && b && c &&
                   put(integer + "add_carry(" + integer + "mul_" + modifiers_[0] + "(" + *a + ", " + *b +
                       "), " + *c + flags);
        }
        return false;
    }

    // mov.b64 d, a;  mov.b64 d, {low, high};  mov.b64 {low, high}, a;
    bool move() {
        if (!modifiers_.empty() || operands_.size() != 2) return false;
        if (types_[0] == "pred") {
            const auto to = read_.predicate_to_set(operands_[0]), from = read_.predicate(operands_[1]);
            if (!to || !from) return false;
            out_.body += *to + " = " + *from + "; ";
            return true;
        }
        const char* const type = type_of(types_[0]);
        if (type == nullptr) return false;
        const bool packs = operands_[1][0] == '{', unpacks = operands_[0][0] == '{';
        if (!packs && !unpacks) {
            const auto from = value(1, type);
            return from && put(*from, "put");
        }
        const std::vector<std::string> parts = read_.list(operands_[packs ? 1 : 0]);
        const std::string whole = read_.expression(operands_[packs ? 0 : 1]);
        const std::string bits = types_[0].substr(1);
        const std::string part = bits == "64" && parts.size() == 2   ? "unsigned"
                                 : bits == "64" && parts.size() == 4 ? "unsigned short"
                                 : bits == "32" && parts.size() == 2 ? "unsigned short"
                                 : bits == "32" && parts.size() == 4 ? "unsigned char"
                                 : bits == "16" && parts.size() == 2 ? "unsigned char"
                                                                     : "";
        if ((packs && unpacks) || part.empty() || whole.empty()) return false;
        out_.body += part + " v[" + std::to_string(parts.size()) + "]; ";
        if (unpacks) out_.body += ptx + ("put(v, " + whole) + "); ";
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const std::string element = "v[" + std::to_string(i) + "]";
            out_.body +=
                ptx + ("put(" + (packs ? element + ", " + parts[i] : parts[i] + ", " + element)) + "); ";
        }
        if (packs) out_.body += ptx + ("put(" + whole) + ", v); ";
        return true;
    }

    // cvt.rzi.s32.f32 d, a;
    bool convert() {
        const std::string &to = types_[0], &from = types_[1];
        if (operands_.size() != 2 || !modifiers_.empty() || to == "pred" || from == "pred" ||
            to.ends_with("x2") || from.ends_with("x2"))
            return false;
        // Halves are converted by way of double, which holds all of them.
        const std::string from_type = is_half(from) ? "double" : type_of(from);
        const std::string to_type = is_half(to) ? "double" : type_of(to);
        std::optional<std::string> input = value(1, is_half(from) ? "unsigned short" : from_type);
        if (!input) return false;
        if (is_half(from)) input = float16(from) + "::wide(" + *input + ")";
        const bool from_integer = from_type.find("float") == std::string::npos && from_type != "double";
        const bool to_integer = to_type.find("float") == std::string::npos && to_type != "double";
        const std::string round = ptx + std::string("Round::") + (rounding_.empty() ? "nearest" : rounding_);
        const std::string ftz = ftz_ ? "true" : "false", sat = sat_ ? "true" : "false";
        if (from_integer && to_integer)
            return put(ptx + ("integer_of_integer<" + to_type) + ", " + from_type + ", " + sat + ">(" +
                       *input + ")");
        if (to_integer)
            return rounds_to_integer_ && put(ptx + ("integer_of_float<" + to_type) + ", " + round + ", " +
                                             from_type + ", " + ftz + ">(" + *input + ")");
        if (rounds_to_integer_) {
            if (to != from || is_half(to)) return false;
            return put(float_of(to_type) + "::integral(" + *input + ")");
        }
        // A number that may not fit has to say how it is rounded, and any other must not.
        const auto width = [](const std::string& type) {
            return is_half(type) ? 16 : type == "f32" ? 32 : 64;
        };
        if ((from_integer || width(to) < width(from)) == rounding_.empty()) return false;
        if (!is_half(to))
            return put(ptx + ("float_of<" + to_type) + ", " + round + ", " + from_type + ", " + ftz + ", " +
                       sat + ">(" + *input + ")");
        if (sat_) return false;
        if (from_integer) input = "::cuscope_simt::to_odd(" + *input + ")";
        return put(float16(to) + "::of(" + *input +
                   ", ::cuscope_simt::Toward::" + (rounding_.empty() ? "nearest" : rounding_) + ")");
    }

    // setp.lt.and.s32 p|q, a, b, c;  q gets the opposite comparison.
    bool compare() {
        static constexpr std::array<std::pair<std::string_view, std::string_view>, 18> comparisons{
            {{"eq", "a == b"},
             {"ne", "a < b || a > b"},
             {"lt", "a < b"},
             {"le", "a <= b"},
             {"gt", "a > b"},
             {"ge", "a >= b"},
             {"lo", "a < b"},
             {"ls", "a <= b"},
             {"hi", "a > b"},
             {"hs", "a >= b"},
             {"equ", "!(a < b || a > b)"},
             {"neu", "a != b"},
             {"ltu", "!(a >= b)"},
             {"leu", "!(a > b)"},
             {"gtu", "!(a <= b)"},
             {"geu", "!(a < b)"},
             {"num", "a == a && b == b"},
             {"nan", "a != a || b != b"}}};
        static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> combinations{
            {{"and", " && "}, {"or", " || "}, {"xor", " != "}}};
        const bool combines = modifiers_.size() == 2;
        if (modifiers_.empty() || modifiers_.size() > 2 || sat_ || operands_.size() != (combines ? 4u : 3u))
            return false;
        const bool halves = is_half(types_[0]);
        if (!halves && type_of(types_[0]) == nullptr) return false;
        const std::string type = halves ? "unsigned short" : type_of(types_[0]);
        const auto found = std::find_if(comparisons.begin(), comparisons.end(),
                                        [&](const auto& it) { return it.first == modifiers_[0]; });
        auto a = value(1, type), b = value(2, type);
        if (found == comparisons.end() || !a || !b) return false;
        if (halves)
            a = float16(types_[0]) + "::wide(" + *a + ")", b = float16(types_[0]) + "::wide(" + *b + ")";
        if (is_float(types_[0]))
            a = float_of(type) + "::in(" + *a + ")", b = float_of(type) + "::in(" + *b + ")";
        const std::vector<std::string> to = split(operands_[0], '|');
        if (to.size() > 2) return false;
        out_.body += "const auto a = " + *a + "; const auto b = " + *b +
                     "; const bool first = " + std::string(found->second) + "; ";
        std::string behind;
        if (combines) {
            const auto combination = std::find_if(combinations.begin(), combinations.end(),
                                                  [&](const auto& it) { return it.first == modifiers_[1]; });
            const auto other = read_.predicate(operands_[3]);
            if (combination == combinations.end() || !other) return false;
            out_.body += "const bool other = " + *other + "; ";
            behind = std::string(combination->second) + "other";
        }
        for (std::size_t i = 0; i < to.size(); ++i) {
            if (to[i] == "_") continue;
            const auto target = read_.predicate_to_set(to[i]);
            if (!target) return false;
            out_.body += *target + " = " + (i == 0 ? "first" : "!first") + behind + "; ";
        }
        return true;
    }

    // testp.finite.f32 p, a;
    bool test() {
        static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> tests{
            {{"finite", "__builtin_isfinite(a)"},
             {"infinite", "__builtin_isinf(a)"},
             {"number", "a == a"},
             {"notanumber", "a != a"},
             {"normal", "__builtin_isnormal(a)"},
             {"subnormal", "__builtin_isfinite(a) && a != 0 && !__builtin_isnormal(a)"}}};
        if (!is_float(types_[0]) || modifiers_.size() != 1 || operands_.size() != 2) return false;
        const auto to = read_.predicate_to_set(operands_[0]);
        const auto a = value(1, type_of(types_[0]));
        for (const auto& [word, expression] : tests) {
            if (word != modifiers_[0] || !to || !a) continue;
            out_.body += "const auto a = " + *a + "; " + *to + " = " + std::string(expression) + "; ";
            return true;
        }
        return false;
    }

    // dp4a.s32.u32 d, a, b, c;
    bool dot_product() {
        if (types_.size() != 2 || operands_.size() != 4 || !modifiers_.empty()) return false;
        const bool a_signed = types_[0] == "s32", b_signed = types_[1] == "s32";
        if ((!a_signed && types_[0] != "u32") || (!b_signed && types_[1] != "u32")) return false;
        const std::string sum = a_signed || b_signed ? "int" : "unsigned";
        const auto a = value(1, "unsigned"), b = value(2, "unsigned"), c = value(3, sum);
        return a && b && c &&
               put(ptx + std::string("dp4a<") + (a_signed ? "signed" : "unsigned") + " char, " +
                   (b_signed ? "signed" : "unsigned") + " char>(" + *a + ", " + *b + ", " + *c + ")");
    }

    const std::vector<std::string>& operands_;
    const PtxOperands& read_;
    PtxCode& out_;
    std::string operation_, rounding_;
    std::vector<std::string> types_, modifiers_;
    bool rounds_to_integer_ = false, ftz_ = false, sat_ = false, sets_carry_ = false;
};

}  // namespace

bool translate_arithmetic(const std::string& opcode, const std::vector<std::string>& operands,
                          const PtxOperands& read, PtxCode* out) {
    const std::size_t before = out->body.size();
    if (Arithmetic(opcode, operands, read, out).translate()) return true;
    out->body.resize(before);
    return false;
}

}  // namespace cuscope::simt
