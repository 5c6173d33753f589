#include "runtime/order/notes.hpp"

#include <atomic>

#include "runtime/order/checker.hpp"

namespace cuscope::order {
namespace {

constinit thread_local const KernelScope* innermost_kernel = nullptr;
constinit thread_local const OutputScope* innermost_output = nullptr;
std::atomic<FindPageLocked> find_page_locked{nullptr};

}  // namespace

KernelScope::KernelScope(std::string of, std::vector<Argument> given)
    : name(std::move(of)), arguments(std::move(given)), outer_(innermost_kernel) {
    innermost_kernel = this;
}
KernelScope::~KernelScope() { innermost_kernel = outer_; }
const KernelScope* KernelScope::current() noexcept { return innermost_kernel; }

Spans& packed_spans() {
    static thread_local Spans spans;
    return spans;
}

OutputScope::OutputScope(const void* begin, std::size_t bytes)
    : begin_(reinterpret_cast<std::uintptr_t>(begin)), end_(begin_ + bytes), outer_(innermost_output) {
    innermost_output = this;
}
OutputScope::~OutputScope() { innermost_output = outer_; }
bool OutputScope::holds(std::uintptr_t address) noexcept {
    for (const OutputScope* scope = innermost_output; scope != nullptr; scope = scope->outer_)
        if (address >= scope->begin_ && address < scope->end_) return true;
    return false;
}

std::uint64_t new_token() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
}

std::vector<MadeLaunch>& made_launches() {
    static thread_local std::vector<MadeLaunch> made;
    return made;
}

void launch_ran(std::uint64_t token, std::vector<Ran> accesses, bool polls, bool known) {
    if (token != 0) Checker::get().launch_ran(token, {std::move(accesses), polls, known});
}

const void* host_function_key(HostFunction function, const void* data) {
    return reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(function) * 31 +
                                         reinterpret_cast<std::uintptr_t>(data));
}

HostFunctionNote::HostFunctionNote(HostFunction function, const void* data) {
    if (checking()) Checker::get().host_function_begins(host_function_key(function, data));
}
HostFunctionNote::~HostFunctionNote() { Checker::get().host_function_ends(); }

void host_access(const void* begin, std::size_t bytes, bool writes, const std::string& what) {
    const auto first = reinterpret_cast<std::uintptr_t>(begin);
    Checker::get().host_access(first, first + bytes, writes, what);
}

void set_find_page_locked(FindPageLocked find) noexcept { find_page_locked = find; }
bool is_page_locked(const void* begin, std::size_t bytes) {
    const FindPageLocked find = find_page_locked.load();
    return find != nullptr && find(begin, bytes);
}

void begin_order() { Checker::get().begin(); }
void end_order() { Checker::get().end(); }

}  // namespace cuscope::order
