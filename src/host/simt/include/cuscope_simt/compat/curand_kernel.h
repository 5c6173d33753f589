#error "cuscope's host runtime does not support <curand_kernel.h> yet"
