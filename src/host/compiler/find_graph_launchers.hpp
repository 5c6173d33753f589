// Finds the functions of a source that launch graphs. A kernel that launches graphs can run only as a node of
// a graph.
#pragma once

#include <set>
#include <string_view>
#include <vector>

#include "runtime/compile/declarations.hpp"

namespace cuscope::simt {

// Functions at namespace scope that launch a graph themselves or call such a function: the last parts of
// their names.
std::set<std::string_view> functions_launching_graphs(const std::vector<Token>& tokens,
                                                      const Declarations& declarations);

}  // namespace cuscope::simt
