// The types of tensor maps: descriptions of tiles of an array, which a GPU's Tensor Memory Accelerator (TMA)
// copies. Axis 0 is the innermost one here, as in CUDA's functions and in PTX.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace cuscope {

inline constexpr std::size_t most_tensor_axes = 5;

// The enumerators have the numbers of CUtensorMapDataType; the other enumerations follow CUDA's in the same
// way.
enum class TensorMapType : int {
    uint8 = 0,
    uint16 = 1,
    uint32 = 2,
    int32 = 3,
    uint64 = 4,
    int64 = 5,
    float16 = 6,
    float32 = 7,
    float64 = 8,
    bfloat16 = 9,
    float32_ftz = 10,
    tfloat32 = 11,
    tfloat32_ftz = 12,
};
enum class TensorMapSwizzle : int { none = 0, bytes_32 = 1, bytes_64 = 2, bytes_128 = 3 };
enum class TensorMapL2Promotion : int { none = 0, bytes_64 = 1, bytes_128 = 2, bytes_256 = 3 };
enum class TensorMapFill : int { zeros = 0, nan = 1 };  // nan: NAN_REQUEST_ZERO_FMA

// The arguments of cuTensorMapEncodeTiled, without interleaving.
struct TensorMapDescription {
    TensorMapType type = TensorMapType::uint8;
    unsigned rank = 0;
    void* address = nullptr;
    std::array<std::uint64_t, most_tensor_axes> extents{};  // elements
    std::array<std::uint64_t, most_tensor_axes> strides{};  // bytes; that of axis 0 is not used
    std::array<std::uint32_t, most_tensor_axes> box{};      // elements
    std::array<std::uint32_t, most_tensor_axes> element_strides{1, 1, 1, 1, 1};
    TensorMapSwizzle swizzle = TensorMapSwizzle::none;
    TensorMapL2Promotion l2_promotion = TensorMapL2Promotion::none;
    TensorMapFill fill = TensorMapFill::zeros;
};

// A CUtensorMap: opaque, and passed to kernels by value.
struct alignas(64) TensorMapBytes {
    std::uint64_t words[16];
};

std::size_t bytes_of(TensorMapType type);  // 0 for a number that is no type

// The rule of cuTensorMapEncodeTiled that the description breaks; empty if it breaks none. Axes are named by
// their number in C order, as NumPy counts them.
std::string tensor_map_problem(const TensorMapDescription& description);

}  // namespace cuscope
