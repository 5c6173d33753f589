// The line of the program behind a call, for traces: the innermost frame that is not cuscope's own.
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>

#include "bindings/support/objects.hpp"
#include "core/trace/recording.hpp"
#include "runtime/activity.hpp"
#include "runtime/checking.hpp"

namespace cuscope::bindings {

std::atomic<bool> detail::lines_wanted{false};

namespace {

StateLock setting_wanted;  // guards changes of lines_wanted

// A code object, which is kept alive so that its address is not used again, and the lines found in it.
struct KnownCode {
    py::object code;
    bool own = false;  // of cuscope, or no line that a user could find
    std::unordered_map<int, std::uint32_t>
        lines;  // names of lines by instruction; guarded by KnownCodes::lock
};

std::string& own_folder() {
    static std::string* const folder = new std::string;
    return *folder;
}

struct KnownCodes {
    std::unordered_map<const PyCodeObject*, KnownCode> all;
    [[no_unique_address]] StateLock lock;
};

KnownCodes& known_codes() {
    static auto* const codes = new KnownCodes;
    return *codes;
}

// Never removed, so the reference stays valid.
KnownCode& known(PyCodeObject* code) {
    KnownCodes& codes = known_codes();
    {
        const std::lock_guard lock(codes.lock);
        if (const auto found = codes.all.find(code); found != codes.all.end()) return found->second;
    }
    KnownCode made;
    made.code = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(code));
    const auto file = py::str(made.code.attr("co_filename")).cast<std::string>();
    // NumPy before 1.25 calls the implementations of its functions from such code.
    made.own = file.starts_with(own_folder()) || file == "<__array_function__ internals>";
    const std::lock_guard lock(codes.lock);
    return codes.all.try_emplace(code, std::move(made)).first->second;
}

// Python finds the place of a cell or a file in this text: see python/cuscope/tracing/records.py.
std::uint32_t name_of_line(const KnownCode& code, PyFrameObject* frame) {
    return index_of_name(py::str(code.code.attr("co_filename")).cast<std::string>() + ":" +
                         std::to_string(PyFrame_GetLineNumber(frame)));
}

std::uint32_t line_in(KnownCode& code, int instruction, PyFrameObject* frame) {
    KnownCodes& codes = known_codes();
    {
        const std::lock_guard lock(codes.lock);
        if (const auto found = code.lines.find(instruction); found != code.lines.end()) return found->second;
    }
    const std::uint32_t name = name_of_line(code, frame);
    const std::lock_guard lock(codes.lock);
    return code.lines[instruction] = name;
}

std::atomic<bool> ranges_were_begun{false};

py::object& range_variable() {
    static auto* const variable = new py::object;
    return *variable;
}

// The innermost range of the running code, which may be one of several asyncio tasks on this thread.
std::uint64_t range_of_program() {
    if (!ranges_were_begun.load(std::memory_order_acquire)) return 0;
    PyObject* found = nullptr;
    if (!range_variable() || PyContextVar_Get(range_variable().ptr(), nullptr, &found) != 0) return 0;
    auto entry = py::reinterpret_steal<py::object>(found);
    while (entry && !entry.is_none()) {
        if (const auto number = entry.attr("token").cast<std::uint64_t>(); number != 0) return number;
        entry = entry.attr("outer");
    }
    return 0;
}

int instruction_of(PyFrameObject* frame) {
#if PY_VERSION_HEX >= 0x030B0000
    return PyFrame_GetLasti(frame);
#else
    return frame->f_lasti;
#endif
}

// The place of the latest call. In a loop, the next call often comes from the same one.
struct Latest {
    const PyCodeObject* code = nullptr;  // kept alive by known()
    int instruction = -1;
    std::uint32_t line = 0;
};

// With the GIL. Keeps a pending exception.
std::uint32_t line_of_program() {
    static thread_local Latest latest;
    PyFrameObject* frame = PyEval_GetFrame();
    Py_XINCREF(frame);
    std::uint32_t line = 0;
    while (frame != nullptr && line == 0) {
        PyCodeObject* const code = PyFrame_GetCode(frame);
        const int instruction = instruction_of(frame);
        if (code == latest.code && instruction == latest.instruction) {
            Py_DECREF(code);
            line = latest.line;
            break;
        }
        KnownCode& about = known(code);
        Py_DECREF(code);
        if (!about.own) {
            line = line_in(about, instruction, frame);
            latest = {code, instruction, line};
        }
        PyFrameObject* const outer = PyFrame_GetBack(frame);
        Py_DECREF(frame);
        frame = outer;
    }
    Py_XDECREF(frame);
    return line;
}

// Called for each call that is traced, on any thread. A thread without the GIL has noted its line when it
// released the GIL.
std::uint32_t find_line() {
    if (process_exiting() || PyGILState_Check() == 0) return call_context().line;
    const py::error_scope keep;
    call_context().range = range_of_program();
    return line_of_program();
}

}  // namespace

void detail::note_line() {
    const py::error_scope keep;
    call_context().line = line_of_program();
    call_context().range = range_of_program();
}

void detail::want_lines() {
    const std::lock_guard lock(setting_wanted);
    lines_wanted = true;
}

void detail::want_lines_no_longer() {
    const std::lock_guard lock(setting_wanted);
    lines_wanted = core::recording() || checking();
}

void set_range_variable(py::object variable) { range_variable() = std::move(variable); }
void note_range_begun() { ranges_were_begun.store(true, std::memory_order_release); }

namespace {

std::uint32_t line_of_check() {
    if (process_exiting()) return 0;
    if (PyGILState_Check() == 0) return call_context().line;
    const py::error_scope keep;
    return line_of_program();
}

// "program.py:12", relative to the working directory if the file lies there.
std::string text_of_line(std::uint32_t line) {
    std::string text = activity_name(line);
    std::error_code error;
    const std::string folder = std::filesystem::current_path(error).string() + "/";
    if (!error && text.starts_with(folder)) text.erase(0, folder.size());
    return text;
}

}  // namespace

void set_up_lines(std::string package_folder) {
    own_folder() = std::move(package_folder);
    core::set_find_line(find_line);
    set_program_line(line_of_check, text_of_line);
}

}  // namespace cuscope::bindings
