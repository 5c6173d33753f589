// Finds the source line of an instruction of an image. It reads the image's own DWARF sections in this
// process, so that no tool has to be installed or started.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cuscope::simt {

// Compilers are told to use this name for folders of headers that are not the user's, such as the C++
// library's.
inline constexpr std::string_view foreign_folder = "/cuscope.system";
// The folder of the source, in line tables that Clang's assembler has written.
inline constexpr std::string_view source_folder = "/cuscope/source/";

class SourceLines {
  public:
    SourceLines() = default;
    // Copies the sections of a shared object that describe lines.
    explicit SourceLines(std::string_view object);

    // "kernel.cu:12", or "" if the line is not known. `address` is relative to the object. For an instruction
    // in an inlined function: the innermost line in the user's source.
    std::string at(std::uint64_t address) const;

  private:
    std::string lines_, units_, abbreviations_, ranges_;
};

}  // namespace cuscope::simt
