// What the blocks of a reduction meet in: memory that is zero before each launch, and that each launch leaves
// zero.
#pragma once

#include <memory>

#include "core/memory/memory.hpp"

namespace cuscope::ops {

class Workspace {
  public:
    // So many bytes that nobody but this stream's launches uses until this object goes.
    Workspace(const core::StreamPtr& stream, std::size_t bytes);

    void* pointer() const { return pointer_; }
    // What the launch has to be told of; null for memory that is the stream's for good.
    core::Memory* memory() const { return own_.get(); }

  private:
    std::shared_ptr<core::DeviceMemory> own_;
    void* pointer_ = nullptr;
};

}  // namespace cuscope::ops
