#include "host/counting/block_costs.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>
#include <vector>

#include "cuscope_simt/abi.h"
#include "host/counting/dependences.hpp"
#include "host/counting/known_addresses.hpp"

namespace cuscope::simt {
namespace {

using cuscope_simt::CostKind;

#if defined(__x86_64__)

constexpr std::string_view hook = "__sanitizer_cov_trace_pc";

// The instructions of a GPU for a function or an instruction that a GPU does not have: its approximation
// (MUFU) and the instructions around it, as nvcc 13 writes them for sm_90 without --use_fast_math.
struct Expansion {
    std::string_view name;
    double integer, float32, float64, special, control;
};
constexpr std::array expansions{
    Expansion{"expf", 1, 5, 0, 1, 0},
    Expansion{"exp2f", 1, 3, 0, 1, 0},
    Expansion{"exp10f", 1, 6, 0, 1, 0},
    Expansion{"logf", 4, 13, 0, 1, 1},
    Expansion{"log2f", 2, 4, 0, 1, 0},
    Expansion{"log10f", 4, 14, 0, 1, 1},
    Expansion{"log1pf", 4, 16, 0, 1, 1},
    Expansion{"expm1f", 2, 12, 0, 1, 0},
    Expansion{"sinf", 7, 14, 0, 2, 2},
    Expansion{"cosf", 7, 14, 0, 2, 2},
    Expansion{"sincosf", 10, 22, 0, 2, 2},
    Expansion{"tanf", 7, 20, 0, 3, 2},
    Expansion{"powf", 14, 40, 0, 4, 4},
    Expansion{"tanhf", 3, 9, 0, 2, 1},
    Expansion{"sqrtf", 2, 6, 0, 1, 1},
    Expansion{"rsqrtf", 0, 2, 0, 1, 0},
    Expansion{"cbrtf", 3, 8, 0, 2, 0},
    Expansion{"atanf", 3, 14, 0, 1, 0},
    Expansion{"atan2f", 8, 22, 0, 1, 2},
    Expansion{"erff", 4, 14, 0, 1, 1},
    Expansion{"fmodf", 12, 12, 0, 2, 4},
    Expansion{"floorf", 0, 0, 0, 1, 0},
    Expansion{"ceilf", 0, 0, 0, 1, 0},
    Expansion{"truncf", 0, 0, 0, 1, 0},
    Expansion{"rintf", 0, 0, 0, 1, 0},
    Expansion{"roundf", 1, 3, 0, 1, 0},
    Expansion{"fmaf", 0, 1, 0, 0, 0},
    Expansion{"fma", 0, 0, 1, 0, 0},
    Expansion{"exp", 8, 0, 18, 0, 1},
    Expansion{"log", 12, 0, 26, 1, 2},
    Expansion{"sin", 16, 0, 24, 0, 3},
    Expansion{"cos", 16, 0, 24, 0, 3},
    Expansion{"sincos", 18, 0, 40, 0, 3},
    Expansion{"pow", 30, 0, 70, 1, 6},
    Expansion{"sqrt", 4, 0, 10, 1, 1},
    Expansion{"floor", 0, 0, 1, 0, 0},
    Expansion{"fmod", 20, 0, 20, 1, 4},
    Expansion{"#divide float32", 1, 8, 0, 1, 2},
    Expansion{"#divide float64", 4, 0, 10, 1, 2},
    Expansion{"#divide 32", 14, 0, 0, 3, 0},
    Expansion{"#divide 64", 60, 0, 0, 2, 4},
    Expansion{"cuscope_cp_async", 0, 0, 0, 0, 0},  // the test of its result stands for the copy
    // A call of a function of the source, and of a function of the C library that is not in the table.
    Expansion{"#call", 2, 0, 0, 0, 2},
    Expansion{"#unknown", 8, 16, 0, 2, 2},
};

// An address is one instruction for several accesses: a GPU adds constants in the access itself.
constexpr double address = 0.5;
// nvcc unrolls a loop of one basic block four times, so that one test and one step serve four iterations.
constexpr double unrolled = 0.25;
// nvcc gives predicates to the instructions of a conditional block with up to so many of them.
constexpr double most_predicated = 8;

struct Costs {
    double integer = 0, float32 = 0, float64 = 0, special = 0, control = 0;
    // Additions of constants. In an unrolled loop, one serves several iterations.
    double steps = 0;
    // Additions and multiplications, from which a GPU makes fused instructions.
    double add32 = 0, multiply32 = 0, add64 = 0, multiply64 = 0;
    bool branches = false;
    // Operations with floats and doubles; a fused instruction has two.
    double operations32 = 0, operations64 = 0;
    unsigned seen = 0;  // machine instructions
    double chain = 0;   // the instructions of the longest chain that wait for each other

    void expand(std::string_view name) {
        for (const Expansion& it : expansions) {
            if (it.name != name) continue;
            integer += it.integer, float32 += it.float32, float64 += it.float64, special += it.special,
                control += it.control;
            operations32 += it.float32, operations64 += it.float64;
            return;
        }
        expand("#unknown");
    }
    double sum() const {
        return integer + steps + float32 + float64 + special + control + add32 + multiply32 + add64 +
               multiply64;
    }
    std::array<double, cuscope_simt::cost_kinds> all() const {
        return {integer + steps, float32 + std::max(add32, multiply32), float64 + std::max(add64, multiply64),
                special, control};
    }
};

struct Line {
    std::string_view word, rest;  // a label: word with ':'; an instruction: mnemonic and operands
};

bool starts(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }

bool ends(std::string_view text, std::string_view with) {
    return text.size() >= with.size() && text.substr(text.size() - with.size()) == with;
}

Line split(std::string_view line) {
    const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
    line.remove_prefix(begin);
    line = line.substr(0, line.find('#'));
    const std::size_t space = std::min(line.find_first_of(" \t"), line.size());
    std::string_view rest = line.substr(space);
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    return {line.substr(0, space), rest};
}

// Labels of code that ends the kernel: behind a check of alignment or of the stack, which a GPU does not
// make.
std::set<std::string_view> fatal_labels(const std::vector<Line>& lines) {
    std::set<std::string_view> found;
    std::vector<std::string_view> open;
    for (const Line& line : lines) {
        if (!line.word.empty() && line.word.back() == ':') {
            open.push_back(line.word.substr(0, line.word.size() - 1));
        } else if (starts(line.word, "call")) {
            if (starts(line.rest, "__ubsan") || starts(line.rest, "__stack_chk_fail"))
                found.insert(open.begin(), open.end());
            open.clear();
        } else if (starts(line.word, "j") || starts(line.word, "ret")) {
            open.clear();
        }
    }
    return found;
}

// The costs of one instruction, apart from jumps and calls.
void count(const Line& line, Costs& costs) {
    const std::string_view name = line.word, operands = line.rest;
    const auto any = [&](std::initializer_list<std::string_view> beginnings) {
        return std::any_of(beginnings.begin(), beginnings.end(),
                           [&](std::string_view beginning) { return starts(name, beginning); });
    };
    const bool vector =
        operands.find("%xmm") != std::string_view::npos || operands.find("%ymm") != std::string_view::npos;
    const std::size_t comma = operands.rfind(',');
    const std::string_view last = comma == std::string_view::npos ? operands : operands.substr(comma + 1);
    const bool own_stack =
        last.find("%rsp") != std::string_view::npos && last.find('(') == std::string_view::npos;
    if (own_stack ||
        any({"push", "pop", "ret", "nop", "endbr", "leave", "lock", "xchg", "rep", "mfence", "ud2"}))
        return;
    if (vector) {
        const bool is_double = ends(name, "sd") || ends(name, "pd");
        double& adds = is_double ? costs.add64 : costs.add32;
        double& multiplies = is_double ? costs.multiply64 : costs.multiply32;
        double& others = is_double ? costs.float64 : costs.float32;
        double& operations = is_double ? costs.operations64 : costs.operations32;
        if (any({"cvt", "vcvt", "round"})) {
            costs.special += 1;
        } else if (any({"add", "sub", "vadd", "vsub"})) {
            adds += 1;
            operations += 1;
        } else if (any({"mul", "vmul"})) {
            multiplies += 1;
            operations += 1;
        } else if (any({"div", "vdiv"})) {
            costs.expand(is_double ? "#divide float64" : "#divide float32");
        } else if (any({"sqrt", "vsqrt"})) {
            costs.expand(is_double ? "sqrt" : "sqrtf");
        } else if (any({"ucomi", "comi", "cmp", "min", "max", "vfma", "vfnm", "vfms"})) {
            others += 1;
            operations += starts(name, "vf") ? 2 : 0;  // fused multiplications and additions
        } else if (any({"padd", "psub", "pmul", "pcmp", "pmin", "pmax", "psll", "psrl", "psra"})) {
            costs.integer += 1;
        }
        return;
    }
    if (any({"mov", "cltq", "cltd", "cqto", "cwtl"})) return;
    if (any({"lea"})) {
        if (operands.find("%rip") == std::string_view::npos) costs.integer += address;
        return;
    }
    // Most integers of kernels have 32 bits, and most 64-bit sums and products are addresses.
    if (any({"addq", "subq", "salq", "shlq", "imulq"})) {
        (operands.front() == '$' && starts(name, "add") ? costs.steps : costs.integer) += address;
        return;
    }
    if (any({"addl", "subl"}) && operands.front() == '$') {
        costs.steps += 1;
        return;
    }
    if (any({"idiv", "div"})) return costs.expand(ends(name, "q") ? "#divide 64" : "#divide 32");
    if (any({"popcnt", "lzcnt", "tzcnt", "bsr", "bsf"})) {
        costs.special += 1;
        return;
    }
    // xorl %eax, %eax sets a register to zero.
    if (any({"xor"}) && comma != std::string_view::npos) {
        std::string_view first = operands.substr(0, comma);
        std::string_view second = last;
        second.remove_prefix(std::min(second.find_first_not_of(' '), second.size()));
        if (first == second) return;
    }
    costs.integer += 1;
}

class Reader {
  public:
    Reader(std::string_view assembly, const std::vector<LoopLines>& loops)
        : assembly_(assembly), loops_(loops) {}

    std::string run() {
        std::vector<Line> lines;
        std::vector<std::string_view> texts;
        for (std::size_t at = 0; at < assembly_.size();) {
            const std::size_t end = std::min(assembly_.find('\n', at), assembly_.size());
            texts.push_back(assembly_.substr(at, end - at));
            lines.push_back(split(texts.back()));
            at = end + 1;
        }
        fatal_ = fatal_labels(lines);
        std::string result;
        result.reserve(assembly_.size() + assembly_.size() / 4);
        for (std::size_t i = 0; i < lines.size(); ++i) {
            result.append(texts[i]).append("\n");
            if (read(lines[i])) result += site(blocks_.size() - 1) + ":\n";
            if (lines[i].word == ".loc") result += place(places_ - 1) + ":\n";
        }
        return result + section();
    }

  private:
    static constexpr std::size_t none = ~std::size_t{0};
    struct Block {
        Costs costs;
        bool before_predicated = false, meets = false;
        LoopLoads loads;
        std::size_t predicated_accesses = 0;
    };
    // A block that the branch of the block before it skips, if that branch goes to the label behind it.
    struct Conditional {
        std::string_view label;  // empty: there is no such block
        std::size_t accesses = 0;
        bool begun = false, ended = false;  // by a hook, and by a label
        bool meeting = false;               // the block before it waits for other threads, and then branches
    };
    // The instructions of a block from a place of a line on.
    struct Piece {
        std::size_t place = 0, block = 0;
        Costs costs;
        bool last = false;
    };
    static std::string site(std::size_t block) { return ".Lcuscope_site_" + std::to_string(block); }
    static std::string place(std::size_t number) { return ".Lcuscope_place_" + std::to_string(number); }

    // True behind the hook of a basic block.
    bool read(const Line& line) {
        if (line.word.empty()) return false;
        if (line.word.back() == ':') {
            // A label ends a part of the code, but debug information has labels in the middle of it. GCC's
            // are .LBB1, .LBE1, .LVL1 and .LFB1, Clang's .Ltmp1; .LBB1_2 is a label of Clang's code.
            const bool inside = starts(line.word, ".LV") || starts(line.word, ".LF") ||
                                starts(line.word, ".Ltmp") ||
                                (starts(line.word, ".LB") && line.word.find('_') == std::string_view::npos);
            if (!inside && !starts(line.word, ".Lcuscope")) {
                if (!labels_open_) start();
                end_conditional(line.word.substr(0, line.word.size() - 1));
                labels_.insert(line.word.substr(0, line.word.size() - 1));
                labels_open_ = true;
                addresses_.clear();  // other code jumps here, with other values
            }
            return false;
        }
        if (line.word.front() == '.') {
            // .size ends a function. The next function may have no hook.
            if (starts(line.word, ".section") || line.word == ".text" || line.word == ".size") {
                start();
                end_block();
                place_ = none;
            }
            if (line.word == ".file") loops_.file(line.rest);
            if (line.word == ".loc") {
                place_ = places_++;
                begun_.push_back({place_, costs_});
                loops_.line(line.rest);
            }
            return false;
        }
        labels_open_ = false;
        if (conditional_.ended) conditional_ = {};
        ++costs_.seen;
        if (starts(line.word, "call")) return call(line.rest);
        if (line.word.front() == 'j') {
            jump(line);
            return false;
        }
        before_ = costs_;
        // A GPU adds a constant in the access.
        if (!addresses_.add(line.word, line.rest)) count(line, costs_);
        depend(line);
        return false;
    }

    bool call(std::string_view to) {
        to = to.substr(0, to.find('@'));
        if (to == hook) {
            addresses_.add_call();
            // Instructions of this part before the hook belong to the same block.
            if (hooked_) start();
            end_block();
            blocks_.emplace_back();
            block_ = blocks_.size() - 1;
            loops_.begin_block();
            if (std::exchange(conditional_.begun, true)) conditional_ = {};
            hooked_ = true;
            return true;
        }
        // The last one finds shared memory, whose addresses a GPU knows.
        if (starts(to, "__tsan") || starts(to, "__ubsan") || starts(to, "__stack_chk") ||
            to == "cuscope_count" || to == "cuscope_begin_thread" || to == "__tls_get_addr") {
            addresses_.add_call();
            if (starts(to, "__tsan_read") || starts(to, "__tsan_write")) ++conditional_.accesses;
            if (starts(to, "__tsan_read") && block_ != none) blocks_[block_].loads.add(loops_.place());
            return false;
        }
        conditional_ = {};
        before_ = costs_;
        // A barrier or a warp operation; GCC calls it through a pointer.
        meets_ = starts(to, "*") || to.find("switching") != std::string_view::npos;
        if (starts(to, "*")) {
            costs_.control += 1;
        } else if (starts(to, "_Z")) {
            costs_.expand("#call");
        } else {
            costs_.expand(to);
        }
        dependences_.add_call(costs_.sum() - before_.sum());
        addresses_.add_call();
        return false;
    }

    void depend(const Line& line) {
        const double steps = costs_.steps - before_.steps;
        dependences_.add(line.word, line.rest, costs_.sum() - before_.sum(), steps > 0);
    }

    void jump(const Line& line) {
        if (fatal_.count(line.rest) != 0) {
            costs_ = before_;  // without the test
            dependences_.drop_last();
            for (auto& begun : begun_) begun.before = begun.before.seen > costs_.seen ? costs_ : begun.before;
            return;
        }
        if (line.word == "jp") return;  // the second jump of a comparison of floats
        conditional_ = {};
        if (line.word == "jmp") {
            costs_.branches = costs_.branches || starts(line.rest, "*");  // a table of jumps
            start();
            return;
        }
        const bool loop = hooked_ && labels_.count(line.rest) != 0;
        costs_.branches = true;
        costs_.control += loop ? unrolled : 1;
        if (loop) {
            costs_.integer -= std::min(costs_.integer, 1 - unrolled);  // the test
            costs_.steps *= unrolled;
        } else {
            conditional_.label = line.rest;
            conditional_.meeting = meets_;
        }
        start(loop);
    }

    // A label begins. If the branch before the last block goes to it, that block is conditional.
    void end_conditional(std::string_view label) {
        conditional_.ended = true;
        if (!conditional_.begun || conditional_.label != label || blocks_.size() < 2) return;
        const auto accesses = static_cast<double>(conditional_.accesses);
        if (blocks_.back().costs.sum() + accesses > most_predicated) return;
        Block& before = blocks_[blocks_.size() - 2];
        before.before_predicated = true;
        before.meets = conditional_.meeting;
        before.predicated_accesses = conditional_.accesses;
    }

    // Ends a part of the code. A part without a hook belongs to the block before it.
    void start(bool loop = false) {
        if (block_ != none) {
            Costs& sum = blocks_[block_].costs;
            sum.integer += costs_.integer, sum.steps += costs_.steps, sum.float32 += costs_.float32,
                sum.float64 += costs_.float64, sum.special += costs_.special, sum.control += costs_.control,
                sum.add32 += costs_.add32, sum.multiply32 += costs_.multiply32, sum.add64 += costs_.add64,
                sum.multiply64 += costs_.multiply64,
                sum.chain += loop ? dependences_.growth(unrolled) : dependences_.longest();
            sum.branches = sum.branches || costs_.branches;
            add_pieces();
        }
        begun_.assign(1, {place_, {}});
        costs_ = before_ = {};
        dependences_.clear();
        labels_.clear();
        hooked_ = meets_ = false;
    }

    // Divides the current part by its lines.
    void add_pieces() {
        const std::size_t first = pieces_.size();
        for (std::size_t i = 0; i < begun_.size(); ++i) {
            const Costs& end = i + 1 < begun_.size() ? begun_[i + 1].before : costs_;
            const Costs& begin = begun_[i].before;
            if (begun_[i].place == none || end.seen == begin.seen) continue;
            Piece piece{begun_[i].place, block_, {}, false};
            const auto set = [&](double Costs::*member) {
                piece.costs.*member = std::max(0.0, end.*member - begin.*member);
            };
            for (const auto member :
                 {&Costs::integer, &Costs::float32, &Costs::float64, &Costs::special, &Costs::control,
                  &Costs::steps, &Costs::add32, &Costs::multiply32, &Costs::add64, &Costs::multiply64,
                  &Costs::operations32, &Costs::operations64})
                set(member);
            pieces_.push_back(piece);
        }
        if (costs_.branches && pieces_.size() > first) pieces_.back().last = true;
    }

    // The costs of a block are those of its lines: what the block saves is divided among them.
    std::string lines_section() const {
        std::vector<std::array<double, cuscope_simt::cost_kinds>> sums(blocks_.size());
        for (const Piece& piece : pieces_) {
            const auto costs = piece.costs.all();
            for (std::size_t i = 0; i < costs.size(); ++i) sums[piece.block][i] += costs[i];
        }
        std::string text = "\t.section cuscope_lines,\"a\",@progbits\n\t.balign 4\n";
        const auto number = [](double count) {
            return std::to_string(
                static_cast<unsigned>(std::min(4e9, count * cuscope_simt::line_cost_units + 0.5)));
        };
        for (const Piece& piece : pieces_) {
            text += "\t.long " + site(piece.block) + " - .\n\t.long " + place(piece.place) + " - .\n\t.long ";
            const auto costs = piece.costs.all(), whole = blocks_[piece.block].costs.all();
            for (std::size_t i = 0; i < costs.size(); ++i) {
                const double sum = sums[piece.block][i];
                text += number(sum == 0 ? 0 : costs[i] * whole[i] / sum) + ", ";
            }
            text += number(piece.costs.operations32) + ", " + number(piece.costs.operations64) + ", " +
                    (piece.last ? "1\n" : "0\n");
        }
        return text;
    }

    void end_block() {
        if (block_ != none) blocks_[block_].loads.end(loops_.around());
        block_ = none;
    }

    // together, rest, place and entry of BlockCost
    std::string loop_of(const Block& block) const {
        const LoopLines* const loop = block.loads.loop();
        if (loop == nullptr || loop->together == 0) return "0, 0, 0, 0";
        const unsigned place = loops_.number(*loop) % 256 * 256 + block.loads.number() % 256;
        return std::to_string(block.loads.executions(loop->together)) + ", " +
               std::to_string(block.loads.executions(loop->rest)) + ", " + std::to_string(place) + ", " +
               std::to_string(loop->entry);
    }

    std::string section() {
        start();
        end_block();
        if (blocks_.empty()) return "";
        std::string text = "\t.section cuscope_costs,\"a\",@progbits\n\t.balign 4\n";
        for (std::size_t i = 0; i < blocks_.size(); ++i) {
            const auto quarters = [](double count) {
                return std::to_string(static_cast<unsigned>(std::min(65535.0, count * 4 + 0.5))) + ", ";
            };
            text += "\t.long " + site(i) + " - .\n\t.value ";
            for (const double count : blocks_[i].costs.all()) text += quarters(count);
            const unsigned flags = (blocks_[i].costs.branches ? cuscope_simt::ends_with_branch : 0u) |
                                   (blocks_[i].before_predicated ? cuscope_simt::next_is_predicated : 0u) |
                                   (blocks_[i].meets ? cuscope_simt::meets_before_branch : 0u);
            text += quarters(blocks_[i].costs.chain) + std::to_string(flags) + ", " +
                    std::to_string(blocks_[i].predicated_accesses) + ", " + loop_of(blocks_[i]) + "\n";
        }
        // Behind it, the section of the assembly's own end mark.
        return text + lines_section() + "\t.text\n";
    }

    std::string_view assembly_;
    LoopPlaces loops_;
    std::set<std::string_view> fatal_, labels_;
    std::vector<Block> blocks_;
    std::size_t block_ = none;  // gets the instructions of the current part
    Dependences dependences_;   // of the current part
    KnownAddresses addresses_;  // since the last label
    Costs costs_, before_;      // of the current part, and without its last instruction
    bool hooked_ = false, labels_open_ = false;
    bool meets_ = false;  // the current part waits for other threads
    Conditional conditional_;
    // The places of lines in the current part, with the costs before each.
    struct Begun {
        std::size_t place;
        Costs before;
    };
    std::vector<Begun> begun_;
    std::vector<Piece> pieces_;
    std::size_t place_ = none, places_ = 0;
};

#endif

}  // namespace

std::string with_block_costs(std::string_view assembly,
                             [[maybe_unused]] const std::vector<LoopLines>& loops) {
#if defined(__x86_64__)
    return Reader(assembly, loops).run();
#else
    return std::string(assembly);
#endif
}

}  // namespace cuscope::simt
