// Reductions on a simulated device, computed in the fastest way for the CPU.
#pragma once

#include "core/module/module.hpp"
#include "ops/launch.hpp"
#include "ops/reduce/plan.hpp"

namespace cuscope::ops {

// A launch that reduces in[outer][length][inner] to out[outer][inner], both in C order: all but the
// addresses.
struct NativeReduction {
    struct Operands {
        const void *in, *other;
        void *out, *partials, *ticket;
        Extents extents;
        std::int64_t pieces, tiles;  // pieces along the row's length and along its width
    };

    std::shared_ptr<core::Kernel> kernel;
    std::uint32_t name;  // of the operation, for traces
    void (*function)(const Operands&, unsigned block, unsigned blocks);
    Operands operands;
    std::size_t partial_bytes;  // 0: each element of the result is computed by one piece
    Launch launch;

    // `other` is the second factor of a dot product, else null. Enqueued in the stream.
    void run(const Place& in, const Place* other, const Place& out, const core::StreamPtr& stream) const;
};

// The result has the type of result_type(). `length` must be at least 1.
NativeReduction plan_natively(core::Device& device, Operation operation, Type type, const Extents& extents,
                              std::int64_t duration_ns);

}  // namespace cuscope::ops
