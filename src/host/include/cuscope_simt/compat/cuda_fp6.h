#error "cuscope's host runtime does not support <cuda_fp6.h> yet"
