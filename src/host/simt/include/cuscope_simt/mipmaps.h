// Which levels of a mipmapped array a fetch reads.
#pragma once
#pragma GCC system_header

#include <math.h>

#include "cuscope_simt/texture_object.h"

namespace cuscope_simt {

// The level that a kernel asks for by number or by slopes. None: the function has no level.
struct Lod {
    Lod() = default;
    Lod(float number) : asked(true), level(number) {}
    bool asked = false;
    float level = 0;
};

// The weight is that of the next level.
struct LevelChoice {
    unsigned first;
    double weight;
};

// Functions without a level read level 0: the bias is not added there, but the clamps hold.
inline LevelChoice choose_level(const Texture& t, Lod lod) {
    float level = lod.asked ? lod.level + t.level_bias : 0;
    const auto last = static_cast<float>(t.level_count - 1);
    if (!(level >= t.min_level)) level = t.min_level;  // nor is it a number, perhaps
    if (level > t.max_level) level = t.max_level;
    level = level > last ? last : level > 0 ? level : 0;
    // A GPU cuts the level off after eight bits of fraction.
    const double fixed = floor(static_cast<double>(level) * 256) / 256;
    if (!t.linear_levels) return {static_cast<unsigned>(floor(fixed + 0.5)), 0};
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
