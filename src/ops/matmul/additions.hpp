// The additions after a product whose k is split among blocks (cuda_kernels/matmul/add_parts.cu).
#pragma once

#include <memory>
#include <span>

#include "cuda_kernels/matmul/plan.hpp"
#include "ops/array.hpp"
#include "ops/launch.hpp"

namespace cuscope::ops {

// The parts lie one behind the other: each has the rows and columns of C, without gaps.
class Additions {
  public:
    // For a C of this type with m rows, which are `c_row` elements apart.
    static Additions of(core::Device& device, const matmul::Choice& choice, Type c, std::int64_t m,
                        std::int64_t n, std::int64_t c_row);

    std::int64_t elements() const { return m_ * n_; }  // of a part
    std::size_t element_bytes() const { return size_of(type_); }
    Array room_for_parts(const core::StreamPtr& stream) const {
        return allocate(stream, type_, {parts_, m_, n_});
    }
    void run(const Place& from, const Place& c, const core::StreamPtr& stream) const;

  private:
    std::shared_ptr<core::Kernel> kernel_;
    Launch launch_;
    Type type_{};  // of the parts
    int parts_ = 0, groups_ = 1;
    std::int64_t m_ = 0, n_ = 0, c_row_ = 0;
};

}  // namespace cuscope::ops
