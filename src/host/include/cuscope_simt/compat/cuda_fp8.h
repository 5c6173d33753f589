#error "cuscope's host runtime does not support <cuda_fp8.h> yet"
