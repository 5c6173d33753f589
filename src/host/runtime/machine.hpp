// The simulated machine: a host with its devices, and the objects that handles name. Timeline decides when
// each command starts and ends in simulated time. Effects does the commands' work in real time.
//
// One lock guards everything. It is never held while an effect runs or while the interrupt check is called.
// Private to src/host.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "host/effects/effects.hpp"
#include "host/effects/running.hpp"
#include "host/effects/semaphore.hpp"
#include "host/graph/captures.hpp"
#include "host/graph/graphs.hpp"
#include "host/memory/allocations.hpp"
#include "host/memory/managed.hpp"
#include "host/memory/page_locked_chunks.hpp"
#include "host/objects/array.hpp"
#include "host/objects/device.hpp"
#include "host/objects/event.hpp"
#include "host/objects/library.hpp"
#include "host/objects/stream.hpp"
#include "host/objects/texture.hpp"
#include "host/runtime/lock.hpp"
#include "host/runtime/objects.hpp"
#include "host/runtime/thread_state.hpp"
#include "host/runtime/waits.hpp"
#include "host/sim/timeline.hpp"
#include "runtime/activity.hpp"
#include "runtime/try.hpp"

namespace cuscope::host {

struct Machine {
    Machine();
    ~Machine();
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;

    Device& add_device(const DeviceModel& model);
    // Takes back all that the device has, for a device that is idle.
    void reset(Device& device);
    Found<Stream> find_stream(StreamHandle handle) { return streams.find(handle, devices.current()); }

    // Makes a command, to be filled and then committed.
    Command* begin(Stream& stream, Engine engine, Role role = Role::effect);
    void commit(Command* command, Command* after = nullptr);
    // A reference to a command in place of the caller's own one.
    CommandRef adopt(Command* command);

    // The stream's work has ended when all the returned commands have ended. The references are owned: while
    // a caller waits for the first command, another thread may destroy any of these streams.
    std::vector<CommandRef> last_of_stream(const Stream& stream) const;
    std::vector<CommandRef> last_of_device(int device, bool without_captured = false) const;
    bool is_idle(int device);
    Status wait_for_stream(Lock& lock, const Stream& stream);
    // Also releases destroyed streams and unloaded libraries that no work uses any more. `without_captured`:
    // streams that are being captured are left out.
    Status wait_for_device(Lock& lock, int device, bool without_captured = false);
    // For calls that give memory back, in place of wait_for_device(). Waits for one device; -1: for all
    // devices.
    Status wait_to_free(Lock& lock, int device);

    // If there is no room, waits for the device and reclaims memory from its pools.
    Status allocate(Lock& lock, int device, std::size_t bytes, std::byte** base);
    // Gives memory back to the host or the device that it came from.
    void release(const Allocation& allocation);

    // Records of commands for traces: see recording.cpp. A null recorder ends them.
    void set_recorder(ActivityRecorder* new_recorder);
    void record(const Command& command);
    StreamRecord describe(const Stream& stream) const;

    std::mutex mutex;
    std::condition_variable changed;  // an effect is done
    Timeline timeline;
    Running running{devices, timeline};
    Effects effects;
    Waits waits{*this};
    MemoryRegistry memory;
    PageLockedChunks page_locked;
    std::map<const void*, ManagedRanges> managed;  // by address
    Devices devices;
    Streams streams{timeline};
    Objects<Event, EventHandle> events;
    Libraries libraries{*this};
    Handles<Pool, MemPoolHandle> pools;
    Objects<Array, ArrayHandle> arrays;  // and levels of mipmapped arrays
    Objects<MipmappedArray, MipmappedArrayHandle> mipmapped_arrays;
    Objects<TextureObject, TextureHandle> textures;  // and surfaces
    std::map<const void*, std::shared_ptr<ExternalSemaphore>> semaphores;
    Graphs graphs{*this};
    Captures captures{*this};
    bool launch_blocking = false;

  private:
    ActivityRecorder* recorder_ = nullptr;    // null: no trace runs
    unsigned long long recorded_stream_ = 0;  // the stream of the last record
};

}  // namespace cuscope::host
