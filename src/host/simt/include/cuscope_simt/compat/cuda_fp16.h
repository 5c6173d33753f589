#error "cuscope's host runtime does not support <cuda_fp16.h> yet"
