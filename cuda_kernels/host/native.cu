// Only for simulated devices: each block calls a function of the extension, which computes the result with
// ordinary CPU code. The function and its operands are the kernel's argument.
#include "native_call.hpp"

__global__ void native(cuscope::kernels::NativeCall call) {
    call.function(call.operands, blockIdx.x, gridDim.x);
}
