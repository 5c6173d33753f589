// What other layers tell the check of the order of commands: the memory that a kernel uses, the runs of
// checked kernels, host functions, and accesses of the host itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/graph_types.hpp"

namespace cuscope::order {

// Memory that a kernel gets by a parameter.
struct Argument {
    std::uintptr_t begin = 0, end = 0;
    bool written = false;
    bool polled = false;  // a pointer to volatile: the kernel may wait for others to write the memory
    std::string name;     // of the parameter
};

// The kernel that this thread is about to launch or to add to a graph, as far as the core knows it.
class KernelScope {
  public:
    KernelScope(std::string name, std::vector<Argument> arguments);
    KernelScope(const KernelScope&) = delete;
    KernelScope& operator=(const KernelScope&) = delete;
    ~KernelScope();
    static const KernelScope* current() noexcept;

    const std::string name;
    const std::vector<Argument> arguments;

  private:
    const KernelScope* outer_;
};

// The arrays among the arguments that were packed last on this thread: address and size.
using Spans = std::vector<std::pair<std::uintptr_t, std::size_t>>;
Spans& packed_spans();

// Operations of the package write this memory with kernels whose signature does not say so.
class OutputScope {
  public:
    OutputScope(const void* begin, std::size_t bytes);
    OutputScope(const OutputScope&) = delete;
    OutputScope& operator=(const OutputScope&) = delete;
    ~OutputScope();
    static bool holds(std::uintptr_t address) noexcept;

  private:
    std::uintptr_t begin_, end_;
    const OutputScope* outer_;
};

// A launch of a checked kernel on a simulated device: what it has accessed is known when it has run.
// `key` is equal for launches of one kernel with equal arguments.
struct MadeLaunch {
    std::uint64_t key = 0, token = 0;
};
std::uint64_t new_token();
// The launches that this thread has made in its current call of the contract.
std::vector<MadeLaunch>& made_launches();

struct Ran {
    std::uintptr_t begin = 0, end = 0;
    bool written = false, atomic = false;
};
// `polls`: it has read memory by atomic or volatile loads. `known`: `accesses` are all that it did.
void launch_ran(std::uint64_t token, std::vector<Ran> accesses, bool polls, bool known);

// This thread runs a host function: the function and the data that the runtime was given.
class HostFunctionNote {
  public:
    HostFunctionNote(HostFunction function, const void* data);
    HostFunctionNote(const HostFunctionNote&) = delete;
    HostFunctionNote& operator=(const HostFunctionNote&) = delete;
    ~HostFunctionNote();
};

const void* host_function_key(HostFunction function, const void* data);

// The program reads or writes memory that streams use as well. `what`: "h[...]".
void host_access(const void* begin, std::size_t bytes, bool writes, const std::string& what);

// Is this host memory page-locked? The core sets the function once.
using FindPageLocked = bool (*)(const void* begin, std::size_t bytes);
void set_find_page_locked(FindPageLocked find) noexcept;
bool is_page_locked(const void* begin, std::size_t bytes);

// Called with the first check, and at the end of the last one, before its findings are taken.
void begin_order();
void end_order();

}  // namespace cuscope::order
