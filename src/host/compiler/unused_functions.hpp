// The inline functions of the language's headers that a source does not call. To parse them takes longer than
// to compile most kernels, so they are cut out.
#pragma once

#include <string>
#include <string_view>

namespace cuscope::simt {

// The preprocessed and rewritten source without the functions (marked CUSCOPE_INLINE) of the headers in
// `folder` whose names the rest of the text does not have. Line numbers stay the same.
std::string without_unused_functions(std::string_view text, const std::string& folder);

}  // namespace cuscope::simt
