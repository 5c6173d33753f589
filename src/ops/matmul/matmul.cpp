#include "ops/matmul/matmul.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <stdexcept>

#include "core/error.hpp"
#include "cuda_kernels/matmul/plan.hpp"
#include "ops/launch.hpp"
#include "ops/matmul/additions.hpp"
#include "ops/matmul/boxes.hpp"
#include "ops/matmul/choice.hpp"
#include "ops/matmul/cpu.hpp"
#include "ops/matmul/operands.hpp"
#include "ops/matmul/parts.hpp"
#include "ops/matmul/planes.hpp"
#include "ops/plan_cache.hpp"
#include "ops/prediction.hpp"

namespace cuscope::ops {
namespace {

namespace plan = matmul;

constexpr const char* native = "native";
constexpr int most_matrices = plan::largest_batch;

struct Idea {
    const char *name, *needs, *does;
};

constexpr std::array ideas{
    Idea{"naive", "any dtype", "one thread an element, which reads a row of A and a column of B"},
    Idea{"coalesced", "any dtype", "neighbouring threads compute neighbouring columns: their loads are one"},
    Idea{"shared_tiles", "any dtype", "16 x 16 tiles in shared memory: a sixteenth of the loads"},
    Idea{"thread_tile_1d", "float32 or float64", "a thread computes a column of 8 elements"},
    Idea{"thread_tile_2d", "float32 or float64", "a thread computes 8 x 8 elements from registers"},
    Idea{"vectorised", "float32", "loads of 16 bytes; A is transposed on its way to shared memory"},
    Idea{"double_buffered", "float32", "the next tile is loaded while this one is multiplied"},
    Idea{"warp_tiles", "float32, float64, or integers of 32 or 64 bits",
         "tiles for blocks, warps and threads; several tiles under way"},
    Idea{"tensor_cores",
         "float16, bfloat16, float64, int8, or float32 rounded to tf32; compute capability 8.0 (7.5: some)",
         "matrix instructions of a warp"},
    Idea{"wgmma", "float16 or bfloat16; compute capability 9.0",
         "matrix instructions of four warps, which read shared memory by themselves"},
    Idea{"tma",
         "float16, bfloat16, float8 (with less precise sums), or float32 rounded to tf32; compute capability "
         "9.0",
         "the same; TMA copies whole boxes, and blocks stay for many tiles; reads transposed operands as "
         "well"},
    Idea{"byte_planes", "integers of 32 or 64 bits; compute capability 8.0",
         "tensor cores multiply the bytes of the numbers"},
    Idea{"wgmma_planes", "integers of 32 or 64 bits; compute capability 9.0",
         "the same by matrix instructions of four warps, with copies by TMA"},
    Idea{"split_floats", "float32; compute capability 9.0",
         "tensor cores multiply three bfloat16 parts of the numbers, as precisely as float32"},
    Idea{"float8", "float8 (both factors of one type); compute capability 9.0",
         "tensor cores sum 128 products at a time; the float units add these sums"},
};

// A batch of equal products: one problem, and how often it is repeated.
struct Batched {
    Problem problem;
    std::int64_t batch = 1;
};

// The batch dimensions, merged where one stride suffices. Outer dimensions that remain are looped over.
struct Dimensions {
    std::vector<std::int64_t> extent, a, b, c;
};

Dimensions batch_dimensions(const Array& a, const Array& b, const Array& c) {
    Dimensions merged;
    const std::size_t count = c.dimensions() - 2;
    for (std::size_t i = 0; i < count; ++i) {
        if (c.shape[i] == 1) continue;
        if (!merged.extent.empty() && merged.a.back() == a.strides[i] * c.shape[i] &&
            merged.b.back() == b.strides[i] * c.shape[i] && merged.c.back() == c.strides[i] * c.shape[i]) {
            merged.extent.back() *= c.shape[i];
            merged.a.back() = a.strides[i];
            merged.b.back() = b.strides[i];
            merged.c.back() = c.strides[i];
            continue;
        }
        merged.extent.push_back(c.shape[i]);
        merged.a.push_back(a.strides[i]);
        merged.b.push_back(b.strides[i]);
        merged.c.push_back(c.strides[i]);
    }
    return merged;
}

// The matrices that one launch computes. The offsets, in bytes, are of their first elements.
struct Part {
    std::int64_t a, b, c;
    Problem problem;
    int count;
};

// The distance between neighbours in the last dimension.
long long column_distance(const Array& array) {
    const auto size = static_cast<std::int64_t>(size_of(array.type));
    return array.shape.back() == 1 ? 1 : array.strides.back() / size;
}

// `a` and `b` as they are stored: transposed where `boxes` says so.
std::vector<Part> parts_of(const Array& a, const Array& b, const Array& c, const Boxes& boxes = {}) {
    const Dimensions batch = batch_dimensions(a, b, c);
    const auto size = static_cast<std::int64_t>(size_of(a.type)),
               size_of_c = static_cast<std::int64_t>(size_of(c.type));
    const std::size_t last = c.dimensions() - 1;
    Problem problem{static_cast<int>(c.shape[last - 1]),
                    static_cast<int>(c.shape[last]),
                    static_cast<int>(a.shape[boxes.transposed_a ? last - 1 : last]),
                    row_distance(a),
                    row_distance(b),
                    c.shape[last - 1] == 1 ? c.shape[last] : c.strides[last - 1] / size_of_c,
                    0,
                    0,
                    0};
    problem.a_column = column_distance(a);
    problem.c_column = column_distance(c);
    // The innermost batch dimension is passed to a launch; the others are looped over.
    std::int64_t count = 1;
    std::size_t outer = batch.extent.size();
    if (outer > 0) {
        --outer;
        count = batch.extent[outer];
        problem.a_batch = batch.a[outer] / size;
        problem.b_batch = batch.b[outer] / size;
        problem.c_batch = batch.c[outer] / size_of_c;
    }
    std::vector<Part> parts;
    std::vector<std::int64_t> index(outer, 0);
    for (;;) {
        std::int64_t of_a = 0, of_b = 0, of_c = 0;
        for (std::size_t i = 0; i < outer; ++i) {
            of_a += index[i] * batch.a[i];
            of_b += index[i] * batch.b[i];
            of_c += index[i] * batch.c[i];
        }
        for (std::int64_t first = 0; first < count; first += most_matrices) {
            parts.push_back({of_a + first * problem.a_batch * size, of_b + first * problem.b_batch * size,
                             of_c + first * problem.c_batch * size_of_c, problem,
                             static_cast<int>(std::min<std::int64_t>(most_matrices, count - first))});
        }
        std::size_t i = outer;
        while (i > 0 && ++index[i - 1] == batch.extent[i - 1]) index[--i] = 0;
        if (i == 0) return parts;
    }
}

// The launches of a product: all but the addresses.
struct Launches {
    struct One {
        Part part;
        Launch launch;
    };

    std::shared_ptr<core::Kernel> kernel;
    NativeProduct native_product{};  // without a function: `kernel` multiplies
    std::vector<One> all;
    std::optional<Additions> additions{};          // the launches write parts, which these add up
    std::optional<Boxes> boxes{};                  // the kernel takes tensor maps
    std::optional<Planes> planes{};                // the kernel takes the bytes of integers
    std::optional<Parts> parts{};                  // the kernel takes parts of floats
    Prepared::Steps copies_of_a{}, copies_of_b{};  // before the launches
    bool turned = false;                           // `a` and `b` are the right and the left operand

    void run(const Operand& left, const Operand& right, const Place& c, const core::StreamPtr& stream) const {
        const Operand &a = turned ? right : left, &b = turned ? left : right;
        if (copies_of_a.empty() && copies_of_b.empty()) return run(place_of(a), place_of(b), c, stream);
        const auto prepared = [&](const Operand& operand, const Prepared::Steps& steps) {
            return prepare(turned ? transposed(operand.array()) : operand.array(), steps, stream);
        };
        const Array first = prepared(a, copies_of_a), second = prepared(b, copies_of_b);
        run(place_of(first), place_of(second), c, stream);
    }

    void run(const Place& a, const Place& b, const Place& c, const core::StreamPtr& stream) const {
        if (!additions) return multiply(a, b, c, stream);
        const Array parts = additions->room_for_parts(stream);
        multiply(a, b, place_of(parts), stream);
        additions->run(place_of(parts), c, stream);
    }

  private:
    void multiply(const Place& a, const Place& b, const Place& c, const core::StreamPtr& stream) const {
        const std::array<core::Memory*, 3> memories{a.memory, b.memory, c.memory};
        for (const auto& [part, launch] : all) {
            std::byte* const left = a.pointer + part.a;
            std::byte* const right = b.pointer + part.b;
            std::byte* const product = c.pointer + part.c;
            if (boxes) {
                boxes->run(*kernel, launch, stream, memories, left, right, product, part.problem, part.count);
                continue;
            }
            if (planes) {
                planes->run(*kernel, launch, stream, memories, left, right, product, part.problem,
                            part.count);
                continue;
            }
            if (parts) {
                parts->run(*kernel, launch, stream, memories, left, right, product, part.problem, part.count);
                continue;
            }
            if (native_product.function == nullptr) {
                cuscope::ops::run(*kernel, launch, stream, memories, left, right, product, part.problem);
                continue;
            }
            const NativeProduct::Operands operands{(turned ? b : a).pointer + part.a,
                                                   (turned ? a : b).pointer + part.b,
                                                   product,
                                                   part.problem,
                                                   part.count,
                                                   native_product.b_column};
            static const std::uint32_t name = index_of_name("matmul");
            run_natively(*kernel, name, native_product.function, operands, launch, stream, memories);
        }
    }
};

// Nanoseconds of the product; -1 if unknown.
std::int64_t predict(const core::Device& device, const Way& way, const plan::Shape& shape) {
    if (way.choice.instance == nullptr) return -1;
    return predict_matmul(device, way.choice, way.turned ? turn(shape) : shape);
}

// `way`: of the product on a GPU, which gives the time.
Launches native_launches(core::Device& device, const Way& way, const Array& a, const Array& b,
                         const Array& c) {
    Launches made{native_kernel(device), NativeProduct::of(a.type, c.type, column_distance(b)), {}};
    for (const Part& part : parts_of(a, b, c)) {
        const Problem& p = part.problem;
        const std::int64_t duration = predict(device, way, {p.m, p.n, p.k, part.count});
        const unsigned blocks = made.native_product.blocks(p, part.count);
        const auto operations = static_cast<double>(p.m) * p.n * p.k * part.count;
        made.all.push_back({part,
                            {.grid = {blocks, 1, 1},
                             .block = {1, 1, 1},
                             .duration_ns = duration,
                             .brief = operations <= most_brief_operations}});
    }
    return made;
}

// A kernel with boxes has no more blocks than the device holds at once.
std::int64_t launched_blocks(const plan::Instance& instance, const core::Device& device,
                             std::int64_t blocks) {
    if (!instance.boxes) return blocks;
    const int clusters = std::max(1, device.properties().multiprocessor_count / instance.cluster);
    return std::min(blocks, static_cast<std::int64_t>(clusters) * instance.cluster);
}

// `transposed_b`: B is stored transposed, and the kernel reads it so.
Launches launches_of(const plan::Instance& instance, core::Device& device, const Array& a, const Array& b,
                     const Array& c, bool transposed_b) {
    const auto shared =
        static_cast<std::size_t>(instance.shared_bytes + (transposed_b ? instance.along_k_bytes : 0));
    const std::string name = transposed_b ? plan::kernel_along_k(instance) : instance.kernel;
    Launches made{KernelLibrary::of(device).kernel("matmul/" + instance.rung, name, shared), {}, {}};
    for (const Part& part : parts_of(a, transposed_b ? transposed(b) : b, c)) {
        const Problem& p = part.problem;
        const std::int64_t blocks = instance.blocks(p.m, p.n);
        const int at_once = instance.planes ? 1 : part.count;  // matrices of a launch
        if (blocks > std::numeric_limits<std::int32_t>::max())
            throw std::invalid_argument("matmul: the product takes " + std::to_string(blocks) +
                                        " blocks; a grid has at most 2147483647: multiply parts of it");
        made.all.push_back(
            {part,
             {.grid = {static_cast<unsigned>(launched_blocks(instance, device, blocks)), 1,
                       static_cast<unsigned>(at_once)},
              .block = {static_cast<unsigned>(instance.block_x), static_cast<unsigned>(instance.block_y), 1},
              .dynamic_shared_bytes = shared,
              .duration_ns = predict_matmul(device, instance, {p.m, p.n, p.k, at_once}),
              .overlapping = instance.follows}});
    }
    if (instance.planes) made.planes = Planes::of(device, c.type, instance);
    return made;
}

// The launches of a kernel that reads boxes, of operands that may be stored transposed.
Launches box_launches_of(const plan::Instance& instance, core::Device& device, const Array& a, const Array& b,
                         const Array& c, bool transposed_a, bool transposed_b) {
    const auto shared = static_cast<std::size_t>(instance.shared_bytes);
    const Boxes boxes = Boxes::of(instance, a.type, transposed_a, transposed_b);
    Launches made{KernelLibrary::of(device).kernel("matmul/" + instance.rung,
                                                   kernel_for(instance, transposed_a, transposed_b), shared),
                  {},
                  {}};
    for (const Part& part :
         parts_of(transposed_a ? transposed(a) : a, transposed_b ? transposed(b) : b, c, boxes)) {
        const Problem& p = part.problem;
        const int at_once = instance.parts ? 1 : part.count;  // matrices of a launch
        const std::int64_t blocks = instance.blocks(p.m, p.n) * at_once;
        if (blocks > std::numeric_limits<std::int32_t>::max())
            throw std::invalid_argument("matmul: the product takes " + std::to_string(blocks) +
                                        " tiles; this kernel counts up to 2147483647: multiply parts of it");
        made.all.push_back({part,
                            {.grid = {static_cast<unsigned>(launched_blocks(instance, device, blocks)), 1, 1},
                             .block = {static_cast<unsigned>(instance.block_x), 1, 1},
                             .dynamic_shared_bytes = shared,
                             .duration_ns = predict_matmul(device, instance, {p.m, p.n, p.k, at_once}),
                             .overlapping = instance.follows}});
    }
    if (instance.parts)
        made.parts = Parts::of(device, instance, transposed_a, transposed_b);
    else
        made.boxes = boxes;
    return made;
}

// The launches of a product whose k is split. A kernel with boxes takes all parts in one launch; others take
// the parts of equal depth as a batch, and the rest of k in a launch of its own.
Launches split_launches_of(const plan::Choice& choice, core::Device& device, const Array& a, const Array& b,
                           const Array& c, bool transposed_a, bool transposed_b) {
    const plan::Instance& instance = *choice.instance;
    const plan::Split& split = choice.split;
    Launches made = instance.boxes ? box_launches_of(instance, device, a, b, c, transposed_a, transposed_b)
                                   : launches_of(instance, device, a, b, c, transposed_b);
    Launches::One whole = made.all.front();  // a split product is no batch
    Problem& p = whole.part.problem;
    // The parts lie as C does.
    if (p.c_column == 1) {
        made.additions = Additions::of(device, choice, c.type, p.m, p.n, p.c_row);
        p.c_row = p.n;
    } else {
        made.additions = Additions::of(device, choice, c.type, p.n, p.m, p.c_column);
        p.c_column = p.m;
    }
    p.c_batch = made.additions->elements();
    made.all.clear();
    if (instance.boxes) {
        made.boxes->depth = static_cast<int>(split.depth);
        whole.part.count = split.count;
        whole.launch.grid.x =
            static_cast<unsigned>(launched_blocks(instance, device, instance.blocks(p.m, p.n) * split.count));
        made.all.push_back(whole);
        return made;
    }
    const auto size = static_cast<std::int64_t>(size_of(a.type)),
               size_of_sum = static_cast<std::int64_t>(made.additions->element_bytes());
    const auto add_launch = [&](int first, int count, std::int64_t depth) {
        Launches::One one = whole;
        Problem& part = one.part.problem;
        const std::int64_t from = first * split.depth;
        one.part.a += from * part.a_column * size;
        one.part.b += from * (transposed_b ? 1 : part.b_row) * size;
        one.part.c = first * part.c_batch * size_of_sum;
        one.part.count = count;
        part.k = static_cast<int>(depth);
        part.a_batch = depth * part.a_column;
        part.b_batch = depth * (transposed_b ? 1 : part.b_row);
        one.launch.grid.z = static_cast<unsigned>(count);
        made.all.push_back(one);
    };
    add_launch(0, split.count, split.depth);
    if (split.rest > 0) add_launch(split.count, 1, split.rest);
    return made;
}

// 0: "auto". -1: not a variant that every device has.
int number_of(std::string_view variant) {
    if (variant == "auto") return 0;
    const auto found =
        std::find_if(ideas.begin(), ideas.end(), [&](const Idea& idea) { return idea.name == variant; });
    return found == ideas.end() ? -1 : static_cast<int>(found - ideas.begin()) + 1;
}

Launches launches_of(const plan::Choice& choice, core::Device& device, const Array& a, const Array& b,
                     const Array& c, const InColumns& columns) {
    if (choice.split.parts() > 1) return split_launches_of(choice, device, a, b, c, columns.a, columns.b);
    return choice.instance->reads_boxes()
               ? box_launches_of(*choice.instance, device, a, b, c, columns.a, columns.b)
               : launches_of(*choice.instance, device, a, b, c, columns.b);
}

PlanKey key_of(const Operand& a, const Operand& b, Type type, bool natively, int variant) {
    const auto packed = [](const Operand& operand) {
        return reinterpret_cast<std::uintptr_t>(operand.pointer) % pack_bytes == 0;
    };
    PlanKey key;
    key.add(static_cast<std::uint64_t>(variant) << 32 | static_cast<std::uint64_t>(a.type) << 24 |
            static_cast<std::uint64_t>(b.type) << 16 | static_cast<std::uint64_t>(type) << 8 |
            (natively ? 4 : 0) | (packed(a) ? 2 : 0) | (packed(b) ? 1 : 0));
    for (const Operand* operand : {&a, &b}) {
        key.add(operand->shape);
        key.add(operand->strides);
    }
    return key;
}

}  // namespace

std::vector<Variant> matmul_variants(const core::Device& device) {
    std::vector<Variant> variants;
    for (const Idea& idea : ideas) variants.push_back({idea.name, idea.needs, idea.does});
    if (device.simulated()) {
        variants.push_back({native, "a simulated device",
                            "the processor's own way, by the BLAS that NumPy brings: what auto takes here"});
    }
    return variants;
}

void matmul(const Operand& left, const Operand& right, const Operand& product, std::string_view variant,
            const core::StreamPtr& stream) {
    const auto note = note_output(product);
    core::Device& device = stream->device();
    const int number = number_of(variant);
    const bool automatic = number == 0;
    const bool natively = device.simulated() && (automatic || variant == native);
    const Place to = place_of(product);
    auto& plans = PlanCache<Launches>::of(device);
    const bool has_plans = natively || number >= 0;
    const PlanKey key = key_of(left, right, product.type, natively, natively ? 0 : number);
    if (has_plans) {
        if (const auto plan = plans.find(key)) return plan->run(left, right, to, stream);
    }

    const unsigned generation = device.generation();
    Array c = product.array();
    if (c.count() == 0) return;
    if (left.shape.back() == 0) return fill_with(c, 0, stream);
    Prepared a(left.array(), stream), b(right.array(), stream);
    for (const Array* array : std::array<const Array*, 3>{&a.array(), &b.array(), &c}) {
        for (const std::int64_t extent : {array->shape.back(), array->shape[array->dimensions() - 2]}) {
            if (extent > std::numeric_limits<int>::max())
                throw std::invalid_argument(
                    "matmul: an extent is " + std::to_string(extent) + "; allowed are " +
                    std::to_string(std::numeric_limits<int>::max()) + " in the last two dimensions");
        }
    }
    if (variant == native && !natively)
        throw std::invalid_argument(
            "variant: 'native' is there on simulated devices alone; see matmul.variants()");
    const Types types(left.type, right.type, c.type);
    const plan::Shape shape = shape_of(c, left.shape.back());
    const Way chosen = automatic || natively ? choose_either(device, types, shape, a.array(), b.array())
                                             : way_of(std::string(variant), shape, types,
                                                      packs_of(a.array(), b.array(), types), device);
    if (chosen.turned) {
        a = Prepared(transposed(right.array()), stream), b = Prepared(transposed(left.array()), stream);
        c = transposed(c);
    }
    // A simulated device makes the copies that a GPU makes, although its own way could do without.
    const InColumns columns = make_readable(chosen, types, &a, &b);
    const Array all_a = broadcast(a.array(), c), all_b = broadcast(b.array(), c);
    Launches launches;
    if (!natively) {
        launches = launches_of(chosen.choice, device, all_a, all_b, c, columns);
    } else if (chosen.turned) {
        launches = native_launches(device, chosen, transposed(all_b), transposed(all_a), transposed(c));
    } else {
        launches = native_launches(device, chosen, all_a, all_b, c);
    }
    launches.turned = chosen.turned;
    launches.copies_of_a = a.steps(), launches.copies_of_b = b.steps();
    launches.run(place_of(a.array()), place_of(b.array()), to, stream);
    if (has_plans) plans.add(key, generation, std::move(launches));
}

Choice explain_matmul(const core::Device& device, const Operand& a, const Operand& b, Type out,
                      std::int64_t batch) {
    const plan::Shape shape{a.shape[a.shape.size() - 2], b.shape.back(), a.shape.back(), batch};
    const Types types(a.type, b.type, out);
    const Way way = choose_either(device, types, shape, a.array(), b.array());
    const Choice kernel{without_number(way.choice.instance->rung), way.choice.reason};
    if (!device.simulated()) return kernel;
    return {native, simulated_reason(kernel, predict(device, way, shape))};
}

std::int64_t predict_matmul(const core::Device& device, const std::string& variant, Type type, std::int64_t m,
                            std::int64_t n, std::int64_t k, std::int64_t batch) {
    const plan::Shape shape{m, n, k, batch};
    const Types types(type, type, type);
    if (variant == "auto" || variant == native) {
        // The kernel that "auto" takes on a GPU.
        return predict(device, choose_in_rows(device, types, shape), shape);
    }
    return predict_matmul(device, *way_of(variant, shape, types, {}, device).choice.instance, shape);
}

}  // namespace cuscope::ops
