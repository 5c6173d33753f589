#include "host/counting/inline_hooks.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cuscope_simt/abi.h"
#include "cuscope_simt/counting/state.h"
#include "host/counting/operands.hpp"

namespace cuscope::simt {
namespace {

#if defined(__x86_64__)

using cuscope_simt::Access;
using cuscope_simt::Accesses;
using cuscope_simt::Fiber;
using cuscope_simt::Steps;

bool take(std::string_view& text, std::string_view with) {
    if (!text.starts_with(with)) return false;
    text.remove_prefix(with.size());
    return true;
}

std::string_view without_spaces(std::string_view text) {
    const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
    text.remove_prefix(begin);
    return text.substr(0, text.find_last_not_of(" \t") + 1);
}

// Which registers hold an address in the Fiber or in the function's own frame, in a straight piece of code.
// Accesses there are not counted.
class OwnAddresses {
  public:
    void forget() { known_.fill(false); }
    void add(std::string_view name, std::string_view operands) {
        // These change registers that they do not name last.
        if (name.starts_with("xchg") || name.starts_with("xadd") || name.starts_with("cmpxchg") ||
            name.starts_with("rep") || name.starts_with("stos") || name.starts_with("lods") ||
            name.starts_with("lock") || name == "cpuid" || operands.find(';') != std::string_view::npos)
            return forget();
        // Other instructions that change a register without naming it change %rax and %rdx, which are not
        // followed.
        const std::vector<std::string_view> parts = divided(operands);
        if (parts.empty()) return;
        const std::optional<std::size_t> to = number(parts.back());
        if (!to) return;
        const bool is_address =
            parts.size() == 2 && whole_register(parts[1].substr(1)) == parts[1].substr(1) &&
            ((name == "movq" && is_own(parts[0])) || (name == "leaq" && is_own_address(parts[0])));
        known_[*to] = is_address;
    }
    void add_call() { known_[first_argument] = false; }
    bool is_known() const { return known_[first_argument]; }

  private:
    // Of these, a call changes only the first one.
    static constexpr std::size_t first_argument = 0;
    static constexpr std::array<std::string_view, 6> names{"rdi", "rbx", "rbp", "r12", "r13", "r14"};

    // The register of which the operand names all bits or some.
    static std::optional<std::size_t> number(std::string_view operand) {
        if (operand.empty() || operand.front() != '%') return std::nullopt;
        const auto found = std::find(names.begin(), names.end(), whole_register(operand.substr(1)));
        if (found == names.end()) return std::nullopt;
        return static_cast<std::size_t>(found - names.begin());
    }
    bool is_own(std::string_view operand) const {
        if (operand == "%r15" || operand == "%rsp") return true;
        const std::optional<std::size_t> at = number(operand);
        return at && operand.substr(1) == names[*at] && known_[*at];
    }
    // A register and a number, without an index.
    bool is_own_address(std::string_view operand) const {
        const std::size_t open = operand.find('(');
        if (open == std::string_view::npos || operand.back() != ')') return false;
        for (const char c : operand.substr(0, open))
            if (c != '-' && std::isdigit(static_cast<unsigned char>(c)) == 0) return false;
        return is_own(operand.substr(open + 1, operand.size() - open - 2));
    }

    std::array<bool, names.size()> known_{};
};

// The access of a hook of ThreadSanitizer's interface, such as __tsan_unaligned_write8.
struct KnownAccess {
    Access access;
    unsigned bytes;
};
std::optional<KnownAccess> known_access(std::string_view hook) {
    if (hook == "__tsan_vptr_update") return KnownAccess{Access::store, 8};
    if (!take(hook, "__tsan_")) return std::nullopt;
    take(hook, "unaligned_");
    take(hook, "volatile_");
    const bool load = take(hook, "read");
    if (!load && !take(hook, "write")) return std::nullopt;
    for (const unsigned bytes : {1u, 2u, 4u, 8u, 16u})
        if (hook == std::to_string(bytes)) return KnownAccess{load ? Access::load : Access::store, bytes};
    return std::nullopt;
}

bool is_hook(std::string_view function) {
    return function == "__sanitizer_cov_trace_pc" || function == "__tsan_read_range" ||
           function == "__tsan_write_range" || known_access(function);
}

// A function that describes the image's kernels. It runs before there is a Fiber.
bool describes(std::string_view label) {
    const auto has = [&](std::string_view part) { return label.find(part) != std::string_view::npos; };
    return has("cuscope_describe") || has("NKSt9type_info4name") ||
           (has("12cuscope_simt6Runner") && has("5entryE"));
}

class Writer {
  public:
    Writer(std::string_view assembly, bool fiber_in_register)
        : assembly_(assembly), inlines_(fiber_in_register) {}

    std::string run() {
        result_.reserve(assembly_.size() * 2);
        for (std::size_t at = 0; at < assembly_.size();) {
            const std::size_t end = std::min(assembly_.find('\n', at), assembly_.size());
            const std::string_view line = assembly_.substr(at, end - at);
            at = end + 1;
            if (!replaces(line, assembly_.substr(std::min(at, assembly_.size()))))
                result_.append(line).append("\n");
        }
        // With an entry in any case, so that the image has a table.
        if (accesses_.empty()) accesses_ = "\t.long 0\n\t.value 0, 0\n";
        result_ += "\t.section cuscope_accesses,\"a\",@progbits\n\t.balign 4\n" + accesses_ + "\t.text\n";
        return std::move(result_);
    }

  private:
    bool replaces(std::string_view line, std::string_view behind) {
        line = without_spaces(line.substr(0, line.find('#')));
        if (line.empty() || line.front() == '.') {
            // GCC's labels of debug information begin no piece of code.
            if (!line.empty() && line.back() == ':' && !line.starts_with(".LV") && !line.starts_with(".LB") &&
                !line.starts_with(".LF") && !line.starts_with(".Lcuscope"))
                own_.forget();
            return false;
        }
        if (line.back() == ':') {
            own_.forget();
            without_fiber_ = describes(line);
            return false;
        }
        const std::size_t space = std::min(line.find_first_of(" \t"), line.size());
        const std::string_view name = line.substr(0, space), operands = without_spaces(line.substr(space));
        if (!name.starts_with("call")) {
            own_.add(name, operands);
            return false;
        }
        const bool is_own = own_.is_known();
        own_.add_call();
        const std::string_view to = operands.substr(0, operands.find('@'));
        if (to == "__tsan_func_entry" || to == "__tsan_func_exit" || to == "__tsan_vptr_read") return true;
        if (without_fiber_ && is_hook(to)) return true;
        if (to == "__sanitizer_cov_trace_pc") return step(behind);
        if (const std::optional<KnownAccess> its = known_access(to)) {
            if (!inlines_ || !is_own) access(*its);
            return true;
        }
        if (to == "__tsan_read_range" || to == "__tsan_write_range") {
            call("%edx", site_, "cuscope_range");
            add_sizes(to.starts_with("__tsan_read") ? Access::load : Access::store);
            end_access();
            return true;
        }
        if (to != "cuscope_count") return false;
        call("%ecx", site_, "cuscope_count_at");
        for (const Access kind : {Access::load, Access::store, Access::atomic}) add_sizes(kind);
        end_access();
        return true;
    }

    void add(std::string_view text) { result_.append("\t").append(text).append("\n"); }
    void call(std::string_view argument, unsigned site, std::string_view function) {
        add("movl\t$" + std::to_string(site) + ", " + std::string(argument));
        add("call\t" + std::string(function));
    }
    // Code behind the rest of the section, so that the usual case jumps nowhere.
    void apart(const std::string& label, std::string_view argument, unsigned site, std::string_view function,
               const std::string& back) {
        add(".subsection 1");
        result_ += label + ":\n";
        call(argument, site, function);
        add("jmp\t" + back);
        add(".subsection 0");
    }

    // The block costs have put a label with the number of the basic block behind its hook.
    bool step(std::string_view behind) {
        std::string_view label = behind.substr(0, behind.find(':'));
        if (!take(label, ".Lcuscope_site_")) return false;
        const auto site = static_cast<unsigned>(std::stoul(std::string(label)));
        if (!inlines_) {
            call("%edi", site, "cuscope_step");
            return true;
        }
        const std::string first = ".Lcuscope_first_" + std::string(label);
        add("movq\t" + std::to_string(offsetof(Fiber, steps)) + "(%r15), %rax");
        add("subq\t$1, " + std::to_string(site * sizeof(Steps)) + "(%rax)");
        add("jc\t" + first);
        apart(first, "%edi", site, "cuscope_first_step", ".Lcuscope_site_" + std::string(label));
        return true;
    }

    void access(const KnownAccess& its) {
        if (inlines_) {
            const std::string label = ".Lcuscope_put_" + std::to_string(site_);
            const std::size_t at = site_ * sizeof(Accesses), open = at + cuscope_simt::open_offset;
            add("movq\t" + std::to_string(offsetof(Fiber, accesses)) + "(%r15), %rax");
            add("cmpq\t%rdi, " + std::to_string(at) + "(%rax)");
            add("jne\t" + label);
            add("subl\t$1, " + std::to_string(open + offsetof(Accesses::Open, left)) + "(%rax)");
            add("js\t" + label);
            add("movslq\t" + std::to_string(open + offsetof(Accesses::Open, stride)) + "(%rax), %rcx");
            add("addq\t%rdi, %rcx");
            add("movq\t%rcx, " + std::to_string(at) + "(%rax)");
            apart(label, "%esi", site_, "cuscope_access", this->label());
        } else {
            call("%esi", site_, "cuscope_access");
        }
        add_site(its);
        end_access();
    }

    std::string label() const { return ".Lcuscope_access_" + std::to_string(instructions_); }
    void add_sizes(Access access) {
        for (unsigned i = 0; i < cuscope_simt::access_sizes; ++i) add_site({access, 1u << i});
    }
    void add_site(const KnownAccess& its) {
        accesses_ += "\t.long " + label() + " - .\n\t.value " + std::to_string(its.bytes) + ", " +
                     std::to_string(static_cast<unsigned>(its.access)) + "\n";
        ++site_;
    }
    void end_access() {
        result_ += label() + ":\n";
        ++instructions_;
    }

    const std::string_view assembly_;
    const bool inlines_;
    std::string result_, accesses_;
    OwnAddresses own_;
    bool without_fiber_ = false;
    unsigned site_ = 0, instructions_ = 0;
};

#endif

}  // namespace

std::string with_inline_hooks(std::string_view assembly, [[maybe_unused]] bool fiber_in_register) {
#if defined(__x86_64__)
    return Writer(assembly, fiber_in_register).run();
#else
    return std::string(assembly);
#endif
}

}  // namespace cuscope::simt
