#error "cuscope's host runtime does not support <cuda_bf16.h> yet"
