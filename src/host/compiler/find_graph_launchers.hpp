// Which functions of a source launch graphs: a kernel that does is a node of a graph, or is not launched.
#pragma once

#include <set>
#include <string_view>
#include <vector>

#include "host/compiler/declarations.hpp"

namespace cuscope::simt {

// The last parts of the names of functions at namespace scope that do so themselves, or call one that does.
std::set<std::string_view> functions_launching_graphs(const std::vector<Token>& tokens,
                                                      const Declarations& declarations);

}  // namespace cuscope::simt
