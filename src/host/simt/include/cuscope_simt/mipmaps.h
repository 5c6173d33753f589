// Which levels of a mipmapped array a fetch reads.
#pragma once
#pragma GCC system_header

#include <math.h>

#include "cuscope_simt/texture_object.h"

namespace cuscope_simt {

// The weight is that of the next level.
struct LevelChoice {
    unsigned first;
    double weight;
};

inline LevelChoice choose_level(const Texture& t, float lod) {
    float level = lod + t.level_bias;
    const auto last = static_cast<float>(t.level_count - 1);
    if (!(level >= t.min_level)) level = t.min_level;  // nor is it a number, perhaps
    if (level > t.max_level) level = t.max_level;
    level = level > last ? last : level > 0 ? level : 0;
    if (!t.linear_levels) return {static_cast<unsigned>(floorf(level + 0.5F)), 0};
    // Eight bits of fraction, as the filter has them.
    const double fixed = floor(static_cast<double>(level) * 256 + 0.5) / 256;
    const double first = floor(fixed);
    return {static_cast<unsigned>(first), fixed - first};
}

inline Texture texture_level(const Texture& t, unsigned index) {
    const Level& level = t.levels[index];
    Texture one = t;
    one.data = level.data;
    one.pitch = level.pitch;
    one.slice = level.slice;
    one.width = level.width;
    one.height = level.height;
    one.depth = level.depth;
    return one;
}

// How coordinates change from a pixel to the next one, along the two axes of a picture.
struct Slopes {
    float dx[3], dy[3];
};

// The level in which an element is as large as a pixel.
inline float level_of_slopes(const Texture& t, int axes, const Slopes& slopes) {
    const unsigned long long extents[3] = {t.width, t.height, t.depth};
    double squared_x = 0, squared_y = 0;
    for (int i = 0; i < axes; ++i) {
        const double extent = t.normalized_coordinates ? static_cast<double>(extents[i]) : 1;
        squared_x += slopes.dx[i] * extent * (slopes.dx[i] * extent);
        squared_y += slopes.dy[i] * extent * (slopes.dy[i] * extent);
    }
    return static_cast<float>(log2(fmax(squared_x, squared_y)) / 2);
}

}  // namespace cuscope_simt
