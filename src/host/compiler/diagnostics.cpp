#include "host/compiler/diagnostics.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

#include "host/compiler/registration.hpp"

namespace cuscope::simt {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

bool starts_with(std::string_view text, std::string_view prefix) {
    return text.substr(0, prefix.size()) == prefix;
}

// Libraries that come with CUDA, by the start of their headers' names.
constexpr std::array<std::string_view, 16> cuda_headers{
    "cuda/",         "cub/",    "thrust/",  "nv/",           "cooperative_groups",
    "cuda_fp",       "cuda_bf", "mma.h",    "cuda_pipeline", "curand",
    "cublas",        "cufft",   "cusparse", "cutlass/",      "nvtx3/",
    "cuda_awbarrier"};

// The name in "...: fatal error: NAME: No such file or directory" (GCC) or "... 'NAME' file not found".
std::string missing_header(std::string_view line) {
    const std::size_t error = line.find("fatal error: ");
    if (error == std::string_view::npos) return "";
    std::string_view rest = line.substr(error + 13);
    if (const std::size_t end = rest.find(": No such file"); end != std::string_view::npos)
        return std::string(rest.substr(0, end));
    if (const std::size_t end = rest.find("' file not found"); end != std::string_view::npos && end > 0)
        return std::string(rest.substr(1, end - 1));
    return "";
}

bool is_cuda_header(std::string_view name) {
    return std::any_of(cuda_headers.begin(), cuda_headers.end(),
                       [name](std::string_view start) { return starts_with(name, start); });
}

// GCC repeats an error for each inlined copy of a function, under this line.
constexpr std::string_view inlined_copy = "In function '";

// Does the line begin a message? Any other line shows the source of the message before it.
bool begins_message(std::string_view line) {
    for (const std::string_view mark :
         {": error: ", ": warning: ", ": note: ", ": fatal error: ", ": In ", "In file included from ",
          ":   required ", "error: ", " generated.", "in function `", "undefined reference to `",
          "compilation terminated"})
        if (line.find(mark) != std::string_view::npos && line.substr(0, 1) != " ") return true;
    return starts_with(line, inlined_copy);
}

// Lines about the way in which the compiler was called, and about cuscope's own headers.
bool is_noise(std::string_view line) {
    for (const std::string_view mark :
         {"In file included from cuscope_simt/", "In file included from <", "compilation terminated",
          "collect2: error", "linker command failed", " generated."})
        if (line.find(mark) != std::string_view::npos) return true;
    if (starts_with(line, inlined_copy)) return true;
    return starts_with(line, "cuscope_simt/") && line.find(": In ") != std::string_view::npos;
}

}  // namespace

std::string format_problems(const std::vector<Problem>& problems, const std::string& source,
                            const std::string& file_name) {
    std::string log;
    for (const Problem& problem : problems) {
        log += problem.file + ":" + std::to_string(problem.line) + ": error: " + problem.message + "\n";
        if (problem.file != file_name) continue;
        std::istringstream lines(source);
        std::string line;
        for (int i = 0; i < problem.line && std::getline(lines, line); ++i) {
        }
        const std::string number = std::to_string(problem.line);
        log += std::string(5 - std::min<std::size_t>(number.size(), 4), ' ') + number + " | " + line + "\n";
    }
    return log;
}

std::string clean_log(const std::string& log, const std::string& include_directory) {
    std::string text = log;
    replace_all(text, include_directory + "/cuscope_simt/compat/", "");
    replace_all(text, include_directory + "/", "");
    replace_all(text, "::cuscope_simt::", "");
    replace_all(text, "cuscope_simt::At<0, 0>::", "");
    std::string result, undefined_in;
    std::istringstream lines(text);
    std::string line;
    bool shown = true;  // show the lines that belong to the last message?
    while (std::getline(lines, line)) {
        if (starts_with(line, "./")) line.erase(0, 2);
        if (const std::size_t at = line.find("from ./"); at != std::string::npos) line.erase(at + 5, 2);
        if (!begins_message(line)) {
            if (shown) result += line + "\n";
            continue;
        }
        shown = false;
        if (is_noise(line)) continue;
        if (const std::size_t at = line.find("in function `"); at != std::string::npos) {  // the linker
            if (undefined_in.empty()) undefined_in = line.substr(at + 13, line.rfind('\'') - at - 13);
            continue;
        }
        if (const std::size_t at = line.find("undefined reference to `"); at != std::string::npos) {
            const std::string message = "error: " + line.substr(at) + ", which `" + undefined_in +
                                        "' uses: it is declared and has no definition in this module\n";
            const std::string head = message.substr(0, message.find(", which"));
            if (result.find(head) == std::string::npos) result += message;
            continue;
        }
        if (const std::string header = missing_header(line); !header.empty() && is_cuda_header(header)) {
            // cuscope's stand-in of this name includes the toolkit's header: the toolkit's C++ library is
            // missing.
            const bool of_toolkit = starts_with(line, header + ":");
            line =
                line.substr(0, line.find("fatal error: ")) +
                (of_toolkit ? "fatal error: <" + header +
                                  "> is of the CUDA toolkit's C++ library, which is not on this machine: pip "
                                  "install nvidia-cuda-cccl, or set CUDA_HOME to a toolkit"
                            : "fatal error: cuscope's host runtime does not support <" + header + "> yet");
        }
        if (starts_with(line, "cuscope_simt/")) {
            // From cuscope's headers, keep only error texts and the candidates of an overload.
            const std::size_t error = line.find(" error: "), note = line.find(" note: candidate");
            if (error == std::string::npos && note == std::string::npos) continue;
            result += line.substr(std::min(error, note) + 1) + "\n";
            continue;
        }
        if (const std::string start = registration_file(""); starts_with(line, start)) {
            const std::size_t end = line.find(":1:");
            const std::size_t message = std::min(line.find(": error: "), line.find(": note: "));
            if (end == std::string::npos) continue;
            result += "name expression '" + line.substr(start.size(), end - start.size()) + "'" +
                      (message == std::string::npos ? "\n" : line.substr(message) + "\n");
            continue;
        }
        // "call to 'exit' declared with attribute error: ...": the attribute's text is enough.
        for (const std::string_view words :
             {"declared with attribute error: ", "declared with 'error' attribute: "}) {
            const std::size_t said = line.find(words), call = line.rfind("call to ", said);
            if (said != std::string::npos && call != std::string::npos)
                line.erase(call, said + words.size() - call);
        }
        const bool error = line.find(": error: ") != std::string::npos;
        if (error && result.find(line + "\n") != std::string::npos) continue;
        shown = true;
        result += line + "\n";
    }
    // If filtering removed every error, the unfiltered log is better than no error.
    const bool kept =
        result.find("error: ") != std::string::npos || text.find("error: ") == std::string::npos;
    return kept ? result : text;
}

RegistrationErrors registration_errors(const std::string& log) {
    RegistrationErrors result;
    const std::string start = registration_file("");
    bool elsewhere = false;
    std::istringstream lines(log);
    std::string line;
    // "cuscope:KERNEL:1:23: error: ...": a kernel's name may hold colons itself. A template's own error is
    // located in the user's source, and the line that asked for the instance comes as "required from here".
    while (std::getline(lines, line)) {
        const std::size_t error = std::min(line.find(": error: "), line.find(": fatal error: "));
        if (error == std::string::npos) continue;
        if (!starts_with(line, start)) {
            elsewhere = true;
            continue;
        }
        const std::size_t end = line.find(":1:", start.size());
        std::string kernel = line.substr(start.size(), std::min(end, error) - start.size());
        if (std::find(result.kernels.begin(), result.kernels.end(), kernel) == result.kernels.end())
            result.kernels.push_back(std::move(kernel));
    }
    result.only = !elsewhere && !result.kernels.empty();
    return result;
}

}  // namespace cuscope::simt
