// A texture or surface object of the simulated device: the runtime makes it, kernels read through it. Both
// include this file, so it needs no library. A handle is the object's address.
#pragma once

namespace cuscope_simt {

// One level of a mipmapped array.
struct Level {
    char* data;
    unsigned long long pitch, slice;          // bytes
    unsigned long long width, height, depth;  // elements; at least 1
};

struct Texture {
    enum Kind : int { signed_integer = 0, unsigned_integer = 1, floating = 2 };
    enum AddressMode : int { wrap = 0, clamp = 1, mirror = 2, border = 3 };

    char* data;
    unsigned long long pitch, slice;          // bytes
    unsigned long long width, height, depth;  // elements; at least 1
    int channels, bits;                       // of each channel
    Kind kind;
    int device;
    bool surface;
    AddressMode address_mode[3];
    bool linear_filter;
    bool normalized_float;  // integers are read as numbers from 0 or -1 to 1
    bool normalized_coordinates;
    bool srgb;
    float border_color[4];  // raw bits, if integers are read
    // The levels of a mipmapped array; null: the only level is described above.
    const Level* levels;
    unsigned level_count;
    bool linear_levels;  // filters between levels
    float level_bias, min_level, max_level;
};

}  // namespace cuscope_simt
