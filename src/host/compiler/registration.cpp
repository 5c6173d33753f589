#include "host/compiler/registration.hpp"

#include "cuscope_simt/abi.h"

namespace cuscope::simt {
namespace {

// namespace a { namespace b { TEXT } }
std::string inside(const std::string& scope, const std::string& text) {
    std::string begin, end;
    for (std::size_t at = 0; at < scope.size();) {
        const std::size_t next = scope.find("::", at);
        begin += "namespace " + scope.substr(at, next - at) + " { ";
        end += " }";
        at = next + 2;
    }
    return begin + text + end;
}

}  // namespace

std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += c == '\n' ? ' ' : c;
    }
    return result + "\"";
}

std::string registration_file(const std::string& kernel) { return "cuscope:" + kernel; }

std::string registration_code(const std::vector<Registration>& kernels,
                              const std::vector<GlobalSource>& globals, unsigned flags, bool waits) {
    const std::string here = "# 1 " + quoted(registration_file("registration")) + "\n";
    std::string functions, entries;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        const Registration& kernel = kernels[i];
        const std::string place = "# 1 " + quoted(registration_file(kernel.name)) + "\n";
        std::string function = "&" + kernel.name;
        if (kernel.by_type) {
            const std::string constant = "cuscope_kernel_" + std::to_string(i);
            functions += place +
                         inside(kernel.scope, "constexpr auto " + constant + " = static_cast<void (*)(" +
                                                  kernel.parameters + ")>(&" +
                                                  kernel.name.substr(kernel.scope.size()) + ");") +
                         "\n";
            function = "::" + kernel.scope + constant;
        }
        const std::string bounds =
            kernel.launch_bounds.empty() ? "{0, 0, 0, 0, 0}" : "::" + kernel.launch_bounds;
        entries += place + "kernels[" + std::to_string(i) + "] = ::cuscope_simt::Runner<" + function + ", " +
                   (waits ? "true" : "false") + ", " +
                   ((flags & cuscope_simt::lanes_descend) != 0 ? "true" : "false") + ">::entry(" +
                   quoted(kernel.name) + ", " + quoted(kernel.parameter_names) + ", " + bounds + ", " +
                   (kernel.launches_graphs ? "true" : "false") + ");\n";
    }
    std::string variables;
    for (std::size_t i = 0; i < globals.size(); ++i) {
        const GlobalSource& global = globals[i];
        variables += "globals[" + std::to_string(i) + "] = {" + quoted(global.name) +
                     ", (void*)&::" + global.name + ", sizeof(::" + global.name + "), " +
                     (global.constant ? "true" : "false") + "};\n";
    }
    return "\n" + functions + here +
           "static void cuscope_describe([[maybe_unused]] ::cuscope_simt::KernelEntry* kernels, "
           "[[maybe_unused]] ::cuscope_simt::GlobalEntry* globals) {\n" +
           entries + here + variables + "}\n" +
           "extern \"C\" {\n"
           "extern __attribute__((visibility(\"default\"))) const ::cuscope_simt::ImageTable cuscope_image;\n"
           "const ::cuscope_simt::ImageTable cuscope_image = {::cuscope_simt::abi_version, " +
           std::to_string(flags) + "u, &cuscope_describe, " + std::to_string(kernels.size()) + "u, " +
           std::to_string(globals.size()) +
           "u, &::cuscope_simt::initialize, ::cuscope_simt::places_shared, ::cuscope_simt::shared_key, "
           "cuscope_guard, sizeof cuscope_guard};\n}\n";
}

}  // namespace cuscope::simt
