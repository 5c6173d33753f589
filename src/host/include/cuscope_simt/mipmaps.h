// Chooses the levels of a mipmapped array that a fetch reads.
#pragma once
#pragma GCC system_header

#include <math.h>

#include "cuscope_simt/texture_object.h"

namespace cuscope_simt {

// The level that a kernel asks for, by number or by slopes. Not `asked`: the function has no level.
struct Lod {
    Lod() = default;
    Lod(float number) : asked(true), level(number) {}
    bool asked = false;
    float level = 0;
};

// `weight` is the weight of the next level.
struct LevelChoice {
    unsigned first;
    double weight;
};

// A GPU keeps eight bits of fraction of the bias, and cuts the others off: -1/512 is no bias.
inline float level_with_bias(const Texture& t, float level) {
    return static_cast<float>(level + trunc(static_cast<double>(t.level_bias) * 256) / 256);
}

// Functions without a level read level 0: the bias is not added there, but the clamps hold.
inline LevelChoice choose_level(const Texture& t, Lod lod) {
    float level = lod.asked ? level_with_bias(t, lod.level) : 0;
    const auto last = static_cast<float>(t.level_count - 1);
    if (!(level >= t.min_level)) level = t.min_level;  // true for NaN as well
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

// CUDA does not document how a GPU turns slopes into a level. The formula of the next functions was fitted to
// the answers of an H200 to 722 pairs of slopes along one, two and three axes. It gives 694 of these answers,
// and 300 of the 320 to random slopes. The other answers differ by one or two 256ths of a level. It also
// gives the answers of an H100 in tests/textures/test_slopes.py.
constexpr double middle_share = 11.0 / 32;
constexpr double shortest_share = 1.0 / 4;
constexpr double diagonal_share = 11.0 / 16;  // nearly the cosine of 45 degrees
constexpr double table_offset = 15.0 / 32;

// Ten significant bits of the number. The others are cut off.
inline double cut_bits(double number) {
    if (number == 0 || !isfinite(number)) return number;
    int exponent;
    const double fraction = frexp(number, &exponent);
    return ldexp(trunc(fraction * 1024), exponent - 10);
}

// The longest component, and a share of each of the others.
inline double approximate_length(const double (&v)[3]) {
    const double x = fabs(v[0]), y = fabs(v[1]), z = fabs(v[2]);
    const double longest = fmax(x, fmax(y, z)), shortest = fmin(x, fmin(y, z));
    // Infinity minus infinity is not a number.
    if (isinf(longest)) return longest;
    const double middle = x + y + z - longest - shortest;
    return longest + middle_share * middle + shortest_share * shortest;
}

// The base-2 logarithm of a number's nine significant bits, like a table of 8-bit fractions. An entry is the
// logarithm near the middle of its range, but the entry for a power of two is exact.
inline double approximate_log2(double number) {
    if (!(number > 0) || isinf(number)) return log2(number);
    int exponent;
    const double entry = floor(frexp(number, &exponent) * 512) - 256;
    const double fraction = entry == 0 ? 0 : floor(256 * log2(1 + (entry + table_offset) / 256) + 0.5);
    return exponent - 1 + fmin(fraction, 255) / 256;
}

// The level in which an element is as large as a pixel. A pixel covers an ellipse of the texture: it is as
// large as the longest of the slopes and of the two points of the ellipse half way between them.
inline float level_of_slopes(const Texture& t, int axes, const Slopes& slopes) {
    const unsigned long long extents[3] = {t.width, t.height, t.depth};
    double x[3] = {}, y[3] = {}, sum[3] = {}, difference[3] = {};
    for (int i = 0; i < axes; ++i) {
        const double extent = t.normalized_coordinates ? static_cast<double>(extents[i]) : 1;
        x[i] = cut_bits(slopes.dx[i] * extent);
        y[i] = cut_bits(slopes.dy[i] * extent);
        sum[i] = cut_bits(x[i] + y[i]);
        difference[i] = cut_bits(x[i] - y[i]);
    }
    const double along = fmax(approximate_length(x), approximate_length(y));
    const double between = fmax(approximate_length(sum), approximate_length(difference));
    return static_cast<float>(approximate_log2(fmax(along, diagonal_share * between)));
}

}  // namespace cuscope_simt
