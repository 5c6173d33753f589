// Finds the files that a source includes, and reads them: a compiled kernel in the cache must not be used
// after one of its headers has changed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/types.hpp"

namespace cuscope::cuda {

// The names and contents of every file that the request's source and headers include, directly or indirectly,
// from `include_paths` or from the folder of the including file. Headers found in neither belong to the
// compiler, and its version is known. Nothing if this cannot be determined: an include with a macro as its
// name, or `__has_include`.
std::optional<std::string> included_contents(const CompileRequest& request,
                                             const std::vector<std::string>& include_paths);

// A file that a source seems to include, directly or through another file.
struct IncludedFile {
    std::vector<std::string> names;  // as written in #include
    std::string path, text;
    bool is_known = true;  // no other file has one of the names
};
std::vector<IncludedFile> included_files(const CompileRequest& request,
                                         const std::vector<std::string>& include_paths);

}  // namespace cuscope::cuda
