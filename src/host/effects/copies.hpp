// The work of copies and memsets, on boxes of rows. Private to src/host.
#pragma once

#include <cstring>
#include <vector>

#include "host/runtime/host_runtime.hpp"

namespace cuscope::host {

// Rows of `width` bytes, `pitch` bytes apart, in slices.
struct Box {
    std::byte* base = nullptr;
    std::size_t pitch = 0, slice = 0;

    std::byte* row(std::size_t y, std::size_t z) const { return base + z * slice + y * pitch; }
    // The distance from the first byte to the end of the last.
    std::size_t reach(const Extent& extent) const {
        return (extent.depth - 1) * slice + (extent.height - 1) * pitch + extent.width;
    }
};

constexpr std::size_t most_quick_bytes = 16384;

inline std::size_t bytes_of(const Extent& extent) { return extent.width * extent.height * extent.depth; }

class HostRuntime::CopyEffect final : public Effect {
  public:
    CopyEffect(const Box& destination, const Box& source, const Extent& extent)
        : destination_(destination), source_(source), extent_(extent) {}
    // Keeps a copy of the source, so that the caller may change it once the call has returned.
    void stage() {
        staged_.resize(bytes_of(extent_));
        const Box packed{staged_.data(), extent_.width, extent_.width * extent_.height};
        move(packed, source_);
        source_ = packed;
    }
    void run() override { move(destination_, source_); }
    bool quick() const override { return bytes_of(extent_) <= most_quick_bytes; }
    // Only of a copy that is not staged.
    std::shared_ptr<Effect> copy() const override {
        return std::make_shared<CopyEffect>(destination_, source_, extent_);
    }
    const Box& destination() const { return destination_; }
    const Box& source() const { return source_; }
    const Extent& extent() const { return extent_; }

  private:
    void move(const Box& destination, const Box& source) const {
        for (std::size_t z = 0; z < extent_.depth; ++z) {
            for (std::size_t y = 0; y < extent_.height; ++y) {
                std::memmove(destination.row(y, z), source.row(y, z), extent_.width);
            }
        }
    }

    Box destination_, source_;
    Extent extent_;
    std::vector<std::byte> staged_;
};

// Elements of one, two or four bytes; the extent's width is in bytes.
class HostRuntime::SetEffect final : public Effect {
  public:
    SetEffect(const Box& destination, std::uint32_t value, std::size_t element, const Extent& extent)
        : destination_(destination), value_(value), element_(element), extent_(extent) {}
    void run() override {
        for (std::size_t z = 0; z < extent_.depth; ++z) {
            for (std::size_t y = 0; y < extent_.height; ++y) set_row(destination_.row(y, z));
        }
    }
    bool quick() const override { return bytes_of(extent_) <= most_quick_bytes; }
    std::shared_ptr<Effect> copy() const override {
        return std::make_shared<SetEffect>(destination_, value_, element_, extent_);
    }
    const Box& destination() const { return destination_; }
    const Extent& extent() const { return extent_; }

  private:
    void set_row(std::byte* row) const {
        if (element_ == 1) {
            std::memset(row, static_cast<int>(value_), extent_.width);
            return;
        }
        for (std::size_t x = 0; x < extent_.width; x += element_) std::memcpy(row + x, &value_, element_);
    }

    Box destination_;
    std::uint32_t value_;
    std::size_t element_;
    Extent extent_;
};

}  // namespace cuscope::host
