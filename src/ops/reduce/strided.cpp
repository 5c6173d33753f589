#include "ops/reduce/strided.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "cuda_kernels/reduce_auto/plan.hpp"

namespace cuscope::ops {

std::optional<Strided> strided_view(const Array& in, std::uint64_t axes, bool ordered) {
    Strided view;
    for (const bool among : {false, true}) {
        std::vector<std::size_t> order;
        for (std::size_t i = 0; i < in.dimensions(); ++i)
            if (((axes >> i & 1) != 0) == among && in.shape[i] != 1) order.push_back(i);
        // Neighbouring threads read neighbouring elements if the smallest stride is the last.
        if (among && !ordered)
            std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
                return std::abs(in.strides[a]) > std::abs(in.strides[b]);
            });
        std::int64_t extents[2] = {1, 1}, strides[2] = {0, 0};  // from the last dimension on
        int used = -1;
        for (auto i = order.rbegin(); i != order.rend(); ++i) {
            if (used >= 0 && in.strides[*i] == strides[used] * extents[used]) {
                extents[used] *= in.shape[*i];
                continue;
            }
            if (++used == 2) return std::nullopt;
            extents[used] = in.shape[*i];
            strides[used] = in.strides[*i];
        }
        for (int i = 0; i < 2; ++i) {
            view.extent[among][i] = extents[1 - i];
            view.stride[among][i] = strides[1 - i];
        }
    }
    // A copy is better if the results' own elements are the neighbours.
    for (int i = 0; i < 2; ++i)
        if (view.extent[0][i] > 1 && std::abs(view.stride[0][i]) < std::abs(view.stride[1][1]))
            return std::nullopt;
    if (!cuscope::reduce::is_strided(view.results(), view.extent[1][0], view.extent[1][1]))
        return std::nullopt;
    return view;
}

}  // namespace cuscope::ops
