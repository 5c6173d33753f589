// The non-ASCII letters of a preprocessed source.
#pragma once

#include <string>

namespace cuscope::simt {

// GCC writes non-ASCII letters in names as \U000000f6. This restores the names as the user wrote them.
std::string with_letters(const std::string& text);

}  // namespace cuscope::simt
