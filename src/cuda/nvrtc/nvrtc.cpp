#include "cuda/nvrtc/nvrtc.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "cuda/calls/image.hpp"
#include "cuda/nvrtc/headers.hpp"
#include "cuda/nvrtc/include_scan.hpp"
#include "cuda/nvrtc/library.hpp"
#include "cuda/nvrtc/thread.hpp"
#include "runtime/compile/cache.hpp"
#include "runtime/compile/claim.hpp"
#include "runtime/compile/device_part.hpp"
#include "runtime/compile/host_headers.hpp"
#include "runtime/compile/linkage.hpp"
#include "runtime/compile/signature.hpp"

namespace cuscope::cuda::nvrtc {
namespace {

// The mangled name of a variable template's instance contains its template argument. An instance for a
// kernel's type therefore tells the kernel's parameter types. The mangled name of an extern "C" function does
// not contain them, and that of a template's instance contains them with unresolved typedefs.
constexpr std::string_view signature_probe = "\ntemplate <class> __device__ char cuscope_signature;\n";

std::string probe_of(const std::string& kernel) { return "&cuscope_signature<decltype(&" + kernel + ")>"; }

bool is_option(const std::string& option, std::string_view name) {
    return option.starts_with(name) &&
           (option.size() == name.size() || option[name.size()] == '=' || option[name.size()] == ' ');
}

// The folders of "-I folder", "-Ifolder" and "--include-path=folder".
std::vector<std::string> include_options(const std::vector<std::string>& options) {
    std::vector<std::string> paths;
    for (std::size_t i = 0; i < options.size(); ++i) {
        std::string_view option = options[i];
        if (option.starts_with("-I")) {
            option.remove_prefix(2);
        } else if (option.starts_with("--include-path")) {
            option.remove_prefix(std::string_view("--include-path").size());
        } else {
            continue;
        }
        while (option.starts_with(' ') || option.starts_with('=')) option.remove_prefix(1);
        if (option.empty() && i + 1 < options.size()) option = options[++i];
        paths.emplace_back(option);
    }
    return paths;
}

bool includes_by_option(const std::vector<std::string>& options) {
    return std::any_of(options.begin(), options.end(), [](const std::string& option) {
        return option.starts_with("-include") || option.starts_with("--pre-include");
    });
}

// The input of a compilation. Its thread may outlive the call, so the request is a copy.
struct Job {
    const Library& library;
    CompileRequest request;
    std::vector<std::string> options;
    std::vector<KernelNames> scanned;    // the kernels that the source seems to have
    std::vector<std::string> instances;  // template instances that the source's host code launches
    std::atomic<bool> given_up{false};
};

int is_given_up(void* payload, void*) { return static_cast<std::atomic<bool>*>(payload)->load() ? 1 : 0; }

class ProgramOwner {
  public:
    explicit ProgramOwner(const Library& library) : library_(library) {}
    ProgramOwner(const ProgramOwner&) = delete;
    ProgramOwner& operator=(const ProgramOwner&) = delete;
    ~ProgramOwner() {
        if (program != nullptr) library_.destroy_program(&program);
    }
    Program program = nullptr;

  private:
    const Library& library_;
};

std::string text_of(Program program, Result (*size)(Program, std::size_t*), Result (*get)(Program, char*)) {
    std::size_t bytes = 0;
    if (size(program, &bytes) != Result::success || bytes == 0) return "";
    std::string text(bytes, '\0');
    return get(program, text.data()) == Result::success ? text : "";
}

constexpr std::string_view name_check = "#pragma nv_mangled_name ";

// The compiler checks name expressions in an artificial file. Replaces its name in messages.
std::string readable(std::string log) {
    constexpr std::string_view file = "__nv_name_map(";
    while (!log.empty() && log.back() == '\0') log.pop_back();
    for (std::size_t at = log.find(file); at != std::string::npos; at = log.find(file, at)) {
        log.replace(at, log.find(')', at) - at + 1, "name_expressions");
    }
    for (std::size_t at = log.find(name_check); at != std::string::npos; at = log.find(name_check, at)) {
        log.replace(at, name_check.size(), name_check.size(), ' ');  // the caret below stays in place
    }
    return log;
}

Status status_of(Result result) {
    switch (result) {
        case Result::success:
            return Status::success;
        case Result::out_of_memory:
            return Status::memory_allocation;
        case Result::compilation:
        case Result::invalid_option:
        case Result::invalid_input:
        case Result::invalid_program:
            return Status::invalid_source;
        case Result::builtin_operation_failure:
            return Status::jit_compiler_not_found;
        default:
            return Status::unknown;
    }
}

// The folders in which #include looks for files.
std::vector<std::string> include_folders(const CompileRequest& request) {
    std::vector<std::string> folders = request.include_paths;
    for (std::string& path : include_options(request.options)) folders.push_back(std::move(path));
    return folders;
}

std::filesystem::path folder_of(const IncludedFile& file, const std::string& name) {
    return file.path.ends_with(name) ? file.path.substr(0, file.path.size() - name.size()) : "";
}

bool has_any(const std::filesystem::path& folder, std::initializer_list<const char*> names) {
    std::error_code error;
    return std::any_of(names.begin(), names.end(),
                       [&](const char* name) { return std::filesystem::exists(folder / name, error); });
}

// The headers that the program brings itself. A header of the C or C++ library or of the toolkit is none of
// them: NVRTC cannot compile it, and the package's header of that name stands for it.
std::set<std::string> own_headers(const CompileRequest& request) {
    std::set<std::string> own;
    for (const IncludedFile& file : included_files(request, include_folders(request))) {
        for (const std::string& name : file.names) {
            if (!has_any(folder_of(file, name),
                         {"stdio.h", "stddef.h", "sys/cdefs.h", "iostream", "cuda_runtime.h"}))
                own.insert(name);
        }
    }
    return own;
}

// Would #include find a file with this name?
bool is_found(const CompileRequest& request, const std::string& name) {
    std::vector<std::string> folders = include_folders(request);
    folders.push_back(std::filesystem::path(request.file_name).parent_path().string());
    std::error_code error;
    return std::any_of(folders.begin(), folders.end(), [&](const std::string& folder) {
        return std::filesystem::is_regular_file(std::filesystem::path(folder) / name, error);
    });
}

// Name expressions and their names in the image.
using Lowered = std::map<std::string, std::string>;

// Leaves the compiler's log unchanged.
Status compile_once(Job& job, const std::vector<std::string>& expressions,
                    const std::vector<std::string>& implied, CompileResult* result, Lowered* lowered) {
    const Library& nvrtc = job.library;
    std::vector<const char*> names, texts, options;
    const auto add_header = [&](const std::pair<std::string, std::string>& header) {
        names.push_back(header.first.c_str());
        texts.push_back(header.second.c_str());
    };
    for (const auto& header : job.request.headers) add_header(header);
    const std::set<std::string> own = own_headers(job.request);
    for (const HeaderTexts* headers :
         {&builtin_headers(), &host_library_headers(), &missing_host_headers()}) {
        for (const auto& header : *headers) {
            const bool given = std::any_of(job.request.headers.begin(), job.request.headers.end(),
                                           [&](const auto& other) { return other.first == header.first; });
            const bool found = own.contains(header.first) ||
                               (headers == &missing_host_headers() && is_found(job.request, header.first));
            if (!given && !found) add_header(header);
        }
    }
    for (const std::string& option : job.options) options.push_back(option.c_str());
    for (const std::string& option : implied) options.push_back(option.c_str());

    const std::string source = job.request.source + std::string(signature_probe);
    ProgramOwner owner(nvrtc);
    Result answer = nvrtc.create_program(&owner.program, source.c_str(), job.request.file_name.c_str(),
                                         static_cast<int>(names.size()), texts.data(), names.data());
    if (answer == Result::success && nvrtc.set_flow_callback != nullptr) {
        nvrtc.set_flow_callback(owner.program, is_given_up, &job.given_up);
    }
    for (const std::string& expression : expressions) {
        if (answer == Result::success) {
            answer = nvrtc.add_name_expression(owner.program, expression.c_str());
        }
    }
    if (answer == Result::success) {
        answer = nvrtc.compile_program(owner.program, static_cast<int>(options.size()), options.data());
    }
    if (owner.program != nullptr) {
        result->log = text_of(owner.program, nvrtc.get_program_log_size, nvrtc.get_program_log);
    }
    if (answer != Result::success) {
        if (result->log.empty()) result->log = std::string("NVRTC: ") + nvrtc.get_error_string(answer);
        return status_of(answer);
    }
    result->image = text_of(owner.program, nvrtc.get_cubin_size, nvrtc.get_cubin);
    if (result->image.empty()) result->image = text_of(owner.program, nvrtc.get_ptx_size, nvrtc.get_ptx);
    for (const std::string& expression : expressions) {
        const char* name = nullptr;
        if (nvrtc.get_lowered_name(owner.program, expression.c_str(), &name) == Result::success &&
            name != nullptr) {
            (*lowered)[expression] = name;
        }
    }
    return Status::success;
}

// Does the log refuse functions without `__device__`, and is each of them a lambda with template parameters?
// nvcc takes such a lambda in a device function for device code, NVRTC for host code. Behind each message,
// the log has the line of the source and a line with a caret below the lambda's `(` or `<`.
bool refuses_only_lambdas(const std::string& log) {
    std::istringstream lines(log);
    std::string message, source, mark;
    bool refuses = false;
    while (std::getline(lines, message)) {
        if (message.find("host functions are not allowed in JIT mode") == std::string::npos) continue;
        std::getline(lines, source);
        std::getline(lines, mark);
        const std::size_t caret = mark.find('^');
        if (caret >= source.size() || (source[caret] != '(' && source[caret] != '<')) return false;
        const std::string before = source.substr(0, caret);
        const std::size_t last = before.find_last_not_of(" \t");
        if (last == std::string::npos || before[last] != ']') return false;
        refuses = true;
    }
    return refuses;
}

// nvcc includes a few standard headers by itself. Programs that rely on this compile here, too. Only headers
// for identifiers that the compiler reports as undefined are added, so they cannot conflict with the
// program's own definitions.
bool add_implied(const std::string& log, std::vector<std::string>* options) {
    bool added = false;
    for (const auto& [word, header] : implied_headers()) {
        const std::string option = "--pre-include=" + header;
        if (log.find("identifier \"" + word + "\" is undefined") == std::string::npos ||
            std::find(options->begin(), options->end(), option) != options->end()) {
            continue;
        }
        options->push_back(option);
        added = true;
    }
    // An error here is only a warning with nvcc.
    const std::string no_register = "-Dregister=";
    if (log.find("\"register\" storage class specifier is not allowed") != std::string::npos &&
        std::find(options->begin(), options->end(), no_register) == options->end()) {
        options->push_back(no_register);
        added = true;
    }
    const std::string default_device = "-default-device";
    if (refuses_only_lambdas(log) &&
        std::find(options->begin(), options->end(), default_device) == options->end()) {
        options->push_back(default_device);
        added = true;
    }
    return added;
}

// Reduces "::ns::scale<float>" or "& ns::scale <float>" to the function's name, "ns::scale".
std::string plain_name(std::string_view expression) {
    std::string name;
    for (const char c : expression.substr(0, expression.find('<'))) {
        if (c != '&' && c != ' ' && c != '(' && c != ')') name += c;
    }
    return name.starts_with("::") ? name.substr(2) : name;
}

// Adds parameter names from the source, which may declare several functions with the same name.
void add_names(const Job& job, const std::string& plain, std::vector<Parameter>& parameters) {
    for (const KernelNames& kernel : job.scanned) {
        if (kernel.name != plain || kernel.parameters.size() != parameters.size()) continue;
        for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i].name = kernel.parameters[i];
        return;
    }
}

// The kernels in this order: kernels that the source names, in source order; template instances in the order
// of the request; then kernels that only the compiler found (made by macros, or instantiated in the source).
std::vector<KernelDescription> describe(const Job& job, const std::string& image, const Lowered& lowered) {
    struct Kernel {
        KernelDescription description;
        std::size_t rank;
    };
    std::vector<std::string> expressions = job.request.name_expressions;
    expressions.insert(expressions.end(), job.instances.begin(), job.instances.end());
    std::vector<Kernel> kernels;
    const std::size_t scanned = job.scanned.size(), asked = expressions.size();
    for (const std::string& name : kernel_names(image)) {
        Kernel kernel{{}, scanned + asked};
        KernelDescription& description = kernel.description;
        description.lowered = name;
        const std::string demangled = demangle(name.c_str());
        description.name = function_name(demangled);
        std::optional<std::string> probe;
        for (std::size_t i = 0; i < scanned && !probe; ++i) {
            if (job.scanned[i].name != description.name) continue;
            kernel.rank = i;
            if (demangled == name) probe = description.name;  // extern "C"
        }
        for (std::size_t i = 0; i < asked; ++i) {
            const std::string& expression = expressions[i];
            const auto found = lowered.find(expression);
            if (found == lowered.end() || found->second != name) continue;
            if (kernel.rank >= scanned) {
                kernel.rank = std::min(kernel.rank, scanned + i);
                description.name = expression;
            }
            probe = expression;
        }
        const auto found = probe ? lowered.find(probe_of(*probe)) : lowered.end();
        if (found != lowered.end()) {
            description.parameters = parse_parameters(demangle(found->second.c_str()));
        } else if (demangled != name) {
            description.parameters = parse_parameters(demangled);
        }
        add_names(job, plain_name(description.name), description.parameters);
        kernels.push_back(std::move(kernel));
    }
    std::stable_sort(kernels.begin(), kernels.end(),
                     [](const Kernel& a, const Kernel& b) { return a.rank < b.rank; });
    std::vector<KernelDescription> descriptions;
    for (Kernel& kernel : kernels) descriptions.push_back(std::move(kernel.description));
    return descriptions;
}

// "-arch=sm_90" if this NVRTC knows the device, "-arch=compute_120" if this NVRTC is older than the device.
// Nothing, with the reason in *log, if this NVRTC no longer supports the device.
std::optional<std::string> architecture_option(const Library& nvrtc, const Architecture& architecture,
                                               std::string* log) {
    int count = 0;
    std::vector<int> supported;
    if (nvrtc.get_num_supported_archs(&count) == Result::success && count > 0) {
        supported.resize(static_cast<std::size_t>(count));
        if (nvrtc.get_supported_archs(supported.data()) != Result::success) supported.clear();
    }
    const int wanted = architecture.major * 10 + architecture.minor;
    int newest = 0;
    for (const int known : supported) {
        if (known == wanted) return "--gpu-architecture=sm_" + std::to_string(wanted);
        if (known < wanted) newest = std::max(newest, known);
    }
    if (newest > 0) return "--gpu-architecture=compute_" + std::to_string(newest);
    const auto text = [](int number) {
        return std::to_string(number / 10) + "." + std::to_string(number % 10);
    };
    *log = "NVRTC " + std::to_string(nvrtc.major) + "." + std::to_string(nvrtc.minor) + " (" + nvrtc.path +
           ") compiles for compute capability " +
           (supported.empty() ? "?" : text(*std::min_element(supported.begin(), supported.end()))) +
           " and newer; the device has " + text(wanted) + ".\n";
    return std::nullopt;
}

// Everything that determines the result; nothing if that cannot be determined.
std::optional<std::string> cache_key(const Job& job) {
    const CompileRequest& request = job.request;
    if (!request.use_cache || includes_by_option(request.options)) return std::nullopt;
    const std::optional<std::string> included = included_contents(request, include_folders(request));
    if (!included) return std::nullopt;
    std::string key = "nvrtc 5";  // increase the number when the same request gives a different result
    const auto add = [&](std::string_view part) {
        key += '\0';
        key += std::to_string(part.size());
        key += ':';
        key += part;
    };
    add(std::to_string(job.library.major) + "." + std::to_string(job.library.minor));
    add(job.library.path);
    add(request.file_name);
    for (const std::string& option : job.options) add(option);
    add("headers");
    for (const auto& [name, text] : request.headers) {
        add(name);
        add(text);
    }
    add("name expressions");
    for (const std::string& expression : request.name_expressions) add(expression);
    add("source");
    add(request.source);
    add(*included);
    return key;
}

std::vector<std::string> all_options(const Library& nvrtc, const CompileRequest& request,
                                     const std::optional<std::string>& architecture) {
    std::vector<std::string> options;
    const bool has_standard = std::any_of(
        request.options.begin(), request.options.end(),
        [](const std::string& option) { return is_option(option, "-std") || is_option(option, "--std"); });
    if (!has_standard) options.emplace_back("--std=c++17");
    options.emplace_back("-D__linux__=1");  // nvcc gets it from the host compiler
    if (architecture) options.push_back(*architecture);
    for (const std::string& path : request.include_paths) options.push_back("--include-path=" + path);
    options.insert(options.end(), request.options.begin(), request.options.end());
    for (const std::string& path : nvrtc.include_paths) options.push_back("--include-path=" + path);
    return options;
}

// A text that is passed to the compiler as a C string must not contain a zero byte.
bool has_zero(const CompileRequest& request) {
    const auto zero = [](const std::string& text) { return text.find('\0') != std::string::npos; };
    const auto any = [&](const std::vector<std::string>& texts) {
        return std::any_of(texts.begin(), texts.end(), zero);
    };
    return zero(request.source) || zero(request.file_name) || any(request.options) ||
           any(request.include_paths) || any(request.name_expressions) ||
           std::any_of(request.headers.begin(), request.headers.end(),
                       [&](const auto& header) { return zero(header.first) || zero(header.second); });
}

// Keeps only the device part of the source and of its included files. False if nothing was removed.
bool drop_host_code(Job& job, HostCode host_code) {
    CompileRequest& request = job.request;
    std::vector<IncludedFile> files = included_files(request, include_folders(request));
    // The toolkit's headers need no change.
    std::erase_if(files, [](const IncludedFile& file) {
        const std::string& name = file.names.front();
        return !file.path.ends_with(name) || has_any(folder_of(file, name), {"cuda_runtime.h"});
    });
    const std::string source = with_space_behind_linkage(request.source);
    std::vector<std::string_view> texts = {source};
    for (const auto& header : request.headers) texts.push_back(header.second);
    for (const IncludedFile& file : files) texts.push_back(file.text);
    DevicePart part = device_part(texts, request.name_expressions, host_code);
    bool changed = false;
    const auto take = [&changed](std::string& text, std::string& now) {
        changed |= text != now;
        text = std::move(now);
    };
    std::size_t next = 0;
    take(request.source, part.texts[next++]);
    for (auto& header : request.headers) take(header.second, part.texts[next++]);
    for (IncludedFile& file : files) {
        std::string& text = part.texts[next++];
        if (!file.is_known || text == file.text) continue;
        // A file that is included under several names is still one file.
        const std::string guard = "CUSCOPE_FILE_" + std::to_string(next);
        text = "#ifndef " + guard + "\n#define " + guard + "\n#line 1\n" + text + "\n#endif\n";
        for (const std::string& name : file.names) request.headers.emplace_back(name, text);
        changed = true;
    }
    job.instances = std::move(part.instances);
    return changed;
}

Status compile_part(Job& job, CompileResult* result) {
    std::vector<std::string> probes;
    for (const std::string& name : job.request.name_expressions) probes.push_back(probe_of(name));
    for (const KernelNames& kernel : job.scanned) {
        if (kernel.is_extern_c && !kernel.is_template) probes.push_back(probe_of(kernel.name));
    }
    const auto refused = [&](const std::string& expression) {
        return result->log.find(std::string(name_check) + expression) != std::string::npos;
    };
    for (const std::string& name : job.instances) probes.push_back(probe_of(name));
    Lowered lowered;
    std::vector<std::string> implied;
    Status status = Status::success;
    for (bool again = true; again;) {
        std::vector<std::string> expressions = job.request.name_expressions;
        expressions.insert(expressions.end(), job.instances.begin(), job.instances.end());
        expressions.insert(expressions.end(), probes.begin(), probes.end());
        *result = {};
        lowered.clear();
        status = compile_once(job, expressions, implied, result, &lowered);
        // The scan may have found a kernel that the preprocessor removes, so probes that the compiler refuses
        // are dropped. Messages about probes must not reach the user.
        again = status == Status::invalid_source && !job.given_up.load() &&
                (std::erase_if(probes, refused) + std::erase_if(job.instances, refused) > 0 ||
                 add_implied(result->log, &implied));
    }
    result->log = readable(std::move(result->log));
    if (status == Status::success) result->kernels = describe(job, result->image, lowered);
    return status;
}

// First compiles the source as it is. If that fails, compiles it without its host code, which NVRTC refuses.
// If that fails too, also removes host functions and host variables that kernels seem to name. The second try
// keeps these, because a message about a variable without `__device__` helps more than a message about a
// missing variable.
Status compile_all(Job& job, CompileResult* result) {
    const CompileRequest whole = job.request;
    Status status = compile_part(job, result);
    const auto refuses_host_code = [&] {
        return status == Status::invalid_source && !job.given_up.load() &&
               result->log.find("not allowed in JIT mode") != std::string::npos;
    };
    if (status != Status::invalid_source || job.given_up.load()) return status;
    const bool has_host_code = refuses_host_code();
    if (!drop_host_code(job, HostCode::drop)) return status;
    CompileResult device_only;
    const Status again = compile_part(job, &device_only);
    if (again == Status::success || has_host_code) {
        *result = std::move(device_only);
        status = again;
    }
    if (!refuses_host_code()) return status;
    job.request = whole;
    drop_host_code(job, HostCode::drop_named);
    CompileResult least;
    const Status last = compile_part(job, &least);
    if (last == Status::invalid_source) return status;
    *result = std::move(least);
    return last;
}

}  // namespace

bool names_architecture(const std::vector<std::string>& options) {
    return std::any_of(options.begin(), options.end(), [](const std::string& option) {
        return is_option(option, "-arch") || is_option(option, "--gpu-architecture");
    });
}

Status compile(const CompileRequest& request, const Architecture& architecture, CompileResult* result) {
    *result = {};
    if (has_zero(request)) {
        result->log = "The source, a header or an option holds a zero byte.\n";
        return Status::invalid_source;
    }
    std::optional<CompileLimit> limit = CompileLimit::from_environment(&result->log);
    if (!limit) return Status::invalid_value;
    const Library* const nvrtc = library(&result->log);
    if (nvrtc == nullptr) return Status::jit_compiler_not_found;
    std::optional<std::string> option;
    if (!names_architecture(request.options)) {
        option = architecture_option(*nvrtc, architecture, &result->log);
        if (!option) return Status::no_kernel_image_for_device;
    }
    const auto job = std::make_shared<Job>(*nvrtc, request, all_options(*nvrtc, request, option),
                                           find_kernels(request.source));
    const std::optional<std::string> key = cache_key(*job);
    const auto look_up = [&] {
        std::optional<CompileResult> found = cache_load(*key);
        if (found) *result = std::move(*found);
        return found.has_value();
    };
    CompileClaim claim;
    if (key) {
        if (look_up()) return Status::success;
        // If another process or thread is compiling the same request, waits for its result.
        if (const Status status = claim.wait(*key, *limit); status != Status::success) return status;
        if (look_up()) return Status::success;
        limit->start_again();
    }
    const auto made = std::make_shared<CompileResult>();
    Status status = Status::unknown;
    const ThreadEnd end =
        run_in_thread([job, made] { return compile_all(*job, made.get()); }, *limit, &status);
    if (end != ThreadEnd::finished) {
        job->given_up.store(true);
        if (end == ThreadEnd::interrupted) return Status::not_ready;
        result->log = limit->message("NVRTC", "was given up") + "\n";
        return Status::timeout;
    }
    *result = std::move(*made);
    if (status == Status::success && key) cache_store(*key, *result);
    return status;
}

}  // namespace cuscope::cuda::nvrtc
