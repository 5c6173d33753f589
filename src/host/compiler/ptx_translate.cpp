// Translates inline PTX of whole instructions: each becomes a call of a function of cuscope_simt::ptx with
// the statement's operands. A label becomes a label of C++.
#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "host/compiler/ptx.hpp"
#include "host/compiler/ptx_arithmetic.hpp"
#include "host/compiler/ptx_operands.hpp"
#include "host/compiler/ptx_tensor.hpp"
#include "host/compiler/ptx_warp.hpp"
#include "host/compiler/word_lists.hpp"

namespace cuscope::simt {
namespace {

// Opcodes with a function of the same name. '_' replaces characters that a name cannot hold.
constexpr std::array<std::string_view, 21> plain{
    "ex2.approx.f32",    "ex2.approx.ftz.f32", "lg2.approx.f32",   "lg2.approx.ftz.f32",
    "sin.approx.f32",    "sin.approx.ftz.f32", "cos.approx.f32",   "cos.approx.ftz.f32",
    "tanh.approx.f32",   "lop3.b32",           "prmt.b32",         "shf.l.wrap.b32",
    "shf.r.wrap.b32",    "shf.l.clamp.b32",    "shf.r.clamp.b32",  "vabsdiff4.u32.u32.u32.add",
    "cvt.rn.f16x2.f32",  "cvt.rn.bf16x2.f32",  "cvt.rna.tf32.f32", "cvta.to.shared.u64",
    "cvta.to.global.u64"};

// Beginnings of opcodes without an effect here: they order or announce work that this executor does at once.
constexpr std::array<std::string_view, 16> idle{"cp.async.commit_group",
                                                "cp.async.wait_group",
                                                "cp.async.wait_all",
                                                "cp.async.bulk.commit_group",
                                                "cp.async.bulk.wait_group",
                                                "cp.async.bulk.prefetch",
                                                "prefetch.global.L1",
                                                "prefetch.global.L2",
                                                "prefetch.tensormap",
                                                "prefetchu.L1",
                                                "fence.proxy",
                                                "fence.mbarrier_init",
                                                "setmaxnreg",
                                                "wgmma.fence",
                                                "wgmma.commit_group",
                                                "wgmma.wait_group"};

constexpr std::array<std::string_view, 10> fences{
    "membar.cta",        "membar.gl",    "membar.sys",   "fence.acq_rel.cta", "fence.acq_rel.gpu",
    "fence.acq_rel.sys", "fence.sc.cta", "fence.sc.gpu", "fence.sc.sys",      "fence.acq_rel.cluster"};

constexpr std::array<std::string_view, 11> barriers{
    "bar.sync",         "bar.arrive",         "bar.cta.sync",         "bar.cta.arrive",
    "barrier.sync",     "barrier.arrive",     "barrier.sync.aligned", "barrier.arrive.aligned",
    "barrier.cta.sync", "barrier.cta.arrive", "bar.warp.sync"};

template <std::size_t n>
bool begins_with_one_of(const std::array<std::string_view, n>& list, std::string_view word) {
    return std::any_of(list.begin(), list.end(), [&](std::string_view begin) {
        return word.starts_with(begin) && (word.size() == begin.size() || word[begin.size()] == '.');
    });
}

// A name of PTX. "%=" is a number that differs for each asm statement.
bool is_label(std::string_view text) {
    return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
           std::all_of(text.begin(), text.end(), [](unsigned char c) {
               return std::isalnum(c) != 0 || c == '_' || c == '$' || c == '%' || c == '=';
           });
}
// The label of C++, in the function that the asm statement becomes.
std::string label(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    return "at_" + text;
}

// The elements of a factor of a tensor core's product.
struct Element {
    std::string_view ptx;
    unsigned bits;
    std::string_view sum;  // the type of the sums
    std::string name;      // of the class that reads them from registers
};

const Element* element(std::string_view ptx) {
    static const std::array<Element, 7> elements{
        {{"f16", 16, "f32", "::cuscope_simt::ptx::Half"},
         {"bf16", 16, "f32", "::cuscope_simt::ptx::Bfloat"},
         {"tf32", 32, "f32", "::cuscope_simt::ptx::Tf32"},
         {"e4m3", 8, "f32", "::cuscope_simt::ptx::Float8<::cuscope_simt::E4M3>"},
         {"e5m2", 8, "f32", "::cuscope_simt::ptx::Float8<::cuscope_simt::E5M2>"},
         {"s8", 8, "s32", "::cuscope_simt::ptx::Signed"},
         {"u8", 8, "s32", "::cuscope_simt::ptx::Unsigned"}}};
    const auto found =
        std::find_if(elements.begin(), elements.end(), [&](const Element& it) { return it.ptx == ptx; });
    return found == elements.end() ? nullptr : &*found;
}
// Can one factor have elements a, and the other b? Elements of 8 bits may differ.
bool match(const Element* a, const Element* b) {
    return a != nullptr && b != nullptr && a->bits == b->bits && a->sum == b->sum && (a == b || a->bits == 8);
}

class Translation {
  public:
    Translation(const std::vector<std::string>& names, std::string site, PtxCode* out)
        : read_(names, out->registers), site_(std::move(site)), out_(*out) {}

    bool instruction(const std::string& text) {
        if (text[0] != '@') return unconditional(text);
        // @p, @!p: executes only if the predicate is true (or false).
        const std::size_t space = std::min(text.find_first_of(" \t\n"), text.size());
        const auto predicate = read_.predicate(text.substr(1, space - 1));
        if (!predicate) return false;
        out_.body += "if (" + *predicate + ") { ";
        // Other instructions of the statement may meet other threads.
        const bool warp = std::exchange(out_.uses_warp, false);
        const bool barriers = std::exchange(out_.uses_barriers, false);
        if (!unconditional(trimmed(text.substr(space)))) return false;
        out_.body += "} ";
        const bool meets = out_.uses_warp || out_.uses_barriers;
        out_.uses_warp = warp;
        out_.uses_barriers = barriers;
        return !meets;
    }

  private:
    bool unconditional(const std::string& text) {
        if (text.empty()) return false;
        const std::size_t space = std::min(text.find_first_of(" \t\n"), text.size());
        opcode_ = text.substr(0, space);
        operands_ = space == text.size() ? std::vector<std::string>{} : split(text.substr(space), ',');
        if (opcode_ == ".reg") return registers(text.substr(space));
        if (opcode_.find(':') == opcode_.size() - 1 || opcode_[0] == '.') return false;
        if (begins_with_one_of(idle, opcode_)) return true;
        if (holds(fences, opcode_)) return call("::__threadfence", {}, "");
        if (opcode_ == "trap") return call("::__trap", {}, "");
        if (opcode_ == "nanosleep.u32") return call("::__nanosleep", operands_, "");
        if (holds(plain, opcode_)) return call("::cuscope_simt::ptx::" + named(opcode_), operands_, "");
        const std::vector<std::string> parts = parts_of(opcode_);
        if (parts[0] == "bra") return jump();
        if (is_tensor_instruction(opcode_))
            return translate_tensor_instruction(opcode_, operands_, read_, site_, &out_);
        if (opcode_.find("cp.async.c") == 0) return asynchronous_copy(parts);
        if (holds(barriers, opcode_)) return barrier();
        if (parts[0] == "red" || parts[0] == "atom") return atomic(parts);
        if (parts[0] == "ldmatrix") return matrix(parts);
        if (parts[0] == "mma") return multiplication(parts);
        if (parts[0] == "wgmma") return warpgroup_multiplication(parts);
        if (parts[0] == "ld" || parts[0] == "st") return access(parts);
        if (parts[0] == "selp") return choice(parts);
        return translate_warp_instruction(opcode_, operands_, read_, site_, &out_) ||
               translate_arithmetic(opcode_, operands_, read_, &out_);
    }

    // bra LABEL; of a loop that waits, as a rule. The thread that it waits for has to run.
    bool jump() {
        if (operands_.size() != 1 || !is_label(operands_[0])) return false;
        out_.body += "::cuscope_simt::poll(); goto " + label(operands_[0]) + "; ";
        out_.sees_others = true;
        return true;
    }

    static std::string named(const std::string& opcode) {
        std::string name = opcode;
        std::replace(name.begin(), name.end(), '.', '_');
        return name;
    }

    // .reg .u64 address, other;
    bool registers(const std::string& declaration) {
        const std::string text = trimmed(declaration);
        const std::size_t space = std::min(text.find_first_of(" \t\n"), text.size());
        const std::string name_of_type = text[0] == '.' ? text.substr(1, space - 1) : "";
        const char* const type = name_of_type == "pred" ? "bool" : type_of(name_of_type);
        if (type == nullptr || space == text.size()) return false;
        for (std::string name : split(text.substr(space), ',')) {
            if (name.starts_with("%%")) name.erase(0, 2);
            const bool simple = std::all_of(name.begin(), name.end(),
                                            [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
            if (name.empty() || !simple) return false;
            out_.registers.push_back(name);
            out_.variables += std::string(type) + " r_" + name + " = 0; ";
        }
        return true;
    }

    bool call(const std::string& function, const std::vector<std::string>& operands,
              const std::string& first) {
        std::string arguments = first;
        for (const std::string& operand : operands) {
            const std::string text = expression(operand);
            if (text.empty()) return false;
            arguments += (arguments.empty() ? "" : ", ") + text;
        }
        out_.body += function + "(" + arguments + "); ";
        return true;
    }

    // cp.async.ca.shared.global [to], [from], bytes, bytes to read (the rest becomes zeroes);
    bool asynchronous_copy(const std::vector<std::string>& parts) {
        if (std::find(parts.begin(), parts.end(), "global") == parts.end() || operands_.size() < 3 ||
            operands_.size() > 4)
            return false;
        const std::string to = address(operands_[0], true), from = address(operands_[1], false);
        if (to.empty() || from.empty()) return false;
        return call("::cuscope_simt::ptx::cp_async", {operands_.begin() + 2, operands_.end()},
                    to + ", " + from);
    }

    // selp.b32 d, a, b, p;
    bool choice(const std::vector<std::string>& parts) {
        const char* const type = type_of(parts.back());
        if (type == nullptr || parts.size() != 2 || operands_.size() != 4) return false;
        const std::string to = expression(operands_[0]);
        const auto yes = read_.number(operands_[1], type), no = read_.number(operands_[2], type);
        const auto predicate = read_.predicate(operands_[3]);
        if (to.empty() || !yes || !no || !predicate) return false;
        out_.body +=
            "::cuscope_simt::ptx::put(" + to + ", " + *predicate + " ? " + *yes + " : " + *no + "); ";
        return true;
    }

    // The barrier of a block, or that of a warp's lanes.
    // bar.sync number, threads;  bar.arrive number, threads;  bar.warp.sync mask;
    bool barrier() {
        const bool arrives = opcode_.find(".arrive") != std::string::npos;
        if (operands_.empty() || operands_.size() > 2 || (arrives && operands_.size() != 2)) return false;
        const std::string first = expression(operands_[0]);
        const std::string threads = operands_.size() == 2 ? expression(operands_[1]) : "0";
        if (first.empty() || threads.empty()) return false;
        out_.body += "const auto site = " + site_ + "; ";
        if (opcode_ == "bar.warp.sync") {
            if (operands_.size() != 1) return false;
            out_.uses_warp = true;
            out_.body += "::cuscope_simt::rendezvous(::cuscope_simt::WarpKind::sync, " + first +
                         ", 0, 0, nullptr, &site); ";
            return true;
        }
        out_.uses_barriers = true;
        if (first == "0" && operands_.size() == 1) {
            out_.body += "::cuscope_simt::barrier(::cuscope_simt::BarrierKind::plain, 0, &site); ";
        } else {
            out_.body += "::cuscope_simt::named_barrier(static_cast<unsigned>(" + first +
                         "), static_cast<unsigned>(" + threads + "), " + (arrives ? "false" : "true") +
                         ", &site); ";
        }
        return true;
    }

    // red.global.add.f32 [to], value;  atom.global.cas.b32 old, [to], expected, value;
    bool atomic(const std::vector<std::string>& parts) {
        static constexpr std::array<std::pair<std::string_view, std::string_view>, 10> functions{
            {{"add", "Add"},
             {"min", "Min"},
             {"max", "Max"},
             {"and", "And"},
             {"or", "Or"},
             {"xor", "Xor"},
             {"exch", "Exch"},
             {"cas", "CAS"},
             {"inc", "Inc"},
             {"dec", "Dec"}}};
        const std::size_t first = parts[0] == "red" ? 0 : 1;
        const char* type = type_of(parts.back());
        if (type == nullptr || parts.size() < 3) return false;
        const std::string& operation = parts[parts.size() - 2];
        const auto function = std::find_if(functions.begin(), functions.end(),
                                           [&](const auto& it) { return it.first == operation; });
        const bool compares = operation == "cas";
        if (function == functions.end() || operands_.size() != first + (compares ? 3 : 2)) return false;
        // CUDA's function for sums of 64 bits takes them without a sign, which gives the same bits.
        if (parts.back() == "s64" && operation == "add") type = type_of("u64");
        bool shared = false, orders = false;
        for (std::size_t i = 1; i + 2 < parts.size(); ++i) {
            static constexpr std::array<std::string_view, 11> known{
                "global",  "shared", "shared::cta", "relaxed", "acquire", "release",
                "acq_rel", "cta",    "cluster",     "gpu",     "sys"};
            if (!holds(known, parts[i])) return false;
            shared = shared || parts[i].find("shared") == 0;
            orders = orders || parts[i] == "acquire" || parts[i] == "release" || parts[i] == "acq_rel";
        }
        const std::string where = address(operands_[first], shared);
        const std::string old = first == 0 ? "v" : expression(operands_[0]);
        if (where.empty() || old.empty()) return false;
        if (orders) out_.body += "::cuscope_simt::synchronized(::cuscope_simt::Synchronization::fence); ";
        std::string call =
            "::atomic" + std::string(function->second) + "(reinterpret_cast<" + type + "*>(" + where + ")";
        for (std::size_t i = first + 1; i < operands_.size(); ++i) {
            const auto value = read_.number(operands_[i], type);
            if (!value) return false;
            call += ", " + *value;
        }
        out_.body += first == 0 ? call + "); " : "::cuscope_simt::ptx::put(" + old + ", " + call + ")); ";
        out_.sees_others = true;
        return true;
    }

    // ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {d...}, [row];
    bool matrix(const std::vector<std::string>& parts) {
        if (operands_.size() != 2 || std::find(parts.begin(), parts.end(), "m8n8") == parts.end())
            return false;
        const bool transposed = std::find(parts.begin(), parts.end(), "trans") != parts.end();
        const std::vector<std::string> to = list(operands_[0]);
        const std::string from = address(operands_[1], true);
        if ((to.size() != 1 && to.size() != 2 && to.size() != 4) || from.empty()) return false;
        const std::string count = std::to_string(to.size());
        if (std::find(parts.begin(), parts.end(), "x" + count) == parts.end()) return false;
        out_.body += "unsigned d[" + count + "]; ::cuscope_simt::ptx::ldmatrix<" + count + ", " +
                     (transposed ? "true" : "false") + ">(d, " + from + ", " + site_ + "); ";
        for (std::size_t i = 0; i < to.size(); ++i)
            out_.body += "::cuscope_simt::ptx::put(" + to[i] + ", d[" + std::to_string(i) + "]); ";
        out_.uses_warp = true;
        return true;
    }

    // mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d...}, {a...}, {b...}, {c...};
    bool multiplication(const std::vector<std::string>& parts) {
        std::size_t at = 1;
        for (const char* word : {"sync", "aligned"})
            if (at < parts.size() && parts[at] == word) ++at;
        if (at + 7 != parts.size() || operands_.size() != 4 || parts[at + 1] != "row" ||
            parts[at + 2] != "col")
            return false;
        const std::string &shape = parts[at], &d = parts[at + 3], &a = parts[at + 4], &b = parts[at + 5],
                          &c = parts[at + 6];
        if (a == "f64") return multiplication_of_doubles(shape, b == a && c == a && d == a);
        const Element *const of_a = element(a), *const of_b = element(b);
        if (shape.find("m16n8k") != 0 || !is_number(shape.substr(6)) || c != d || !match(of_a, of_b))
            return false;
        // A slice of 16 or 32 bytes of k.
        const std::size_t depth = std::stoul(shape.substr(6)), bytes = depth * of_a->bits / 8;
        if (bytes != 16 && bytes != 32) return false;
        if (d != of_a->sum && !(a == "f16" && d == "f16")) return false;
        const char* const sum = d == "f16" ? "unsigned" : d == "f32" ? "float" : "int";
        out_.body += "struct { unsigned a[4], b[2]; " + std::string(sum) + " c[4], d[4]; } m = {}; ";
        return multiply("mma<" + std::to_string(depth) + ", " + of_a->name + ", " + of_b->name + ", " +
                            (d == "f16" ? "true" : "false") + ">",
                        {4, 4, 2, 4}, false);
    }

    // mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {d...}, {a...}, {b...}, {c...};
    bool multiplication_of_doubles(const std::string& shape, bool of_doubles) {
        static constexpr std::array<std::string_view, 4> shapes{"m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"};
        if (!of_doubles || !holds(shapes, shape)) return false;
        const std::size_t rows8 = shape[1] == '8' ? 1 : 2, k = std::stoul(shape.substr(shape.find('k') + 1));
        const std::array<std::size_t, 4> counts{2 * rows8, rows8 * k / 4, k / 4, 2 * rows8};  // of d, a, b, c
        out_.body += "struct { double ";
        for (std::size_t i = 0; i < 4; ++i)
            out_.body += std::string(1, "dabc"[i]) + "[" + std::to_string(counts[i]) +
                         (i < 3 ? "], " : "]; } m = {}; ");
        return multiply("mma_f64<" + std::to_string(rows8) + ", " + std::to_string(k) + ">", counts, true);
    }

    // Calls a function on the members a, b, c and d of `m`. `counts`: the most registers of d, a, b and c,
    // or, if `exactly`, their numbers.
    bool multiply(const std::string& function, const std::array<std::size_t, 4>& counts, bool exactly) {
        std::array<std::vector<std::string>, 4> registers;
        for (std::size_t i = 0; i < 4; ++i) {
            registers[i] = list(operands_[i]);
            const std::size_t count = registers[i].size();
            if (count == 0 || count > counts[i] || (exactly && count != counts[i])) return false;
        }
        const auto put = [&](const std::string& to, const std::string& from) {
            out_.body += "::cuscope_simt::ptx::put(" + to + ", " + from + "); ";
        };
        const auto member = [](std::size_t i, std::size_t j) {
            return std::string("m.") + "dabc"[i] + "[" + std::to_string(j) + "]";
        };
        for (std::size_t i = 1; i < 4; ++i)
            for (std::size_t j = 0; j < registers[i].size(); ++j) put(member(i, j), registers[i][j]);
        out_.body += "::cuscope_simt::ptx::" + function + "(m.d, m.a, m.b, m.c, " + site_ + "); ";
        for (std::size_t j = 0; j < registers[0].size(); ++j) put(registers[0][j], member(0, j));
        out_.uses_warp = true;
        return true;
    }

    // wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {d...}, a, b, adds, sign of a, sign of b,
    // transposed a, transposed b;  b is the descriptor of a matrix in shared memory, and so is a, if it is
    // not {a...}, four registers. Only factors of 16 bits may be transposed, and integers have no signs here.
    bool warpgroup_multiplication(const std::vector<std::string>& parts) {
        if (parts.size() != 8 || parts[1] != "mma_async" || operands_.size() < 4) return false;
        const std::string& shape = parts[4];
        const Element *const of_a = element(parts[6]), *const of_b = element(parts[7]);
        const std::size_t depth = shape.rfind('k');
        if (shape.find("m64n") != 0 || !match(of_a, of_b) || parts[5] != of_a->sum ||
            shape.substr(depth + 1) != std::to_string(256 / of_a->bits))
            return false;
        const bool in_registers = operands_[1].starts_with('{'), is_integer = parts[5] == "s32";
        const std::size_t transposed = of_a->bits != 16 ? 0 : in_registers ? 1 : 2;
        if (operands_.size() != (is_integer ? 4 : 6 + transposed)) return false;
        const std::string columns = shape.substr(4, depth - 4);
        const std::vector<std::string> sums = list(operands_[0]);
        if (!is_number(columns) || sums.size() * 2 != std::stoul(columns)) return false;

        const auto b = read_.number(operands_[2], "unsigned long long"), adds = read_.predicate(operands_[3]);
        std::string sign = "1";
        if (!is_integer) {
            const std::string first = expression(operands_[4]), second = expression(operands_[5]);
            if (first.empty() || second.empty()) return false;
            sign = first + " * " + second;
        }
        const std::string b_transposed = transposed == 0 ? "false" : expression(operands_.back()) + " != 0";
        if (!b || !adds || b_transposed[0] == ' ') return false;
        const std::string a_transposed = transposed == 2 ? expression(operands_[6]) + " != 0" : "false";
        const std::string type = is_integer ? "int" : "float", ptx = "::cuscope_simt::ptx::";
        out_.body += type + " d[" + std::to_string(sums.size()) + "]; ";
        for (std::size_t i = 0; i < sums.size(); ++i)
            out_.body += ptx + "put(d[" + std::to_string(i) + "], " + sums[i] + "); ";
        if (in_registers) {
            const std::vector<std::string> registers = list(operands_[1]);
            if (registers.size() != 4) return false;
            out_.body += "unsigned a[4]; const auto site = " + site_ + "; ";
            for (std::size_t i = 0; i < 4; ++i)
                out_.body += ptx + "put(a[" + std::to_string(i) + "], " + registers[i] + "); ";
            out_.body += "const " + ptx + "RegisterMatrix of_a(a, site); ";
            out_.uses_warp = true;
        } else {
            const auto a = read_.number(operands_[1], "unsigned long long");
            if (!a || a_transposed[0] == ' ') return false;
            out_.body += "const " + ptx + "DescribedMatrix of_a(" + *a + ", " + a_transposed + "); ";
        }
        out_.body += ptx + "wgmma<" + columns + ", " + std::to_string(256 / of_a->bits) + ", " + of_a->name +
                     ", " + of_b->name + ">(d, of_a, " + ptx + "DescribedMatrix(" + *b + ", " + b_transposed +
                     "), " + *adds + ", " + sign + "); ";
        if (in_registers) out_.body += "of_a.release(site); ";
        for (std::size_t i = 0; i < sums.size(); ++i)
            out_.body += ptx + "put(" + sums[i] + ", d[" + std::to_string(i) + "]); ";
        return true;
    }

    // ld.global.nc.v4.f32 {d...}, [from];  st.shared.u32 [to], value;
    bool access(const std::vector<std::string>& parts) {
        const bool load = parts[0] == "ld";
        if (operands_.size() != 2) return false;
        bool shared = false, waits = false;
        for (std::size_t i = 1; i + 1 < parts.size(); ++i) {
            static constexpr std::array<std::string_view, 27> known{
                "global",   "shared",   "shared::cta", "const",   "local",
                "nc",       "ca",       "cg",          "cs",      "cv",
                "lu",       "wb",       "wt",          "v2",      "v4",
                "weak",     "volatile", "relaxed",     "acquire", "release",
                "cta",      "gpu",      "sys",         "cluster", "L1::no_allocate",
                "L2::128B", "L2::256B"};
            if (!holds(known, parts[i])) return false;
            shared = shared || parts[i] == "shared" || parts[i] == "shared::cta";
            waits = waits || parts[i] == "volatile" || parts[i] == "relaxed" || parts[i] == "acquire" ||
                    parts[i] == "release";
        }
        const char* const type = type_of(parts.back());
        const std::string where = address(operands_[load ? 1 : 0], shared);
        const std::vector<std::string> values = list(operands_[load ? 0 : 1]);
        if (type == nullptr || where.empty() || values.empty()) return false;
        const std::string order = waits ? "::cuscope_simt::ptx::visible(); " : "";
        const std::string suffix = waits ? "_ordered" : "";
        if (load) out_.body += order;
        if (load) {
            const std::string count = std::to_string(values.size());
            out_.body += std::string(type) + " v[" + count + "]; ::cuscope_simt::ptx::read" + suffix +
                         "(v, " + where + "); ";
            for (std::size_t k = 0; k < values.size(); ++k)
                out_.body += "::cuscope_simt::ptx::put(" + values[k] + ", v[" + std::to_string(k) + "]); ";
        } else {
            out_.body += std::string(type) + " v[" + std::to_string(values.size()) + "]; ";
            for (std::size_t k = 0; k < values.size(); ++k)
                out_.body += "::cuscope_simt::ptx::put(v[" + std::to_string(k) + "], " + values[k] + "); ";
            out_.body += "::cuscope_simt::ptx::write" + suffix + "(" + where + ", v); " + order;
        }
        out_.sees_others = out_.sees_others || waits;
        return true;
    }

    std::string expression(const std::string& text) const { return read_.expression(text); }
    std::string address(const std::string& text, bool shared) const { return read_.address(text, shared); }
    std::vector<std::string> list(const std::string& text) const { return read_.list(text); }

    const PtxOperands read_;
    std::string site_;
    PtxCode& out_;
    std::string opcode_;
    std::vector<std::string> operands_;
};

}  // namespace

std::optional<PtxCode> translate_ptx(std::string_view assembly, const std::vector<std::string>& names,
                                     const std::string& site) {
    PtxCode code;
    std::string text = trimmed(assembly);
    if (text.size() > 1 && text.front() == '{' && text.back() == '}')
        text = trimmed(text.substr(1, text.size() - 2));
    for (std::string statement : split(text, ';')) {
        for (std::size_t colon = statement.find(':');
             colon != std::string::npos && is_label(trimmed(std::string_view(statement).substr(0, colon))) &&
             statement.compare(colon, 2, "::") != 0;
             colon = statement.find(':')) {
            code.body += label(trimmed(std::string_view(statement).substr(0, colon))) + ":; ";
            statement = trimmed(std::string_view(statement).substr(colon + 1));
        }
        if (statement.empty()) continue;
        code.body += "{ ";
        if (!Translation(names, site, &code).instruction(statement)) return std::nullopt;
        code.body += "} ";
    }
    code.body = code.variables + code.body;
    return code;
}

}  // namespace cuscope::simt
