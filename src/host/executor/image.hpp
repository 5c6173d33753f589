// A compiled image in this process: a shared object loaded from memory, one instance for each device that
// uses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cuscope_simt/abi.h"
#include "host/compiler/source_lines.hpp"
#include "runtime/status.hpp"

namespace cuscope::simt {

// The compiler driver puts this mark behind the bytes of a shared object to make an image of it, so that no
// other file is ever loaded.
std::string seal_image(std::string shared_object);

// The addresses at which the loader put an image.
struct ImageFacts {
    std::size_t tls_module = 0, tls_bytes = 0, tls_alignment = 1;
    const char* code_begin = nullptr;
    const char* code_end = nullptr;
    const char* image_begin = nullptr;
    const char* image_end = nullptr;
};

// A __shared__ variable at `offset` in the shared memory of each block.
struct SharedVariable {
    std::string name;
    std::size_t offset = 0, bytes = 0;
    std::string function;  // "f(int*)", the function that declares the variable; "s" itself if there is none
    bool of_kernel = false;
    bool is_guard = false;  // the compiler's own, beside a variable whose type has a constructor
};

class Image {
  public:
    // `bytes` is the image of a CompileResult. For anything else, Status::invalid_kernel_image with the
    // reason in *detail. Runs no code of the image: see `initialize`.
    static Status load(std::string_view bytes, std::shared_ptr<Image>* image, std::string* detail);

    Image(const Image&) = delete;
    Image& operator=(const Image&) = delete;
    ~Image();

    const cuscope_simt::ImageTable& table() const { return table_; }
    const std::vector<cuscope_simt::KernelEntry>& kernels() const { return kernels_; }
    const std::vector<cuscope_simt::GlobalEntry>& globals() const { return globals_; }
    const cuscope_simt::KernelEntry* kernel(std::string_view lowered) const;  // null if there is none
    const cuscope_simt::GlobalEntry* global(std::string_view name) const;     // null if there is none
    const ImageFacts& facts() const { return facts_; }
    bool holds_code(const void* instruction) const {
        return instruction >= facts_.code_begin && instruction < facts_.code_end;
    }
    // Does the instruction before `return_address` call the short function that holds `instruction`? False
    // where that is not known, as on processors other than x86-64.
    bool is_call_of(const void* return_address, const void* instruction) const;
    // "kernel.cu:12": the line of the user's source for an instruction in the image's code; empty if the line
    // is not known. Takes a millisecond or more.
    std::string source_line(const void* instruction) const;
    const std::vector<SharedVariable>& shared_variables() const { return shared_variables_; }
    // The error in the __shared__ variables; empty if there is none.
    std::string shared_problem() const;

    // Functions [first, last) that give objects at file scope their first values. Empty in nearly all images:
    // CUDA C++ does not allow such objects on the device, plain C++ does.
    const void* const* initializers_begin() const { return initializers_begin_; }
    const void* const* initializers_end() const { return initializers_end_; }

  private:
    explicit Image(void* handle) : handle_(handle) {}
    void reserve_below();

    void* handle_;
    char* below_ = nullptr;
    std::size_t below_bytes_ = 0;
    ImageFacts facts_;
    SourceLines lines_;
    std::uintptr_t loaded_at_ = 0;
    std::vector<SharedVariable> shared_variables_;
    const void* const* initializers_begin_ = nullptr;
    const void* const* initializers_end_ = nullptr;
    // Copies outside the image, where a kernel cannot write over them. They also hold the facts about each
    // kernel from the image's symbols.
    cuscope_simt::ImageTable table_{};
    std::vector<cuscope_simt::KernelEntry> kernels_;
    std::vector<cuscope_simt::GlobalEntry> globals_;
    std::vector<std::string> names_;
};

}  // namespace cuscope::simt
