// The names of source files in the line table of an image.
#pragma once

#include <string>
#include <vector>

namespace cuscope::simt {

struct CompilationFolders {
    std::string own;        // of this compilation alone
    std::string libraries;  // headers in place of host libraries' headers, as in the compiler's option -I
    std::string headers;    // of cuscope
};

// Options that map the names of files. A folder with only system headers (the preprocessor marks them) gets
// another name, so that an instruction from such a header is reported with the user's line that included it.
// The folder of this compilation is left out: it is of no use later, and would make two equal compilations
// differ.
std::vector<std::string> file_name_flags(const std::string& preprocessed, const CompilationFolders& known);

}  // namespace cuscope::simt
