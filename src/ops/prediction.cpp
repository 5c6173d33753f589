#include "ops/prediction.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace cuscope::ops {
namespace {

struct OfMatmul {
    std::string_view kernel;
    double fill;         // the speed of an almost empty multiprocessor, relative to a full one
    double picoseconds;  // for a tile and one step along the inner extent, on a full multiprocessor
};

struct OfReduction {
    std::string_view variant;
    double microseconds;  // for the launch
    double picoseconds;   // for an element of four bytes
};

#include "ops/calibration.inc"

constexpr double measured_clock = 1980e3, measured_multiprocessors = 132,
                 measured_bandwidth = 2.0 * 3201e3 * 6016 / 8;

// The measured kernel that stands for one that was not measured, and how long that one takes in comparison:
// the float version of the kernel, in proportion to the element's size; for float8 with TMA, the kernel of
// rung 11 that multiplies bfloat16 in tiles of the same size.
std::pair<std::string, double> similar_to(const matmul::Instance& instance) {
    const std::string& kernel = instance.kernel;
    const int size = matmul::element(instance.in)->size;
    if (instance.boxes && size == 1) {
        const std::string shape = kernel.substr(kernel.find(", " + std::to_string(instance.tile_n) + ", "));
        return {"tma<__nv_bfloat16, __nv_bfloat16" + shape, 0.5};
    }
    return {kernel.substr(0, kernel.find('<')) + "<float>", std::max(1.0, size / 4.0)};
}

const OfMatmul* measured(const matmul::Instance& instance, double* longer) {
    *longer = 1;
    for (const OfMatmul& known : of_matmul)
        if (known.kernel == instance.kernel) return &known;
    const auto [similar, ratio] = similar_to(instance);
    for (const OfMatmul& known : of_matmul) {
        if (known.kernel != similar) continue;
        *longer = ratio;
        return &known;
    }
    return nullptr;
}

// Bytes in a second.
double bandwidth_of(const DeviceProperties& properties) {
    return std::max(1.0, 2e3 * properties.memory_clock_rate * properties.memory_bus_width / 8);
}

// Of a kernel for C with few rows, without its launch: the slabs of a tile follow each other, or B comes from
// memory at its full rate.
double seconds_of_slabs(const DeviceProperties& properties, const matmul::Instance& instance,
                        const matmul::Shape& shape, double blocks) {
    constexpr double share = 0.84;  // of the bandwidth, measured on an H200
    const double bytes_of_k = static_cast<double>(shape.k) * matmul::element(instance.in)->size;
    const double bytes =
        static_cast<double>(shape.m + shape.n) * bytes_of_k * static_cast<double>(shape.batch);
    const double at_once = std::max(1, properties.multiprocessor_count) * instance.resident;
    const double slabs = std::ceil(blocks / at_once) * std::ceil(bytes_of_k / matmul::slab_bytes);
    const double scale = measured_clock / std::max(1, properties.clock_rate);
    return std::max(bytes / (share * bandwidth_of(properties)), slabs * instance.slab_seconds * scale);
}

}  // namespace

std::int64_t predict_matmul(const core::Device& device, const matmul::Instance& instance,
                            const matmul::Shape& shape) {
    double longer = 1;
    const OfMatmul* const known = measured(instance, &longer);
    if (!device.simulated()) return -1;
    const DeviceProperties& properties = device.properties();
    if (instance.few_rows) {  // reads B at the full rate of the memory
        const double bytes = static_cast<double>(shape.k) * static_cast<double>(shape.n) *
                             static_cast<double>(shape.batch) * matmul::element(instance.in)->size;
        constexpr double share = 0.88;  // of the bandwidth, measured on an H200
        return static_cast<std::int64_t>(matmul_launch_microseconds * 1e3 +
                                         bytes / (share * bandwidth_of(properties)) * 1e9);
    }
    const double blocks =
        static_cast<double>(instance.blocks(shape.m, shape.n)) * static_cast<double>(shape.batch);
    if (known == nullptr) {
        if (instance.slab_seconds == 0) return -1;
        return static_cast<std::int64_t>(matmul_launch_microseconds * 1e3 +
                                         1e9 * seconds_of_slabs(properties, instance, shape, blocks));
    }
    const double each = std::ceil(blocks / std::max(1, properties.multiprocessor_count));
    const double rate = known->fill + (1 - known->fill) * std::min(1.0, each / instance.resident);
    const double scale = longer * measured_clock / std::max(1, properties.clock_rate);
    const double picoseconds = each * static_cast<double>(shape.k) * known->picoseconds * scale / rate;
    return static_cast<std::int64_t>(matmul_launch_microseconds * 1e3 + picoseconds / 1e3);
}

std::int64_t predict_matmul(const core::Device& device, const matmul::Choice& choice,
                            const matmul::Shape& shape) {
    const matmul::Split& split = choice.split;
    if (split.parts() == 1) return predict_matmul(device, *choice.instance, shape);
    const std::int64_t parts =
        predict_matmul(device, *choice.instance, {shape.m, shape.n, split.depth, split.count});
    if (parts < 0) return -1;
    const std::int64_t rest =
        split.rest > 0 ? predict_matmul(device, *choice.instance, {shape.m, shape.n, split.rest, 1}) : 0;
    // The additions write each element once and read it once for each part.
    const DeviceProperties& properties = device.properties();
    const double bytes = static_cast<double>(split.parts() + 1) * static_cast<double>(shape.m) *
                         static_cast<double>(shape.n) * matmul::element(choice.instance->out)->size;
    const double additions = matmul_launch_microseconds * 1e3 + bytes / bandwidth_of(properties) * 1e9;
    return parts + rest + static_cast<std::int64_t>(additions);
}

std::int64_t predict_reduction(const core::Device& device, std::string_view variant, std::int64_t elements,
                               std::size_t element_bytes) {
    if (!device.simulated()) return -1;
    const DeviceProperties& properties = device.properties();
    for (const OfReduction& known : of_reduction) {
        if (known.variant != variant) continue;

        const double rate = static_cast<double>(properties.clock_rate) * properties.multiprocessor_count;
        const double slower = std::max({1e3 * measured_bandwidth / bandwidth_of(properties),
                                        measured_clock * measured_multiprocessors / std::max(1.0, rate)});
        const double each = known.picoseconds * static_cast<double>(element_bytes) / 4 * slower;
        return static_cast<std::int64_t>(known.microseconds * 1e3 +
                                         each * static_cast<double>(elements) / 1e3);
    }
    return -1;
}

std::string simulated_reason(const Choice& kernel, std::int64_t duration_ns) {
    std::string time = "a time that was not measured";
    if (duration_ns >= 0) {
        char text[32];
        std::snprintf(text, sizeof text, "%.1f us", static_cast<double>(duration_ns) / 1e3);
        time = text;
    }
    return "the device is simulated: the processor's own way is the fastest. It takes " + time + ", as " +
           kernel.variant + " on a GPU: " + kernel.reason;
}

}  // namespace cuscope::ops
