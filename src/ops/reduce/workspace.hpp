// The memory through which the blocks of a reduction exchange results. It is zero before each launch, and
// each launch leaves it zero.
#pragma once

#include <memory>

#include "core/memory/memory.hpp"

namespace cuscope::ops {

class Workspace {
  public:
    // At least `bytes` bytes that only launches of this stream use until this object is destroyed.
    Workspace(const core::StreamPtr& stream, std::size_t bytes);

    void* pointer() const { return pointer_; }
    // The memory to be named in the launch; null if the stream keeps the memory for good.
    core::Memory* memory() const { return own_.get(); }

  private:
    std::shared_ptr<core::DeviceMemory> own_;
    void* pointer_ = nullptr;
};

}  // namespace cuscope::ops
