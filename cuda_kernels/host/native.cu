// For simulated devices alone: a block that calls a function of the extension, which answers as the processor
// does it best. The call and its operands are the argument.
#include "native_call.hpp"

__global__ void native(cuscope::kernels::NativeCall call) {
    call.function(call.operands, blockIdx.x, gridDim.x);
}
