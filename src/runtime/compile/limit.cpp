#include "runtime/compile/limit.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace cuscope {
namespace {

constexpr const char* variable = "CUSCOPE_COMPILE_TIMEOUT";
constexpr double usual_seconds = 300;

}  // namespace

std::optional<CompileLimit> CompileLimit::from_environment(std::string* problem) {
    const char* const value = std::getenv(variable);
    if (value == nullptr || *value == '\0') return CompileLimit(usual_seconds);
    const std::string_view text(value);
    if (text == "none") return CompileLimit(0);
    double seconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error == std::errc() && end == text.data() + text.size() && std::isfinite(seconds) && seconds >= 0) {
        return CompileLimit(seconds);
    }
    *problem = std::string(variable) + " is '" + value +
               "'; allowed is the number of seconds that a compilation may take, or 0 or 'none' for no limit";
    return std::nullopt;
}

std::string CompileLimit::message(const std::string& compiler, const char* what_became_of_it) const {
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%g", seconds_);
    return compiler + " " + what_became_of_it + " after " + seconds +
           " seconds, the limit of a compilation; set the environment variable " + variable +
           " to more seconds, or to 'none' for no limit";
}

}  // namespace cuscope
