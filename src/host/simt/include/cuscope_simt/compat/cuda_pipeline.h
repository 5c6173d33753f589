#error "cuscope's host runtime does not support <cuda_pipeline.h> yet"
