// Which line of a source an instruction of an image comes from: read from the image's own DWARF sections,
// in this process, so that nothing has to be installed, started or waited for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cuscope::simt {

// What compilers are told to call a folder of headers which are not the user's, as that of the C++ library.
inline constexpr std::string_view foreign_folder = "/cuscope.system";

class SourceLines {
  public:
    SourceLines() = default;
    // Keeps a copy of the sections of a shared object that tell lines.
    explicit SourceLines(std::string_view object);

    // "kernel.cu:12", "" if it is not known. `address` as the object counts it. Of an instruction of a
    // function that the compiler has put into others: the innermost line that is the user's.
    std::string at(std::uint64_t address) const;

  private:
    std::string lines_, units_, abbreviations_, ranges_;
};

}  // namespace cuscope::simt
