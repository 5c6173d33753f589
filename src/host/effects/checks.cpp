#include "host/effects/checks.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "host/checking/launch_check.hpp"
#include "host/effects/kernel.hpp"
#include "host/runtime/machine.hpp"
#include "runtime/checking.hpp"
#include "runtime/order/notes.hpp"

namespace cuscope::host {
namespace {

simt::Region region_at(const void* begin, std::size_t bytes) {
    simt::Region region;
    region.begin = reinterpret_cast<std::uintptr_t>(begin);
    region.end = region.begin + bytes;
    return region;
}

// The launch is not checked: what it writes is not known.
void count_as_written(MemoryRegistry& memory, simt::Launch& launch) {
    for (std::size_t at = 0; at + sizeof(void*) <= launch.arguments.size(); at += sizeof(void*)) {
        void* address = nullptr;
        std::memcpy(&address, launch.arguments.data() + at, sizeof address);
        const Allocation* const allocation = memory.find(address);
        if (allocation != nullptr && allocation->shadow) launch.written.push_back(allocation->shadow);
    }
}

void add_memory(Machine& machine, simt::LaunchCheck& check) {
    std::vector<std::pair<std::uintptr_t, std::uintptr_t>> ranges;
    machine.memory.for_each([&](const Allocation& allocation) {
        simt::Region region = region_at(allocation.base, allocation.bytes);
        region.on_host = allocation.type != MemoryType::device;
        region.label = label_of(allocation.base);
        if (!region.on_host) region.device = allocation.device;
        // CUDA arrays are accessed by texture functions, which check their coordinates.
        if (!allocation.fixed) region.shadow = machine.memory.shadow_of(allocation);
        ranges.emplace_back(region.begin, region.end);
        check.add(std::move(region));
    });
    for (const auto& range : known_memory()) {
        const auto begin = range.first, end = range.second;
        const bool known = std::any_of(ranges.begin(), ranges.end(), [&](const auto& other) {
            return begin < other.second && end > other.first;
        });
        if (known) continue;
        simt::Region region = region_at(reinterpret_cast<const void*>(begin), end - begin);
        region.on_host = true;
        region.shadow =
            std::make_shared<simt::Shadow>(reinterpret_cast<const void*>(begin), end - begin, true);
        check.add(std::move(region));
    }
    machine.textures.for_each([&](const TextureObject& texture) {
        check.add(region_at(&texture, sizeof texture));
        check.add(
            region_at(texture.own_levels.data(), texture.own_levels.size() * sizeof texture.own_levels[0]));
    });
}

std::vector<std::uintptr_t> out_of_access(const Machine& machine, const Device& device) {
    std::vector<std::uintptr_t> begins;
    machine.memory.for_each([&](const Allocation& allocation) {
        if (!device.reaches(allocation)) begins.push_back(reinterpret_cast<std::uintptr_t>(allocation.base));
    });
    std::sort(begins.begin(), begins.end());
    return begins;
}

// Not 0.
std::uint64_t key_of(const cuscope_simt::KernelEntry& kernel, const simt::ArgumentBytes& arguments) {
    const std::string_view bytes(reinterpret_cast<const char*>(arguments.data()), arguments.size());
    const auto hash = std::hash<std::string_view>();
    return (hash(bytes) * 31 + hash(kernel.name)) | 1;
}

}  // namespace

void watch_run(const Machine& machine, int device, const KernelEffect& effect, bool now, Command* made) {
    if (!effect.launch.check) return;
    const auto copy = std::static_pointer_cast<KernelEffect>(effect.copy());
    copy->launch.out_of_access = out_of_access(machine, machine.devices[device]);
    copy->launch.token = 0;
    copy->is_brief = effect.is_brief;
    copy->tells_time = effect.tells_time;
    copy->name = effect.name;
    if (!now) {
        copy->launch.token = order::new_token();
        order::made_launches().push_back({effect.launch.check->key, copy->launch.token});
    }
    made->effect = copy;
}

Status prepare_check(Machine& machine, const Kernel& kernel, bool left_out, simt::Launch& launch) {
    const Found<Kernel> checked =
        left_out || kernel.checked == nullptr ? nullptr : machine.libraries.find_kernel(kernel.checked);
    if (checked == nullptr || checked->lowered != kernel.lowered) {
        count_as_written(machine.memory, launch);
        return Status::success;
    }
    std::shared_ptr<simt::Image> image;
    TRY(machine.libraries.instance(*checked->library, thread().device, &image));
    if ((image->table().flags & cuscope_simt::checks_accesses) == 0)
        return fail(Status::invalid_value, "the image does not check what this kernel does");
    auto check = std::make_shared<simt::LaunchCheck>();
    add_memory(machine, *check);
    check->set_freed(freed_memory());
    launch.plain = launch.image;
    launch.image = image;
    launch.kernel = image->kernel(kernel.lowered);
    for (const auto& global : image->globals())
        if (!global.constant) check->name(global.address, global.bytes, global.name);
    check->point_parameters(*launch.kernel, launch.arguments);
    check->key = key_of(*launch.kernel, launch.arguments);
    launch.out_of_access = out_of_access(machine, machine.devices.current());
    launch.token = order::new_token();
    order::made_launches().push_back({check->key, launch.token});
    launch.check = std::move(check);
    return Status::success;
}

}  // namespace cuscope::host
