// Tensor maps, which only the driver makes.
#include "cuda/cuda_runtime.hpp"
#include "cuda/driver/context.hpp"
#include "cuda/driver/function.hpp"

namespace cuscope::cuda {
namespace {

using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                            const cuuint64_t*, const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                            CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
DriverFunction<Encode> encode_tiled("cuTensorMapEncodeTiled", 12000);

static_assert(sizeof(TensorMapBytes) == sizeof(CUtensorMap) && alignof(TensorMapBytes) >= 64);
static_assert(sizeof(std::uint64_t) == sizeof(cuuint64_t) && sizeof(std::uint32_t) == sizeof(cuuint32_t));
static_assert(static_cast<int>(TensorMapType::float64) == CU_TENSOR_MAP_DATA_TYPE_FLOAT64 &&
              static_cast<int>(TensorMapType::tfloat32_ftz) == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ);
static_assert(static_cast<int>(TensorMapSwizzle::bytes_128) == CU_TENSOR_MAP_SWIZZLE_128B);
static_assert(static_cast<int>(TensorMapL2Promotion::bytes_256) == CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
static_assert(static_cast<int>(TensorMapFill::nan) == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);

}  // namespace

Status CudaRuntime::tensor_map_encode_tiled(TensorMapBytes* map, const TensorMapDescription* description) {
    return make([&] {
        if (map == nullptr || description == nullptr) return cudaErrorInvalidValue;
        const TensorMapDescription& given = *description;
        const Encode encode = encode_tiled.get();
        if (encode == nullptr) return cudaErrorCallRequiresNewerDriver;
        CUcontext context = nullptr;
        if (const cudaError_t status = current_context(&context); status != cudaSuccess) return status;
        // The strides begin with that of axis 1. CUresult and cudaError_t have the same numbers for all
        // results of this function.
        return static_cast<cudaError_t>(
            encode(reinterpret_cast<CUtensorMap*>(map), static_cast<CUtensorMapDataType>(given.type),
                   given.rank, given.address, given.extents.data(), given.strides.data() + 1,
                   given.box.data(), given.element_strides.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
                   static_cast<CUtensorMapSwizzle>(given.swizzle),
                   static_cast<CUtensorMapL2promotion>(given.l2_promotion),
                   static_cast<CUtensorMapFloatOOBfill>(given.fill)));
    });
}

}  // namespace cuscope::cuda
