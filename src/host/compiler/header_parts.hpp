// The parts of the language's header that few sources use (atomics, textures, ...). To parse them takes
// longer than to compile a short kernel, so they are left out of sources that do not use them. In the header,
// each part lies between `#pragma cuscope begin NAME` and `#pragma cuscope end NAME`, and `#pragma cuscope
// source` ends the header.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cuscope::simt {

// The options that leave out, before preprocessing, the parts that the source and the name expressions cannot
// use. The source must be complete: it has no #include, and no option brings macros or headers. A macro that
// joins two words keeps all parts.
std::vector<std::string> options_without_unused_parts(std::string_view source,
                                                      const std::vector<std::string>& name_expressions);

// The preprocessed text without the parts of the header that neither the text behind the header nor a name
// expression uses.
std::string without_unused_parts(const std::string& preprocessed,
                                 const std::vector<std::string>& name_expressions);

}  // namespace cuscope::simt
