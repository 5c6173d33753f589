#include "host/compiler/options.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "host/compiler/word_lists.hpp"

namespace cuscope::simt {
namespace {

// Options that choose or tune code for a device, or allow a feature that is always allowed here. Without
// leading dashes. An option with a value takes it after '=' or as the next option.
constexpr std::array<std::string_view, 31> ignored_flags{"g",
                                                         "debug",
                                                         "lineinfo",
                                                         "generate-line-info",
                                                         "use_fast_math",
                                                         "default-device",
                                                         "device-as-default-execution-space",
                                                         "restrict",
                                                         "extra-device-vectorization",
                                                         "expt-relaxed-constexpr",
                                                         "extended-lambda",
                                                         "expt-extended-lambda",
                                                         "dlink-time-opt",
                                                         "dlto",
                                                         "disable-warnings-on-ptx",
                                                         "no-source-include",
                                                         "builtin-initializer-list",
                                                         "display-error-number",
                                                         "no-display-error-number",
                                                         "err-no",
                                                         "keep",
                                                         "source-in-ptx",
                                                         "src-in-ptx",
                                                         "version-ident",
                                                         "no-cache",
                                                         "pch",
                                                         "compile",
                                                         "c",
                                                         "cubin",
                                                         "ptx",
                                                         "disable-optimizer-constants"};
constexpr std::array<std::string_view, 26> ignored_values{"arch",
                                                          "gpu-architecture",
                                                          "code",
                                                          "gpu-code",
                                                          "gencode",
                                                          "generate-code",
                                                          "maxrregcount",
                                                          "ftz",
                                                          "prec-div",
                                                          "prec-sqrt",
                                                          "fmad",
                                                          "Xptxas",
                                                          "ptxas-options",
                                                          "optimize",
                                                          "dopt",
                                                          "diag-suppress",
                                                          "diag-warn",
                                                          "diag-error",
                                                          "builtin-move-forward",
                                                          "split-compile",
                                                          "threads",
                                                          "jump-table-density",
                                                          "time",
                                                          "brief-diagnostics",
                                                          "minimal",
                                                          "device-stack-protector"};

// Relative paths are relative to this process's directory, wherever the compiler runs.
std::string absolute(std::string_view path) {
    std::error_code error;
    const std::filesystem::path result = std::filesystem::absolute(path, error);
    return error ? std::string(path) : result.string();
}

bool all_digits(std::string_view text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

class Translator {
  public:
    explicit Translator(const std::vector<std::string>& options) : options_(options) {}

    HostOptions run() {
        for (at_ = 0; at_ < options_.size() && result_.problem.empty(); ++at_) translate(options_[at_]);
        // nvcc defines it, too. It comes first, so that -U can undefine it.
        if (result_.device_debug)
            result_.preprocessor.insert(result_.preprocessor.begin(), "-D__CUDACC_DEBUG__=1");
        return std::move(result_);
    }

  private:
    void refuse(const std::string& why) { result_.problem = "option '" + options_[at_] + "': " + why; }

    // The value of an option: the text after its '=', or the next option.
    std::string value(std::string_view attached, bool has_attached) {
        if (has_attached) return std::string(attached);
        if (at_ + 1 < options_.size()) return options_[++at_];
        refuse("a value is missing");
        return "";
    }

    void translate(std::string_view option) {
        const std::size_t dashes = std::min(option.find_first_not_of('-'), option.size());
        if (dashes == 0 || dashes > 2 || option.size() == dashes)
            return refuse("not an option of nvcc or NVRTC; sources and libraries are not given here");
        const std::string_view body = option.substr(dashes);
        const std::size_t equals = body.find('=');
        const bool attached = equals != std::string_view::npos;
        const std::string_view name = body.substr(0, equals);
        const std::string_view after = attached ? body.substr(equals + 1) : std::string_view();
        if (dashes == 1 && (body[0] == 'D' || body[0] == 'U' || body[0] == 'I')) {
            const std::string text = value(body.substr(1), body.size() > 1);
            result_.preprocessor.push_back('-' + std::string(1, body[0]) +
                                           (body[0] == 'I' ? absolute(text) : text));
        } else if (name == "define-macro" || name == "undefine-macro") {
            result_.preprocessor.push_back((name[0] == 'd' ? "-D" : "-U") + value(after, attached));
        } else if (name == "include-path") {
            result_.preprocessor.push_back("-I" + absolute(value(after, attached)));
        } else if (name == "include" || name == "pre-include") {
            result_.preprocessor.push_back("-include");
            result_.preprocessor.push_back(value(after, attached));
        } else if (name == "std") {
            standard(value(after, attached));
        } else if (name == "w" || name == "disable-warnings") {
            result_.warnings = false;
        } else if (name == "G" || name == "device-debug") {
            result_.device_debug = after != "false";
        } else if (name == "rdc" || name == "relocatable-device-code") {
            const std::string text = value(after, attached);
            if (text != "false") refuse("a module is one source on cuscope's host runtime");
        } else if (dashes == 1 && body[0] == 'O' && (body.size() == 1 || all_digits(body.substr(1)))) {
            // Without -G, kernels are always compiled with -O2.
        } else if (!attached && holds(ignored_flags, name)) {
        } else if (holds(ignored_values, name)) {
            value(after, attached);
        } else if (holds(ignored_flags, name)) {  // --extra-device-vectorization=true
        } else {
            refuse(
                "not known to cuscope's host runtime, which takes nvcc's and NVRTC's -D, -U, -I, -include "
                "and "
                "-std=, and ignores what only concerns a GPU (-arch, -lineinfo, --use_fast_math, ...)");
        }
    }

    // CUDA C++ needs C++17 here. A request for an older standard gets C++17.
    void standard(const std::string& name) {
        if (name == "c++20" || name == "c++2a") {
            result_.standard = "-std=c++20";
        } else if (name == "c++23" || name == "c++2b") {
            result_.standard = "-std=c++2b";
        } else if (name != "c++17" && name != "c++14" && name != "c++11" && name != "c++03") {
            refuse("allowed are c++03, c++11, c++14, c++17, c++20 and c++23");
        }
    }

    const std::vector<std::string>& options_;
    std::size_t at_ = 0;
    HostOptions result_;
};

}  // namespace

HostOptions translate_options(const std::vector<std::string>& options) { return Translator(options).run(); }

}  // namespace cuscope::simt
