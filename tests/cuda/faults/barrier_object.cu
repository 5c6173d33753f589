// launch 1 32
// host only: a GPU waits for ever
// status cudaErrorLaunchFailure
// detail barrier::wait
#include <cuda/barrier>
__global__ void fault(int* p) {
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    if (threadIdx.x == 0) init(&bar, 33);
    __syncthreads();
    auto token = bar.arrive();
    bar.wait(static_cast<decltype(token)&&>(token));
    p[threadIdx.x] = 1;
}
