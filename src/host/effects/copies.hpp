// The work of copies and memsets, on boxes of rows: their checks and their commands. Private to src/host.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "host/effects/box.hpp"
#include "host/sim/command.hpp"
#include "runtime/status.hpp"
#include "runtime/types.hpp"

namespace cuscope::simt {
class Shadow;
}

namespace cuscope::host {

struct Allocation;
struct Device;
struct DeviceModel;
struct Machine;
struct Stream;

constexpr std::size_t most_quick_bytes = 16384, most_brief_bytes = std::size_t{256} << 10;

// Tells the checks of kernels that a box was written. `shadow` may be null.
void mark_written(const std::shared_ptr<simt::Shadow>& shadow, const Box& box, const Extent& extent);

class CopyEffect final : public Effect {
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
    void run() override {
        move(destination_, source_);
        mark_written(written_, destination_, extent_);
    }
    // The memory that it writes, for checks of kernels.
    void set_written(std::shared_ptr<simt::Shadow> shadow) { written_ = std::move(shadow); }
    bool quick() const override { return bytes_of(extent_) <= most_quick_bytes; }
    bool brief() const override { return bytes_of(extent_) <= most_brief_bytes; }
    // Only of a copy that is not staged.
    std::shared_ptr<Effect> copy() const override {
        auto made = std::make_shared<CopyEffect>(destination_, source_, extent_);
        made->written_ = written_;
        return made;
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
    std::shared_ptr<simt::Shadow> written_;
};

// Elements of one, two or four bytes; the extent's width is in bytes.
class SetEffect final : public Effect {
  public:
    SetEffect(const Box& destination, std::uint32_t value, std::size_t element, const Extent& extent)
        : destination_(destination), value_(value), element_(element), extent_(extent) {}
    void run() override {
        for (std::size_t z = 0; z < extent_.depth; ++z) {
            for (std::size_t y = 0; y < extent_.height; ++y) set_row(destination_.row(y, z));
        }
        mark_written(written_, destination_, extent_);
    }
    bool quick() const override { return bytes_of(extent_) <= most_quick_bytes; }
    bool brief() const override { return bytes_of(extent_) <= most_brief_bytes; }
    std::shared_ptr<Effect> copy() const override {
        auto made = std::make_shared<SetEffect>(destination_, value_, element_, extent_);
        made->written_ = written_;
        return made;
    }
    const Box& destination() const { return destination_; }
    const Extent& extent() const { return extent_; }
    void set_written(std::shared_ptr<simt::Shadow> shadow) { written_ = std::move(shadow); }

  private:
    void set_row(std::byte* row) const {
        if (element_ == 1) {
            std::memset(row, static_cast<int>(value_), extent_.width);
            return;
        }
        // Some elements one by one, the others as copies of these: many bytes at a time are quicker.
        std::size_t done = 0;
        for (; done < std::min(extent_.width, 64 * element_); done += element_)
            std::memcpy(row + done, &value_, element_);
        for (std::size_t next = 0; done < extent_.width; done += next) {
            next = std::min({done, extent_.width - done, most_set_bytes});
            std::memcpy(row + done, row, next);
        }
    }
    // The copied elements stay in the processor's first cache.
    static constexpr std::size_t most_set_bytes = 16 << 10;

    Box destination_;
    std::uint32_t value_;
    std::size_t element_;
    Extent extent_;
    std::shared_ptr<simt::Shadow> written_;
};

// Finds the allocation that the box lies in, if any, and checks that it holds the whole box.
Status check_box(const Machine& machine, const Box& box, const Extent& extent, const char* what,
                 const Allocation** allocation);
// Is all of the box memory that the runtime knows?
bool is_there(const Machine& machine, const Box& box, const Extent& extent);

bool is_kind(MemcpyKind kind);
bool on_device(const Allocation* allocation);
// For a copy of one byte or more.
Status check_copy(const Machine& machine, const Box& destination, const Box& source, const Extent& extent,
                  MemcpyKind kind, const Allocation** to, const Allocation** from);
// Options for make_copy(). `parameters` describe a copy that becomes a graph node; if null, they are derived
// from the boxes.
struct CopyRequest {
    bool synchronous = false, stage = false, node = false;
    bool peer = false;  // the call names both devices
    const Memcpy3DParameters* parameters = nullptr;
};
// The call itself copies a pageable source of up to this size to a staging buffer and returns at once.
constexpr std::size_t most_staged = std::size_t{64} << 10;
// Makes the command of a copy in a stream or of a copy node; none for zero bytes. `wait`: the call waits for
// it.
Status make_copy(Machine& machine, const Box& destination, const Box& source, const Extent& extent,
                 MemcpyKind kind, Stream& stream, const CopyRequest& request, Command** made, bool* wait);
// Translates the parameters of a three-dimensional copy to boxes. An extent of zero bytes has no boxes.
Status boxes_of(const Machine& machine, const Memcpy3DParameters* parameters, Box* destination, Box* source,
                Extent* extent);

Status check_set_2d(const void* pointer, std::size_t pitch, std::size_t element, std::size_t width,
                    std::size_t height);
// The device does a memset of few neighbouring bytes without a kernel.
bool is_small_memset(const DeviceModel& model, const Extent& extent);
// Makes the command of a memset in a stream, or of a memset node if `node` is true; none for zero bytes.
Status make_set(Machine& machine, const Box& box, std::uint32_t value, std::size_t element,
                const Extent& extent, Stream& stream, bool node, Command** made);

}  // namespace cuscope::host
