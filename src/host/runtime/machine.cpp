#include "host/runtime/machine.hpp"

#include <algorithm>
#include <cstdlib>

#include "runtime/process.hpp"

namespace cuscope::host {

Machine::Machine()
    : timeline([this](Command* command) { effects.add(command); },
               [this](Command* command) {
                   note_progress();
                   if (recorder_ != nullptr) record(*command);
                   effects.ended(command);
               },
               {[this] { return effects.undone(); },
                [this](Command* command) {
                    if (running.gives_up(command)) return Effect::Progress::all;
                    return effects.ready(command) ? command->effect->look() : Effect::Progress::none;
                }}),
      effects(mutex, changed, timeline.pool(), running) {
    const char* blocking = std::getenv("CUDA_LAUNCH_BLOCKING");
    launch_blocking = blocking != nullptr && std::atoi(blocking) != 0;
    add_device(*find_device_model("h200"));
}

Machine::~Machine() = default;

Device& Machine::add_device(const DeviceModel& model) {
    timeline.add_device(model);
    Device& device = devices.add(model);
    streams.add_legacy(device);
    Pool& pool = device.add_pool();
    pool.is_default = true;
    pools.add(pool);
    device.pool = &pool;
    return device;
}

Command* Machine::begin(Stream& stream, Engine engine, Role role) {
    Command* command = timeline.make(stream);
    command->engine = engine;
    command->role = role;
    return command;
}

void Machine::commit(Command* command, Command* after) {
    // Without copy engines nothing overlaps: the device works in the order of issue, as with one stream.
    if (devices[command->device].model->copy_engines == 0) {
        std::vector<Command*> before;
        for (const SimStream* stream : timeline.streams(command->device)) {
            if (Command* const last = stream->last.get();
                last != nullptr && last != command->stream->last.get())
                before.push_back(last);
        }
        if (after != nullptr) before.push_back(after);
        timeline.enqueue(command, before);
    } else {
        timeline.enqueue(command, {&after, std::size_t{after != nullptr}});
    }
    waits.start_background();
}

CommandRef Machine::adopt(Command* command) {
    CommandRef kept(timeline.pool(), command);
    timeline.pool().release(command);
    return kept;
}

// ---- waits for all work of a stream or a device

std::vector<CommandRef> Machine::last_of_stream(const Stream& stream) const {
    if (!stream.legacy) return {stream.last};
    // For the legacy stream: the commands that a command issued to it now would wait for.
    std::vector<CommandRef> last;
    for (const SimStream* other : timeline.streams(stream.device)) {
        if (other->blocking && other->last) last.push_back(other->last);
    }
    return last;
}

std::vector<CommandRef> Machine::last_of_device(int device, bool without_captured) const {
    std::vector<CommandRef> last;
    for (const SimStream* stream : timeline.streams(device)) {
        if (without_captured && static_cast<const Stream*>(stream)->captured()) continue;
        if (stream->last) last.push_back(stream->last);
    }
    return last;
}

bool Machine::is_idle(int device) {
    const std::vector<CommandRef> last = last_of_device(device);
    return std::all_of(last.begin(), last.end(),
                       [&](const CommandRef& command) { return effects.functional(command.get()); });
}

Status Machine::wait_for_stream(Lock& lock, const Stream& stream) {
    for (const CommandRef& last : last_of_stream(stream)) TRY(waits.wait_for(lock, last.get()));
    return Status::success;
}

Status Machine::wait_for_device(Lock& lock, int device, bool without_captured) {
    for (const CommandRef& last : last_of_device(device, without_captured)) {
        if (NoWait::active()) {
            if (!waits.is_done(lock, last.get())) return Status::not_ready;
        } else {
            TRY(waits.wait_for(lock, last.get()));
        }
    }
    devices[device].sweep(timeline);
    libraries.release_unloaded();
    return Status::success;
}

Status Machine::wait_to_free(Lock& lock, int device) {
    const int first = device < 0 ? 0 : device, end = device < 0 ? devices.count() : device + 1;
    for (int i = first; i < end; ++i) TRY(wait_for_device(lock, i));
    return Status::success;
}

// ---- memory

Status Machine::allocate(Lock& lock, int index, std::size_t bytes, std::byte** base) {
    Device& device = devices[index];
    *base = device.allocate(bytes);
    if (*base != nullptr) return Status::success;
    const bool pooled = std::any_of(device.pools.begin(), device.pools.end(),
                                    [](const auto& pool) { return !pool->free.empty(); });
    if (pooled) {
        TRY(wait_for_device(lock, index));
        for (auto& pool : device.pools) device.trim(*pool, 0);
        *base = device.allocate(bytes);
    }
    return *base != nullptr ? Status::success : devices.current().out_of_memory(bytes);
}

void Machine::release(const Allocation& allocation) {
    std::byte* const base = allocation.base;
    const std::size_t bytes = bytes_held(allocation);
    if (allocation.type == MemoryType::device) {
        devices[allocation.device].release(base, bytes);
        return;
    }
    if (allocation.type == MemoryType::managed) {
        managed.erase(base);
    } else {
        page_locked.remove(base);
    }
    release_host(base, bytes);
}

void Machine::reset(Device& device) {
    const int index = device.ordinal;
    graphs.forget_device(index);
    std::erase_if(semaphores, [&](const auto& entry) { return entry.second->device == index; });
    streams.reset(device);
    events.for_each([&](Event& event) { event.reset |= event.device == index; });
    for (auto& pool : device.pools) {
        device.trim(*pool, 0);
        if (!pool->is_default) pools.remove(*pool);
        pool->reset();
    }
    std::erase_if(device.pools, [](const auto& pool) { return pool->destroyed && pool->waiting == 0; });
    device.pool = device.pools.front().get();
    arrays.remove_if([&](const Array& array) { return array.device == index; });
    mipmapped_arrays.remove_if([&](const MipmappedArray& array) { return array.device == index; });
    textures.remove_if([&](const TextureObject& texture) { return texture.device == index; });
    device.reset_limits();
    libraries.forget_device(index);
    std::vector<Allocation> gone;
    memory.for_each([&](const Allocation& allocation) {
        if (allocation.device == index) gone.push_back(allocation);
    });
    for (const Allocation& allocation : gone) {
        memory.remove(allocation.base);
        if (!allocation.registered) release(allocation);
    }
}

}  // namespace cuscope::host
