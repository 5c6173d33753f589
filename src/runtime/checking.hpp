// Checks of programs (cs.check()): whether they run, what is known about memory, and the findings. The host
// runtime finds mistakes in kernels, runtime/order those in the order of commands; the bindings read the
// findings.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cuscope {

namespace detail {
extern std::atomic<int> checks_running;
}

// Do checks run now? A relaxed load: it costs nothing when they do not.
inline bool checking() { return detail::checks_running.load(std::memory_order_relaxed) > 0; }

enum class Severity : std::uint8_t { error, warning, note };

// A thread of a kernel. Thread and block are -1 if they are not known.
struct FoundThread {
    std::array<std::int64_t, 3> block{-1, -1, -1}, thread{-1, -1, -1};
    std::string line;  // "kernel.cu:12", or empty
};

// A stream in a finding, or the host.
struct FoundStream {
    std::string name;     // "Stream #3", "the default stream"
    std::string made_at;  // the line of the program that made it; empty if it is not known
    unsigned nth = 0;     // how many streams that line had made before
    bool is_host = false;
    bool is_default = false;  // the legacy default stream
};

// A call of the program in a finding about the order of commands. The texts of such a finding have {0} where
// the stream of the first call is meant, and {1} for the second one.
struct FoundCall {
    std::string what;  // "kernel 'add'", "the copy to the host"
    std::string line;  // of the program, "program.py:12"
    FoundStream stream;
};

struct Finding {
    std::string kind;  // "out of bounds", "race", ...
    Severity severity = Severity::error;
    std::string kernel;
    FoundThread first, other;  // other.line is empty and its thread -1 if there is none
    std::string text;          // a sentence with the values
    std::string advice;        // a sentence: what to do
    std::string memory;        // the accessed memory and the line where it was made; or empty
    std::uint64_t count = 1;   // how often, in all launches
    // Of a mistake in the order of commands: the calls, the earlier one first; else empty.
    std::vector<FoundCall> calls;
    std::string code;   // the missing line of the program; or empty
    std::string where;  // the line of the program before which it belongs
};

// The findings of the checks that run, in the order of the launches. The same finding in another launch adds
// to the count of the first one.
class Findings {
  public:
    static constexpr std::size_t most = 1000;

    void add(const Finding& finding);
    std::vector<Finding> list() const;
    std::uint64_t launches = 0, unchecked = 0, left_out = 0;
    std::uint64_t commands = 0;  // whose order was checked
    std::vector<std::string> unchecked_kernels;

  private:
    std::vector<Finding> list_;
};

// Begins a check on this process: `handle` identifies it. Findings are added to all checks that run.
std::uint64_t begin_check();
Findings end_check(std::uint64_t handle);
Findings findings_of(std::uint64_t handle);

void add_finding(const Finding& finding);
void count_checked_launch();
void count_checked_command();
// A launch of a kernel that cannot be checked, and the reason.
void count_unchecked_launch(const std::string& kernel, const std::string& reason);

// The line of the program that runs on this thread, as an index into activity_names(), and its text,
// "program.py:12"; 0 and empty if it is not known. The bindings set the functions once.
using ProgramLine = std::uint32_t (*)();
using ProgramLineText = std::string (*)(std::uint32_t line);
void set_program_line(ProgramLine line, ProgramLineText text) noexcept;
std::uint32_t program_line_number();
std::string text_of_program_line(std::uint32_t line);
std::string program_line();

// What the program says about memory.
struct MemoryLabel {
    std::size_t bytes = 0;
    std::string made_at;   // the line of the program; or empty
    std::string freed_at;  // the same, once it is freed
    std::string dtype;     // "float32"; or empty
    std::string shape;     // "(3, 4)"; or empty
    std::size_t item_bytes = 0;
};
using MemoryLabelPtr = std::shared_ptr<const MemoryLabel>;

// Only while checks run. `describe_memory` adds dtype and shape to the label that begins at the address.
void label_memory(const void* address, std::size_t bytes);
void describe_memory(const void* address, std::string dtype, std::string shape, std::size_t item_bytes);
MemoryLabelPtr label_of(const void* address);
// The label of the memory that holds the address, and where it begins.
MemoryLabelPtr label_holding(std::uintptr_t address, std::uintptr_t* base);

// Memory that the runtime did not allocate, but that kernels may use: of other libraries.
void know_memory(const void* address, std::size_t bytes);
std::vector<std::pair<std::uintptr_t, std::uintptr_t>> known_memory();

// Memory that was freed while checks ran, latest first.
struct FreedMemory {
    std::uintptr_t begin = 0, end = 0;
    MemoryLabelPtr label;
};
void note_freed(const void* address, std::size_t bytes);
std::vector<FreedMemory> freed_memory();

}  // namespace cuscope
