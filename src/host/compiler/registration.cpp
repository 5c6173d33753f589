#include "host/compiler/registration.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

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

std::string without_spaces(std::string_view text) {
    std::string result;
    for (const char c : text)
        if (c != ' ' && c != '\t' && c != '\n') result += c;
    return result;
}

// The name in "&ns::scale<float>", without "&", a leading "::" and spaces around it.
std::string expression_name(std::string_view expression) {
    const std::size_t begin = expression.find_first_not_of(" \t\n&");
    const std::size_t end = expression.find_last_not_of(" \t\n");
    if (begin == std::string_view::npos) return "";
    std::string_view name = expression.substr(begin, end + 1 - begin);
    if (name.substr(0, 2) == "::") name.remove_prefix(2);
    return std::string(name);
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

std::vector<Registration> registrations(const Rewritten& rewritten,
                                        const std::vector<std::string>& expressions,
                                        const std::vector<std::string>& instances, const std::string& only) {
    std::vector<Registration> result;
    const auto add = [&result](Registration registration) {
        const std::string bare = without_spaces(registration.name);
        for (const Registration& known : result) {
            const bool overloads =
                known.by_type && registration.by_type &&
                without_spaces(known.parameters) != without_spaces(registration.parameters);
            if (without_spaces(known.name) == bare && !overloads) return;
        }
        result.push_back(std::move(registration));
    };
    // An instance, named by the user or in the source, inherits the facts known about its template.
    const auto add_instance = [&](std::string name, bool optional) {
        Registration registration;
        registration.optional = optional;
        registration.name = std::move(name);
        const std::size_t angle = std::min(registration.name.find('<'), registration.name.size());
        const std::string function = without_spaces(registration.name.substr(0, angle));
        for (const KernelSource& kernel : rewritten.kernels) {
            if (!kernel.is_template || without_spaces(kernel.name) != function) continue;
            registration.parameter_names = kernel.parameter_names;
            registration.launches_graphs = kernel.launches_graphs;
            if (!kernel.launch_bounds.empty())
                registration.launch_bounds = kernel.launch_bounds + registration.name.substr(angle);
        }
        add(std::move(registration));
    };
    // Kernels that share a name are told apart by their types.
    const auto is_overloaded = [&](const KernelSource& kernel) {
        return std::count_if(rewritten.kernels.begin(), rewritten.kernels.end(),
                             [&](const KernelSource& other) {
                                 return !other.is_template && other.name == kernel.name;
                             }) > 1;
    };
    for (const KernelSource& kernel : rewritten.kernels) {
        if (kernel.name.back() == '>') {
            add_instance(kernel.name, false);
        } else if (!kernel.is_template) {
            add({kernel.name, kernel.parameter_names, kernel.launch_bounds, true, kernel.scope,
                 kernel.parameters, is_overloaded(kernel), kernel.launches_graphs});
        }
    }
    for (const std::string& expression : expressions) add_instance(expression_name(expression), false);
    for (const std::string& instance : instances) add_instance(instance, true);
    if (!only.empty()) std::erase_if(result, [&](const Registration& it) { return it.name != only; });
    return result;
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
           "static __attribute__((no_sanitize(\"alignment\"))) void cuscope_describe([[maybe_unused]] "
           "::cuscope_simt::KernelEntry* kernels, "
           "[[maybe_unused]] ::cuscope_simt::GlobalEntry* globals) {\n" +
           entries + here + variables + "}\n" +
           "extern \"C\" {\n"
           "extern __attribute__((visibility(\"default\"))) const ::cuscope_simt::ImageTable cuscope_image;\n"
           "const ::cuscope_simt::ImageTable cuscope_image = {::cuscope_simt::abi_version, " +
           std::to_string(flags) + "u, &cuscope_describe, " + std::to_string(kernels.size()) + "u, " +
           std::to_string(globals.size()) +
           "u, &::cuscope_simt::initialize, ::cuscope_simt::places_shared, ::cuscope_simt::shared_key, "
           "cuscope_guard, sizeof cuscope_guard, ::cuscope_simt::costs, ::cuscope_simt::costs_end, "
           "::cuscope_simt::lines, ::cuscope_simt::lines_end, ::cuscope_simt::accesses, "
           "::cuscope_simt::accesses_end};\n}\n";
}

}  // namespace cuscope::simt
