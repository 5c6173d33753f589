#include "host/sim/model_fields.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <variant>

#include "host/sim/model_rules.hpp"
#include "runtime/device_models.hpp"

namespace cuscope::host {
namespace {

using Place =
    std::variant<std::string*, bool*, int*, std::int64_t*, std::size_t*, double*, Dim3*, std::vector<int>*>;

// The structure that a field belongs to.
enum class Of { model, properties, costs };

struct Field {
    const char* name;
    Of of;
    Place (*place)(DeviceModel&);
    const char* unit;
    double least, most;
    const char* meaning;
};

constexpr double second = 1e9;  // the longest time, in nanoseconds
constexpr double fastest = 1e6, slowest = 1e-3;
constexpr double gib = 1024.0 * 1024 * 1024;

// A field of DeviceModel, of its properties, and of its costs of calls. A new field of DeviceModel needs a
// row here: the assertions below the table count them.
#define FIELD(name, ...)                                                                \
    Field {                                                                             \
#name, Of::model, [](DeviceModel & m) -> Place { return &m.name; }, __VA_ARGS__ \
    }
#define NAMED(name, member, ...)                                                                          \
    Field {                                                                                               \
#name, Of::properties, [](DeviceModel & m) -> Place { return &m.properties.member; }, __VA_ARGS__ \
    }
#define PROPERTY(name, ...) NAMED(name, name, __VA_ARGS__)
#define COST(name, meaning)                                                                             \
    Field {                                                                                             \
        "call_" #name "_ns", Of::costs, [](DeviceModel& m) -> Place { return &m.costs.name; }, "ns", 0, \
            second, meaning                                                                             \
    }

constexpr std::array fields{
    FIELD(name, "", 1, 100, "The name of the model."),
    // what the device has
    PROPERTY(compute_capability_major, "", 1, 12, "The compute capability before the point."),
    PROPERTY(compute_capability_minor, "", 0, 9, "The compute capability after the point."),
    NAMED(multiprocessors, multiprocessor_count, "", 1, 4096, "The number of multiprocessors."),
    FIELD(multiprocessor_groups, "", 1, 4096,
          "The sizes of the groups that the multiprocessors are built in. A cluster has to fit into one of "
          "them; "
          "without groups there are no clusters."),
    FIELD(copy_engines, "", 0, 8,
          "1: one copy engine for both directions. 2 or more: one for each direction. 0: nothing overlaps, "
          "neither "
          "copies nor kernels."),
    FIELD(concurrent_kernels, "", 0, 1, "Can kernels run at the same time?"),
    FIELD(resident_grids, "", 1, 4096, "The most kernels on the device at a time."),
    FIELD(hardware_queues, "", 1, 1024, "The queues that streams are mapped onto, one after the other."),
    FIELD(separate_copy_queues, "", 0, 1,
          "Is there a queue for each kind of engine, in the order of issue, in place of queues for streams?"),
    FIELD(signal_delay, "", 0, 1,
          "Do kernels that were issued one behind the other signal their ends after the last of them?"),
    FIELD(least_priority, "", -100, 100, "The least priority of a stream: the largest number."),
    FIELD(greatest_priority, "", -100, 100, "The greatest priority of a stream: the smallest number."),
    // time on the device
    FIELD(host_to_device_rate, "GB/s", slowest, fastest, "Copies from page-locked memory to the device."),
    FIELD(device_to_host_rate, "GB/s", slowest, fastest, "Copies from the device to page-locked memory."),
    FIELD(pageable_host_to_device_rate, "GB/s", slowest, fastest,
          "Copies from pageable memory to the device."),
    FIELD(pageable_device_to_host_rate, "GB/s", slowest, fastest,
          "Copies from the device to pageable memory."),
    FIELD(device_to_device_rate, "GB/s", slowest, fastest,
          "Copies within the device: the bytes read, while as many are written."),
    FIELD(memset_rate, "GB/s", slowest, fastest, "Memsets."),
    FIELD(kernel_rate, "GB/s", slowest, fastest, "Kernels: the bytes of their array arguments."),
    FIELD(both_directions_rate, "", 0.01, 1,
          "The part of these rates that is left while page-locked copies run in both directions."),
    FIELD(link_rate, "GB/s", slowest, fastest,
          "Copies to and from another device. The slower one of two devices counts."),
    FIELD(cache_rate, "GB/s", slowest, fastest,
          "Copies within the device: the bytes read and written that stay in the L2 cache."),
    FIELD(
        cached_bytes, "bytes", 0, 1e12,
        "The bytes of such a copy, read and written, that stay in the L2 cache, so that memory does not slow "
        "it down. At one and a half times as many bytes, nothing stays."),
    FIELD(submit_latency_ns, "ns", 0, second, "From the host's call until the device sees the command."),
    FIELD(copy_lead_ns, "ns", 0, second,
          "From the turn of a copy between host and device to its copy engine, which may be busy meanwhile."),
    FIELD(copy_latency_ns, "ns", 0, second,
          "Before the first byte of a copy between host and device, on the copy engine."),
    FIELD(copy_finish_ns, "ns", 0, second,
          "From the last byte of such a copy until its stream goes on. The engine may be busy meanwhile."),
    FIELD(copy_ramp_ns, "ns", 0, second, "More lead of page-locked copies of copy_ramp_bytes and more."),
    FIELD(copy_ramp_bytes, "bytes", 1, 1e12, "Smaller copies have this part of copy_ramp_ns in proportion."),
    FIELD(
        small_copy_bytes, "bytes", 0, 1e12,
        "Page-locked copies of at most this size take one of the next two times in place of the four above."),
    FIELD(small_to_device_ns, "ns", 0, second, "Such a copy to the device."),
    FIELD(small_to_host_ns, "ns", 0, second, "Such a copy to the host."),
    FIELD(device_copy_latency_ns, "ns", 0, second,
          "Before the first byte of a memset or a copy within the device."),
    FIELD(device_copy_finish_ns, "ns", 0, second,
          "From the last byte of such a copy or memset until its stream goes on."),
    FIELD(small_memset_bytes, "bytes", 0, 1e12,
          "Memsets of fewer bytes take less time than the two above: the device does them without a kernel."),
    FIELD(small_memset_ns, "ns", 0, second,
          "The smallest memset. The time rises to that of a memset of small_memset_bytes."),
    FIELD(kernel_latency_ns, "ns", 0, second, "The start-up of a kernel, before its first byte."),
    FIELD(minimum_kernel_ns, "ns", 0, second, "The shortest kernel, with its start-up."),
    FIELD(graph_start_ns, "ns", 0, second, "From the turn of a graph in its stream to its first nodes."),
    FIELD(graph_kernel_ns, "ns", 0, second, "The shortest kernel in a graph."),
    FIELD(graph_copy_latency_ns, "ns", 0, second,
          "device_copy_latency_ns of a memset or a copy within the device that is a node of a graph."),
    FIELD(memory_operations_ns, "ns", 0, second,
          "A batch of memory operations, besides the time of each of them."),
    FIELD(write_value_ns, "ns", 0, second, "One write of a number to memory."),
    FIELD(wait_value_ns, "ns", 0, second, "One wait for a number in memory."),
    FIELD(memory_barrier_ns, "ns", 0, second, "One memory barrier."),
    FIELD(host_function_ns, "ns", 0, second, "A host function that does nothing."),
    FIELD(wake_up_ns, "ns", 0, second, "From the end of a command to the host that waited for it."),
    // time of calls
    COST(launch, "The host's time for a kernel launch."),
    COST(event_record, "... for recording an event."),
    COST(stream_wait, "... for letting a stream wait for an event."),
    COST(stream_query, "... for the query of a stream."),
    COST(event_query, "... for the query of an event."),
    COST(stream_create, "... for making a stream."),
    COST(stream_destroy, "... for destroying a stream."),
    COST(event_create, "... for making an event."),
    COST(event_destroy, "... for destroying an event."),
    COST(malloc, "... for cudaMalloc."),
    COST(free, "... for cudaFree."),
    COST(malloc_async, "... for an allocation in stream order."),
    COST(free_async, "... for giving memory back in stream order."),
    COST(host_alloc, "... for allocating page-locked memory."),
    COST(free_host, "... for giving page-locked memory back."),
    COST(memcpy_async, "... for an asynchronous copy."),
    COST(memset_async, "... for an asynchronous memset."),
    COST(device_copy,
         "... more, for a copy within the device or a memset of small_memset_bytes: the host launches a "
         "kernel."),
    COST(host_function, "... for putting a host function into a stream."),
    COST(synchronize, "... for a synchronisation that need not wait."),
    COST(elapsed_time, "... for the time between two events."),
    COST(other, "... for every other call."),
    COST(graph_launch, "... for the launch of a graph."),
    COST(graph_launch_node, "... more for each node of that graph."),
    COST(graph_instantiate, "... for instantiating a graph."),
    COST(graph_instantiate_node, "... more for each node of that graph."),
    COST(memory_operations, "... for a batch of memory operations."),
    COST(memory_operation, "... more for each of these operations."),
    // limits and properties
    PROPERTY(total_global_memory, "bytes", 16.0 * 1024 * 1024, 65536 * gib,
             "The memory of the device. A simulated device has at most half of the machine's memory."),
    PROPERTY(warp_size, "", 32, 32, "The threads in a warp. Kernels are compiled for 32."),
    PROPERTY(max_threads_per_block, "", 32, 1024, "The most threads in a block."),
    PROPERTY(max_threads_per_multiprocessor, "", 32, 65536, "The most threads on a multiprocessor at once."),
    PROPERTY(max_blocks_per_multiprocessor, "", 1, 1024, "The most blocks on a multiprocessor at once."),
    PROPERTY(max_block_dim, "", 1, 1024, "The most threads of a block along x, y and z."),
    PROPERTY(max_grid_dim, "", 1, 2147483647, "The most blocks of a grid along x, y and z."),
    PROPERTY(registers_per_block, "", 1, 16777216, "The 32-bit registers that a block may have."),
    PROPERTY(registers_per_multiprocessor, "", 1, 16777216, "The 32-bit registers of a multiprocessor."),
    PROPERTY(shared_memory_per_block, "bytes", 0, 16777216,
             "The shared memory that a block may have by default."),
    PROPERTY(shared_memory_per_block_optin, "bytes", 0, 16777216,
             "The shared memory that a block may have if its kernel opts in."),
    PROPERTY(shared_memory_per_multiprocessor, "bytes", 0, 16777216,
             "The shared memory of a multiprocessor."),
    PROPERTY(total_constant_memory, "bytes", 0, 16777216, "The memory for __constant__ variables."),
    PROPERTY(memory_pitch, "bytes", 512, 2147483647, "The largest pitch of a two-dimensional copy."),
    PROPERTY(texture_alignment, "bytes", 1, 65536, "The alignment of textures."),
    PROPERTY(texture_pitch_alignment, "bytes", 1, 65536,
             "The alignment of the pitch of two-dimensional textures."),
    PROPERTY(l2_cache_size, "bytes", 0, 2147483647, "The second-level cache."),
    PROPERTY(memory_bus_width, "bits", 1, 1048576, "The width of the memory bus."),
    PROPERTY(clock_rate, "kHz", 1, 100000000, "The peak clock of the multiprocessors."),
    PROPERTY(memory_clock_rate, "kHz", 1, 100000000, "The peak clock of the memory."),
    PROPERTY(integrated, "", 0, 1, "Does the device share the host's memory? Properties show it."),
    PROPERTY(can_map_host_memory, "", 0, 1,
             "Can kernels use page-locked memory of the host? Properties show it."),
    PROPERTY(unified_addressing, "", 0, 1, "Do host and device share an address space? Properties show it."),
    PROPERTY(managed_memory, "", 0, 1, "Is there managed memory? Properties show it."),
    PROPERTY(concurrent_managed_access, "", 0, 1,
             "Can host and kernels use managed memory at the same time? Properties show it."),
    PROPERTY(pageable_memory_access, "", 0, 1,
             "Can kernels use the host's pageable memory? Properties show it."),
    PROPERTY(stream_priorities_supported, "", 0, 1, "Are there priorities of streams? Properties show it."),
    PROPERTY(host_register_supported, "", 0, 1, "Can existing memory be page-locked? Properties show it."),
    PROPERTY(host_register_read_only_supported, "", 0, 1,
             "Can existing memory be page-locked for reading only? Properties show it."),
    PROPERTY(memory_pools_supported, "", 0, 1, "Is there allocation in stream order? Properties show it."),
    PROPERTY(cooperative_launch, "", 0, 1, "Are there cooperative kernels? Properties show it."),
};
#undef FIELD
#undef NAMED
#undef PROPERTY
#undef COST

constexpr std::size_t rows(Of of) {
    std::size_t count = 0;
    for (const Field& field : fields) count += field.of == of ? 1 : 0;
    return count;
}

// Converts to every type, so that the compiler can count how many members an aggregate takes.
struct Anything {
    template <class T>
    operator T() const;
};

template <class T, class... Members>
constexpr std::size_t members() {
    if constexpr (requires { T{Members{}..., Anything{}}; }) {
        return members<T, Members..., Anything>();
    } else {
        return sizeof...(Members);
    }
}

static_assert(
    rows(Of::model) + 2 == members<DeviceModel>(),
    "a field of DeviceModel has no row in the table above (properties and costs have rows of their own)");
static_assert(rows(Of::costs) == sizeof(CallCosts) / sizeof(std::int64_t),
              "a field of CallCosts has no row in the table above");

// Three properties follow from other fields.
void settle(DeviceModel& model) {
    model.properties.name = model.name + " model";
    model.properties.concurrent_kernels = model.concurrent_kernels;
    model.properties.async_engine_count = model.copy_engines;
}

template <class Number>
std::string text_of(Number number) {
    char text[64];
    const auto [end, error] = std::to_chars(text, text + sizeof text, number);
    return error == std::errc() ? std::string(text, end) : std::string();
}

template <class Numbers>
std::string list_of(const Numbers& numbers) {
    std::string text;
    for (const auto number : numbers) text += (text.empty() ? "" : ",") + text_of(number);
    return text;
}

struct Writer {
    std::string operator()(const std::string* value) const { return *value; }
    std::string operator()(const bool* value) const { return *value ? "true" : "false"; }
    std::string operator()(const Dim3* value) const {
        return list_of(std::array{value->x, value->y, value->z});
    }
    std::string operator()(const std::vector<int>* value) const { return list_of(*value); }
    template <class Number>
    std::string operator()(const Number* value) const {
        return text_of(*value);
    }
};

struct Kind {
    const char* operator()(const std::string*) const { return "text"; }
    const char* operator()(const bool*) const { return "bool"; }
    const char* operator()(const double*) const { return "float"; }
    const char* operator()(const Dim3*) const { return "three ints"; }
    const char* operator()(const std::vector<int>*) const { return "ints"; }
    template <class Integer>
    const char* operator()(const Integer*) const {
        return "int";
    }
};

template <class Number>
bool read_number(std::string_view text, const Field& field, Number* number) {
    Number read{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
    if (error != std::errc() || end != text.data() + text.size()) return false;
    const auto value = static_cast<double>(read);
    if (!(value >= field.least && value <= field.most)) return false;  // false for NaN, too
    *number = read;
    return true;
}

bool read_list(std::string_view text, const Field& field, std::vector<int>* numbers) {
    std::vector<int> read;
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        if (!read_number(text.substr(0, comma), field, &read.emplace_back())) return false;
        text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    }
    *numbers = std::move(read);
    return true;
}

// Stores the value that a text gives; false if the field cannot have it.
struct Reader {
    std::string_view text;
    const Field& field;

    bool operator()(std::string* value) const {
        if (static_cast<double>(text.size()) < field.least || static_cast<double>(text.size()) > field.most)
            return false;
        *value = text;
        return true;
    }
    bool operator()(bool* value) const {
        *value = text == "true";
        return text == "true" || text == "false";
    }
    bool operator()(Dim3* value) const {
        std::vector<int> read;
        if (!read_list(text, field, &read) || read.size() != 3) return false;
        *value = {static_cast<unsigned>(read[0]), static_cast<unsigned>(read[1]),
                  static_cast<unsigned>(read[2])};
        return true;
    }
    bool operator()(std::vector<int>* value) const { return read_list(text, field, value); }
    template <class Number>
    bool operator()(Number* value) const {
        return read_number(text, field, value);
    }
};

std::string refusal_of(const Field& field, std::string_view value, DeviceModel& model) {
    const std::string kind = std::visit(Kind{}, field.place(model));
    const std::string range = text_of(field.least) + " to " + text_of(field.most);
    const std::string unit = *field.unit == '\0' ? "" : std::string(" ") + field.unit;
    std::string allowed = kind == "text"         ? range + " characters on one line"
                          : kind == "bool"       ? "true and false"
                          : kind == "ints"       ? "any number of ints, each " + range
                          : kind == "three ints" ? "three ints, each " + range
                                                 : range + unit;
    return std::string(field.name) + ": " + std::string(value) + " is not allowed; allowed is " + allowed;
}

std::string table() {
    DeviceModel model = *find_device_model("h200");
    std::string text;
    for (const Field& field : fields) {
        text += std::string(field.name) + '\t' + std::visit(Kind{}, field.place(model)) + '\t' + field.unit +
                '\t' + text_of(field.least) + '\t' + text_of(field.most) + '\t' + field.meaning + '\n';
    }
    text += '\n';
    for (const std::string& name : device_model_names()) text += name + '\n';
    return text;
}

bool describe(const std::string& model, std::string* text) {
    std::optional<DeviceModel> read = read_model(model, text);
    if (!read) return false;
    text->clear();
    for (const Field& field : fields)
        *text += std::string(field.name) + '=' + std::visit(Writer{}, field.place(*read)) + '\n';
    return true;
}

// The text before the next line break, which is removed from `text` with the line.
std::string_view take_line(std::string_view* text) {
    const std::size_t end = text->find('\n');
    const std::string_view line = text->substr(0, end);
    *text = end == std::string_view::npos ? std::string_view() : text->substr(end + 1);
    return line;
}

// Why a line "name=value" cannot be stored in the model; empty if it was.
std::string store(std::string_view name, std::string_view value, DeviceModel* model) {
    const auto* const field =
        std::find_if(fields.begin(), fields.end(), [&](const Field& one) { return one.name == name; });
    if (field == fields.end()) return "'" + std::string(name) + "' is no field of a device model";
    if (std::visit(Reader{value, *field}, field->place(*model))) return {};
    return refusal_of(*field, value, *model);
}

std::string unknown(std::string_view name) {
    std::string known;
    for (const std::string& one : device_model_names()) known += (known.empty() ? "" : ", ") + one;
    return "'" + std::string(name) + "': there is no device model of that name; there are: " + known;
}

const bool registered = [] {
    device_models = {table, describe};
    return true;
}();

}  // namespace

std::optional<DeviceModel> read_model(std::string_view text, std::string* refusal) {
    constexpr std::string_view base = "base=";
    if (const DeviceModel* const named = find_device_model(text)) return *named;
    const std::string_view first = take_line(&text);
    const DeviceModel* const found =
        first.substr(0, base.size()) == base ? find_device_model(first.substr(base.size())) : nullptr;
    if (found == nullptr) {
        *refusal = unknown(first);
        return std::nullopt;
    }
    DeviceModel model = *found;
    while (!text.empty()) {
        const std::string_view line = take_line(&text);
        const std::size_t equals = std::min(line.find('='), line.size());
        const std::string_view name = line.substr(0, equals);
        *refusal = store(name, line.substr(std::min(equals + 1, line.size())), &model);
        if (!refusal->empty()) return std::nullopt;
    }
    settle(model);
    *refusal = contradiction(model);
    if (!refusal->empty()) return std::nullopt;
    return model;
}

}  // namespace cuscope::host
