#error "cuscope's host runtime does not support <cuda_fp4.h> yet"
