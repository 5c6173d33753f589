// Which files a source includes, and what is in them: a compiled kernel that is kept must not outlive a
// header that it was made from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/types.hpp"

namespace cuscope::cuda {

// The names and contents of every file that the request's source and headers include, directly or not, from
// `include_paths` or from the folder of the including file. What is in none of them belongs to the compiler,
// whose version is known. Nothing where it cannot be told: an include whose name is a macro, or
// `__has_include`.
std::optional<std::string> included_contents(const CompileRequest& request,
                                             const std::vector<std::string>& include_paths);

// A file that a source seems to include, by itself or through another one.
struct IncludedFile {
    std::vector<std::string> names;  // that #include gives
    std::string path, text;
    bool is_known = true;  // no other file has one of the names
};
std::vector<IncludedFile> included_files(const CompileRequest& request,
                                         const std::vector<std::string>& include_paths);

}  // namespace cuscope::cuda
