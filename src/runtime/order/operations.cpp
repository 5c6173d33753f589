#include "runtime/order/operations.hpp"

#include <algorithm>

#include "runtime/order/checker.hpp"
#include "runtime/order/notes.hpp"

namespace cuscope::order {
namespace {

// A copy with more rows than this is left out.
constexpr std::size_t most_rows = 1 << 16;

enum class Side { device, page_locked, pageable };

Side side_of(Runtime& runtime, const void* pointer, std::size_t bytes, bool host, bool unknown) {
    if (!host && !unknown) return Side::device;
    if (is_page_locked(pointer, bytes)) return Side::page_locked;
    if (!unknown) return Side::pageable;
    if (Checker::get().end_of_allocation(reinterpret_cast<std::uintptr_t>(pointer)) != 0) return Side::device;
    const Quiet quiet;
    PointerAttributes attributes;
    if (runtime.pointer_get_attributes(&attributes, pointer) != Status::success) {
        runtime.get_last_error();
        return Side::device;
    }
    return attributes.type == MemoryType::unregistered ? Side::pageable
           : attributes.type == MemoryType::host       ? Side::page_locked
                                                       : Side::device;
}

}  // namespace

void add_rows(std::vector<Access>& accesses, const void* pointer, std::size_t pitch, std::size_t width,
              std::size_t rows, Role role) {
    if (pointer == nullptr || width == 0 || rows == 0) return;
    if (pitch == width || rows == 1) {
        width *= rows;
        rows = 1;
    }
    if (rows > most_rows) return;
    for (std::size_t row = 0; row < rows; ++row) {
        Access access;
        access.begin = reinterpret_cast<std::uintptr_t>(pointer) + row * pitch;
        access.end = access.begin + width;
        access.role = role;
        accesses.push_back(std::move(access));
    }
}

CopyWork copy_work(Runtime& runtime, const PitchedPointer& destination, const PitchedPointer& source,
                   const Extent& extent, MemcpyKind kind) {
    CopyWork work;
    const bool unknown = kind == MemcpyKind::by_address;
    const auto add = [&](const PitchedPointer& at, bool host, Role role) {
        if (at.pointer == nullptr || extent.width == 0) return Side::device;
        const Side side = side_of(runtime, at.pointer, extent.width, host, unknown);
        if (side == Side::pageable) return side;
        for (std::size_t slice = 0; slice < extent.depth; ++slice) {
            add_rows(work.accesses, static_cast<const std::byte*>(at.pointer) + slice * at.pitch * at.y_size,
                     at.pitch, extent.width, extent.height, role);
        }
        return side;
    };
    const Side from =
        add(source, kind == MemcpyKind::host_to_device || kind == MemcpyKind::host_to_host, Role::read);
    const Side to =
        add(destination, kind == MemcpyKind::device_to_host || kind == MemcpyKind::host_to_host, Role::write);
    work.host_waits = to == Side::pageable;
    work.what = to != Side::device     ? "the copy to the host"
                : from != Side::device ? "the copy to the device"
                                       : "the copy on the device";
    return work;
}

CopyWork copy_work(Runtime& runtime, const Memcpy3DParameters& copy) {
    // CUDA arrays are left out: they have no addresses.
    const auto at = [](const PitchedPointer& side, const Position& position, ArrayHandle array) {
        PitchedPointer moved = side;
        if (array != nullptr) moved.pointer = nullptr;
        if (moved.pointer != nullptr)
            moved.pointer = static_cast<std::byte*>(moved.pointer) + position.x +
                            (position.y + position.z * side.y_size) * side.pitch;
        return moved;
    };
    Extent extent = copy.extent;
    if (copy.source_array != nullptr || copy.destination_array != nullptr) extent = {0, 0, 0};
    CopyWork work =
        copy_work(runtime, at(copy.destination, copy.destination_position, copy.destination_array),
                  at(copy.source, copy.source_position, copy.source_array), extent, copy.kind);
    if (extent.width == 0) {
        work.what = "the copy of a CUDA array";
        // The copy to pageable memory ends before the call returns.
        if (copy.destination_array == nullptr && copy.destination.pointer != nullptr) {
            const Side to =
                side_of(runtime, copy.destination.pointer, 1, copy.kind == MemcpyKind::device_to_host,
                        copy.kind == MemcpyKind::by_address);
            work.host_waits = to == Side::pageable;
        }
    }
    return work;
}

std::vector<Access> kernel_accesses() {
    std::vector<Access> accesses;
    const KernelScope* const kernel = KernelScope::current();
    if (kernel == nullptr) return accesses;
    for (const Argument& argument : kernel->arguments) {
        Access access;
        access.begin = argument.begin;
        access.end = argument.end;
        if (access.end == 0) access.end = Checker::get().end_of_allocation(access.begin);
        if (access.end <= access.begin) continue;
        access.role = argument.polled ? Role::atomic : argument.written ? Role::write : Role::read;
        access.exact = false;
        access.argument = argument.name;
        accesses.push_back(std::move(access));
    }
    return accesses;
}

std::string kernel_name(Runtime& runtime, KernelHandle kernel) {
    if (const KernelScope* const known = KernelScope::current()) return "kernel '" + known->name + "'";
    const Quiet quiet;
    const char* name = nullptr;
    if (runtime.func_get_name(&name, kernel) != Status::success || name == nullptr) {
        runtime.get_last_error();
        return "a kernel";
    }
    return "kernel '" + std::string(name) + "'";
}

}  // namespace cuscope::order
