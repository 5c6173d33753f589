// error 3 a __global__ function cannot take any number of arguments (...)
template <class... T> __global__ void pack(T...) {}
__global__ void any(int n, ...) {}
