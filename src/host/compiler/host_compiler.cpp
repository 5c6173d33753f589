#include "host/compiler/host_compiler.hpp"

#include <cstdlib>
#include <map>
#include <mutex>
#include <sstream>

#include "host/compiler/run_command.hpp"

namespace cuscope::simt {
namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

// The number before the first point outside of parentheses, as in "g++ (Debian 12.2.0-14) 12.2.0" and "Debian
// clang version 14.0.6".
int major_version(const std::string& version) {
    int depth = 0;
    for (std::size_t at = 0; at < version.size(); ++at) {
        depth += version[at] == '(' ? 1 : version[at] == ')' ? -1 : 0;
        if (depth != 0 || version[at] != '.' || at == 0) continue;
        std::size_t begin = at;
        while (begin > 0 && version[begin - 1] >= '0' && version[begin - 1] <= '9') --begin;
        if (begin != at && at - begin < 4) return std::stoi(version.substr(begin, at - begin));
    }
    return 0;
}

// Empty if `path` is a compiler, else the reason why it is not.
std::string try_compiler(const std::string& path, const CompileLimit& limit, HostCompiler* compiler,
                         bool* interrupted) {
    const Watcher watcher("");
    const CommandResult answer = run_command({path, "--version"}, "/", watcher, limit);
    *interrupted = answer.end == CommandResult::End::interrupted;
    if (answer.end == CommandResult::End::not_started) return answer.output;
    if (answer.end == CommandResult::End::timed_out) return limit.message(path + " --version", "was stopped");
    if (!answer.ok()) return path + " --version failed (exit code " + std::to_string(answer.exit_code) + ")";
    std::istringstream lines(answer.output);
    std::getline(lines, compiler->version);
    compiler->is_clang = answer.output.find("clang") != std::string::npos;
    compiler->major = major_version(compiler->version);
    if (!compiler->is_clang && answer.output.find("Free Software Foundation") == std::string::npos)
        return path + " is neither GCC nor Clang: " + compiler->version;
    compiler->path = path;
    return "";
}

Status search(const std::string& chosen, const std::string& usual, const CompileLimit& limit,
              HostCompiler* compiler) {
    std::vector<std::pair<std::string, std::string>> candidates;  // path, origin
    if (!chosen.empty()) {
        candidates = {{chosen, "CUSCOPE_CXX: "}};
    } else {
        // $CXX may hold options ("ccache g++"). Such a value is not a path.
        if (!usual.empty() && usual.find(' ') == std::string::npos) candidates.push_back({usual, "CXX: "});
        for (const char* name : {"c++", "g++", "clang++"}) candidates.push_back({name, ""});
    }
    std::string tried;
    for (const auto& [path, origin] : candidates) {
        bool interrupted = false;
        const std::string problem = try_compiler(path, limit, compiler, &interrupted);
        if (interrupted) return Status::not_ready;
        if (problem.empty()) return Status::success;
        tried += "  " + origin + problem + "\n";
    }
    *compiler = {};
    compiler->problem =
        "no C++ compiler to compile kernels with; tried:\n" + tried +
        (chosen.empty() ? "install one (apt install g++, dnf install gcc-c++, conda install gxx) or set "
                          "CUSCOPE_CXX to the path of one"
                        : "set CUSCOPE_CXX to the path of g++ or clang++, or unset it");
    return Status::jit_compiler_not_found;
}

}  // namespace

Status find_host_compiler(const CompileLimit& limit, HostCompiler* compiler) {
    static std::mutex mutex;
    static std::map<std::string, HostCompiler> known;
    const std::string chosen = variable("CUSCOPE_CXX"), usual = variable("CXX");
    const std::string key = chosen + '\n' + usual + '\n' + variable("PATH");
    {
        const std::lock_guard lock(mutex);
        if (const auto found = known.find(key); found != known.end()) {
            *compiler = found->second;
            return Status::success;
        }
    }
    const Status status = search(chosen, usual, limit, compiler);
    if (status == Status::success) {
        const std::lock_guard lock(mutex);
        known[key] = *compiler;
    }
    return status;
}

std::vector<std::string> compiler_flags(const HostCompiler& compiler) {
    std::vector<std::string> flags{
        "-O2",
        "-fPIC",
        // Each image keeps its symbols to itself, and can be unloaded.
        "-fvisibility=hidden",
        "-fvisibility-inlines-hidden",
        "-fno-exceptions",
        // Notices that a kernel wrote over a frame before the frame's function returns; see guards.h.
        "-fstack-protector-strong",
        // Where C++ leaves the behaviour undefined, do as a device does: integers wrap, a float's bits can be
        // read through an int pointer, an endless loop stays, an access through null faults.
        "-fno-strict-aliasing",
        "-fwrapv",
        "-fno-finite-loops",
        "-fno-delete-null-pointer-checks",
        // A large frame touches the guard page of its stack instead of stepping over it.
        "-fstack-clash-protection",
        // a * b + c gives what NumPy gives for it.
        "-ffp-contract=off",
        "-fno-math-errno",
        // printf becomes cuscope's function. Calls of puts and putchar, which the compiler would make of it,
        // would not.
        "-fno-builtin-printf",
        "-fno-builtin-clock",
        "-U_FORTIFY_SOURCE",
        // A misaligned access is an error on a device; the hook is in device_functions.h.
        "-fsanitize=alignment",
        "-fno-sanitize-recover=alignment",
        "-fdiagnostics-color=never",
        "-Wno-attributes",
        "-Wno-unknown-pragmas",
        "-Wno-register",
    };
    if (compiler.is_clang) {
        flags.insert(flags.end(), {"-Wno-unknown-warning-option", "-Wno-ignored-attributes",
                                   "-Wno-unused-command-line-argument",
                                   "-fvisibility-global-new-delete-hidden", "-Wno-return-type-c-linkage"});
    } else {
        flags.insert(flags.end(),
                     {"-fno-gnu-unique", "-fno-extern-tls-init",
                      // Finds the block's __shared__ memory once in a function, not once for each variable.
                      "-ftls-model=local-dynamic",
                      // Unrolls loops with few iterations, such as those over a tile in shared memory.
                      "-fpeel-loops", "--param=max-completely-peel-times=32",
                      "--param=max-completely-peeled-insns=400"});
    }
    return flags;
}

std::vector<std::string> line_flags(const HostCompiler& compiler) {
    // The order matters: -gdwarf-4 alone asks for full debug information.
    return {"-gdwarf-4", compiler.is_clang ? "-gline-tables-only" : "-g1", "-gz=none"};
}

namespace {

std::vector<std::string> counting_flags(const HostCompiler& compiler, bool timed) {
    std::vector<std::string> flags{"-fsanitize=thread", "-fno-optimize-sibling-calls", "-fno-tree-vectorize"};
    if (compiler.is_clang) {
        flags.insert(flags.end(), {"-fsanitize-coverage=bb,trace-pc,no-prune", "-fno-slp-vectorize", "-mllvm",
                                   "-tsan-instrument-func-entry-exit=0", "-mllvm",
                                   "-tsan-instrument-read-before-write=1"});
        flags.push_back(timed ? "-O3" : "-fno-unroll-loops");
    } else {
        // Keeps a load of a vector of four floats as one access.
        flags.insert(flags.end(), {"-fsanitize-coverage=trace-pc", "-fno-tree-sra", "-Wno-tsan",
                                   // One of two equal kernels would have no lines.
                                   "-fno-ipa-icf"});
        // For times: unrolls short loops, as nvcc does. For counts: a copy of an access for each iteration
        // would be counted as an instruction of its own.
        flags.push_back(timed ? "-O3" : "-fno-peel-loops");
    }
    return flags;
}

std::vector<std::string> checking_flags(const HostCompiler& compiler) {
    std::vector<std::string> flags{"-fsanitize=thread", "-fno-optimize-sibling-calls", "-fno-tree-vectorize",
                                   // Copies stay calls of functions, which hooks.cpp replaces.
                                   "-fno-builtin-memcpy", "-fno-builtin-memmove", "-fno-builtin-memset"};
    if (compiler.is_clang) {
        flags.insert(
            flags.end(),
            {"-fsanitize=array-bounds", "-fno-slp-vectorize", "-mllvm", "-tsan-instrument-func-entry-exit=0",
             "-mllvm", "-tsan-distinguish-volatile=1", "-mllvm", "-tsan-instrument-read-before-write=1",
             // Two equal accesses on different lines stay two.
             "-mllvm", "-enable-tail-merge=0", "-mllvm", "-simplifycfg-sink-common=0", "-mllvm",
             "-simplifycfg-hoist-common=0"});
    } else {
        flags.insert(flags.end(),
                     {"-fsanitize=bounds", "--param", "tsan-distinguish-volatile=1", "--param",
                      "tsan-instrument-func-entry-exit=0", "-Wno-tsan",
                      // Two equal accesses on different lines stay two.
                      "-fno-crossjumping", "-fno-tree-tail-merge", "-fno-code-hoisting", "-fno-tree-cselim",
                      // One of two equal kernels would be reported with the lines of the other.
                      "-fno-ipa-icf"});
    }
    return flags;
}

}  // namespace

std::vector<std::string> image_flags(const HostCompiler& compiler, ImageKind kind, bool device_debug) {
    switch (kind) {
        case ImageKind::plain:
            if (device_debug) return {"-O0"};
            return {};
        case ImageKind::counting:
            return counting_flags(compiler, false);
        case ImageKind::timing:
            return counting_flags(compiler, true);
        case ImageKind::checking:
            return checking_flags(compiler);
    }
    return {};
}

std::string instrumentation_problem(const HostCompiler& compiler) {
    // Older compilers cannot exclude a function from instrumentation.
    const int least = compiler.is_clang ? 14 : 12;
    if (compiler.major == 0 || compiler.major >= least) return "";
    return "to count or to check what a kernel does takes GCC 12 or Clang 14, or a newer one; the compiler "
           "is " +
           compiler.version + " (" + compiler.path + "): set CUSCOPE_CXX to the path of another";
}

std::vector<std::string> link_flags(bool with_standard_library) {
    std::vector<std::string> flags = {
        "-shared", "-Wl,-z,defs",
        // No start files: guards.h does their part.
        "-nostartfiles",
        // No table of the linker stays writable: all of them are made read-only once they are filled in.
        "-Wl,-z,relro,-z,now", "-Wl,--as-needed", "-nodefaultlibs"};
    // The libraries by name, because -fsanitize would add the sanitizer's own runtime.
    if (with_standard_library) {
        flags.emplace_back("-lstdc++");
    } else {
        // The description of a type for typeid() points to one of these tables. Only functions of the library
        // read the tables.
        for (const char* name : {"119__pointer", "120__function", "117__class", "120__si_class"})
            flags.push_back("-Wl,--defsym=_ZTVN10__cxxabiv" + std::string(name) + "_type_infoE=0");
    }
    flags.insert(flags.end(), {"-lm", "-lc", "-lgcc_s", "-lgcc"});
    return flags;
}

}  // namespace cuscope::simt
