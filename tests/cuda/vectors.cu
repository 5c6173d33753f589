// Sizes, alignments and make_ functions of the vector types, and their access by reinterpretation.
// launch sizes 1 1
// launch values 1 32
#define CHECK(condition)                    \
    do {                                    \
        if (!(condition)) {                 \
            atomicAdd(&failures[0], 1u);    \
            failures[1] = __LINE__;         \
        }                                   \
    } while (0)

#define LAYOUT(type, size, alignment) CHECK(sizeof(type) == size && alignof(type) == alignment)

__global__ void sizes(unsigned* failures) {
    LAYOUT(char1, 1, 1); LAYOUT(char2, 2, 2); LAYOUT(char3, 3, 1); LAYOUT(char4, 4, 4);
    LAYOUT(uchar1, 1, 1); LAYOUT(uchar2, 2, 2); LAYOUT(uchar3, 3, 1); LAYOUT(uchar4, 4, 4);
    LAYOUT(short1, 2, 2); LAYOUT(short2, 4, 4); LAYOUT(short3, 6, 2); LAYOUT(short4, 8, 8);
    LAYOUT(ushort1, 2, 2); LAYOUT(ushort2, 4, 4); LAYOUT(ushort3, 6, 2); LAYOUT(ushort4, 8, 8);
    LAYOUT(int1, 4, 4); LAYOUT(int2, 8, 8); LAYOUT(int3, 12, 4); LAYOUT(int4, 16, 16);
    LAYOUT(uint1, 4, 4); LAYOUT(uint2, 8, 8); LAYOUT(uint3, 12, 4); LAYOUT(uint4, 16, 16);
    LAYOUT(longlong1, 8, 8); LAYOUT(longlong2, 16, 16); LAYOUT(longlong3, 24, 8);
    LAYOUT(ulonglong1, 8, 8); LAYOUT(ulonglong2, 16, 16); LAYOUT(ulonglong3, 24, 8);
    LAYOUT(float1, 4, 4); LAYOUT(float2, 8, 8); LAYOUT(float3, 12, 4); LAYOUT(float4, 16, 16);
    LAYOUT(double1, 8, 8); LAYOUT(double2, 16, 16); LAYOUT(double3, 24, 8);
    LAYOUT(dim3, 12, 4);
    CHECK(sizeof(double4) == 32 && sizeof(longlong4) == 32 && sizeof(ulonglong4) == 32);
    CHECK(sizeof(long2) == 2 * sizeof(long) && sizeof(ulong4) == 4 * sizeof(long));
}

__device__ __align__(16) float storage[128];
struct __align__(8) Pair {
    float a, b;
};

__device__ float4 operator+(float4 a, float4 b) {
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

__global__ void values(unsigned* failures) {
    int i = threadIdx.x;
    reinterpret_cast<float4*>(storage)[i] = make_float4(i, i + 1, i + 2, i + 3);
    CHECK(storage[4 * i + 3] == i + 3);
    float4 v = reinterpret_cast<float4*>(storage)[i] + make_float4(1, 1, 1, 1);
    CHECK(v.x == i + 1 && v.w == i + 4);
    float2 half = reinterpret_cast<float2*>(storage)[2 * i + 1];
    CHECK(half.x == i + 2 && half.y == i + 3);
    int4 q = make_int4(1, 2, 3, 4);
    uchar4 c = make_uchar4(255, 1, 2, 3);
    double3 d = make_double3(1, 2, 3);
    CHECK(q.x + q.y + q.z + q.w == 10 && c.x == 255 && d.z == 3.0);
    int3 list = {5, 6, 7};
    CHECK(list.y == 6);
    CHECK(alignof(Pair) == 8);
}
