// Makes nodes of captured work: each takes over the command that the work would have been in a stream that is
// not captured. Private to src/host.
#pragma once

#include "host/effects/box.hpp"
#include "host/sim/command.hpp"
#include "runtime/status.hpp"
#include "runtime/types.hpp"

namespace cuscope::host {

struct LaunchRequest;
struct Machine;
struct Stream;

Status capture_kernel(Machine& machine, Stream& stream, const LaunchConfig& config, KernelHandle kernel,
                      const LaunchRequest& request, Command* command);
// Without parameters of the call (null), the parameters are derived from the boxes.
Status capture_copy(Machine& machine, Stream& stream, const Box& destination, const Box& source,
                    const Extent& extent, MemcpyKind kind, const Memcpy3DParameters* parameters,
                    Command* command);
Status capture_set(Machine& machine, Stream& stream, const Box& box, std::uint32_t value, std::size_t element,
                   const Extent& extent, Command* command);
Status capture_host(Machine& machine, Stream& stream, HostFunction function, void* data, Command* command);
Status capture_semaphores(Machine& machine, Stream& stream, const ExternalSemaphoreNodeParameters& parameters,
                          bool wait, Command* command);
Status capture_batch(Machine& machine, Stream& stream, const BatchMemOpNodeParameters& parameters,
                     Command* command);
Status capture_alloc(Machine& machine, Stream& stream, void** pointer, std::size_t bytes, int device);
Status capture_free(Machine& machine, Stream& stream, void* pointer);
void capture_external_wait(Machine& machine, Stream& stream, EventHandle event);
void capture_external_record(Machine& machine, Stream& stream, EventHandle event);

}  // namespace cuscope::host
