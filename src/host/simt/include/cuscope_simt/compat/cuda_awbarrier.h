#error "cuscope's host runtime does not support <cuda_awbarrier.h> yet"
