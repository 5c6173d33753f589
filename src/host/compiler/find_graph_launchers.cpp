#include "host/compiler/find_graph_launchers.hpp"

namespace cuscope::simt {

std::set<std::string_view> functions_launching_graphs(const std::vector<Token>& tokens,
                                                      const Declarations& declarations) {
    std::set<std::string_view> launching;
    bool called = false;
    for (const Token& token : tokens) called = called || token.is("cudaGraphLaunch");
    if (!called) return launching;
    const auto launches = [&](const Declaration& function) {
        for (std::size_t i = function.body; i < function.end; ++i) {
            if (tokens[i].is("cudaGraphLaunch") || launching.count(tokens[i].text) != 0) return true;
        }
        return false;
    };
    for (bool found = true; found;) {
        found = false;
        for (const Declaration& function : declarations.list()) {
            if (function.body == no_token || function.name_end <= function.name_begin) continue;
            const std::string_view name = tokens[function.name_end - 1].text;
            if (launching.count(name) != 0 || !launches(function)) continue;
            launching.insert(name);
            found = true;
        }
    }
    return launching;
}

}  // namespace cuscope::simt
