// A compiled image in this process: a shared object loaded from memory, one instance for each device that
// uses it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cuscope_simt/abi.h"
#include "runtime/status.hpp"

namespace cuscope::simt {

// What the compiler driver puts behind the bytes of a shared object to make an image of it, so that nothing
// else is ever loaded.
std::string seal_image(std::string shared_object);

class Image {
  public:
    // `bytes` is a CompileResult's image. Status::invalid_kernel_image for anything else, with the reason in
    // *detail.
    static Status load(std::string_view bytes, std::shared_ptr<Image>* image, std::string* detail);

    Image(const Image&) = delete;
    Image& operator=(const Image&) = delete;
    ~Image();

    const cuscope_simt::ImageTable& table() const { return table_; }
    const cuscope_simt::KernelEntry* kernel(std::string_view lowered) const;  // null if there is none
    const cuscope_simt::GlobalEntry* global(std::string_view name) const;     // null if there is none

  private:
    explicit Image(void* handle) : handle_(handle) {}
    void* handle_;
    // The image's own table, with what its symbols say of each kernel.
    cuscope_simt::ImageTable table_{};
    std::vector<cuscope_simt::KernelEntry> kernels_;
    std::vector<std::string> names_;
};

}  // namespace cuscope::simt
