// Memory pools.
#include <pybind11/stl.h>

#include <charconv>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "bindings/support/objects.hpp"
#include "core/memory/kept_memory.hpp"
#include "core/stream/same_device.hpp"

namespace cuscope::bindings {
namespace {

using Pool = core::MemPool;
using PoolPtr = std::shared_ptr<Pool>;

struct MemoryPool {
    Held<Pool> open() const {
        Held<Pool> held = pool.get();
        if (!held) throw std::invalid_argument("MemoryPool is closed");
        return held;
    }
    core::DevicePtr device;
    SharedOwner<Pool> pool;
    std::uint64_t serial;  // identifies the pool, even after it is closed
};

struct PoolStatistics {
    std::uint64_t reserved, reserved_high, used, used_high;
};

MemoryPool wrap_pool(PoolPtr pool) {
    core::DevicePtr device = pool->device();
    const std::uint64_t serial = pool->serial();
    return {std::move(device), SharedOwner<Pool>(std::move(pool)), serial};
}

std::uint64_t get(const MemoryPool& self, MemPoolAttribute attribute) {
    const PoolPtr pool = self.open();
    return without_gil([&] { return pool->attribute(attribute); });
}

void read_kept_memory() {
    const char* const given = std::getenv("CUSCOPE_KEPT_MEMORY");
    if (given == nullptr || *given == '\0') return;
    const std::string_view text(given);
    std::uint64_t bytes = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
    if (error != std::errc() || end != text.data() + text.size()) {
        throw std::invalid_argument("CUSCOPE_KEPT_MEMORY: '" + std::string(text) +
                                    "' is no number of bytes; 0 stands for none");
    }
    core::set_kept_memory(bytes);
}

void set(const MemoryPool& self, MemPoolAttribute attribute, std::uint64_t value) {
    const PoolPtr pool = self.open();
    without_gil([&] { pool->set_attribute(attribute, value); });
}

}  // namespace

void bind_pools(py::module_& m, Classes& classes) {
    read_kept_memory();
    py::class_<PoolStatistics>(m, "PoolStatistics",
                               R"(The memory that a pool holds, in bytes; made by MemoryPool.statistics.

See cudaMemPoolGetAttribute.

>>> import cuscope as cs
>>> statistics = cs.MemoryPool().statistics
>>> statistics.used, statistics.reserved
(0, 0)
)")
        .def_readonly("reserved", &PoolStatistics::reserved,
                      "The bytes that the pool has reserved from the device.")
        .def_readonly("reserved_high", &PoolStatistics::reserved_high, "The highest value of ``reserved``.")
        .def_readonly("used", &PoolStatistics::used, "The bytes that arrays use.")
        .def_readonly("used_high", &PoolStatistics::used_high, "The highest value of ``used``.")
        .def("__repr__", [](const PoolStatistics& self) {
            return "PoolStatistics(reserved=" + std::to_string(self.reserved) +
                   ", reserved_high=" + std::to_string(self.reserved_high) +
                   ", used=" + std::to_string(self.used) + ", used_high=" + std::to_string(self.used_high) +
                   ")";
        });

    py::class_<MemoryPool> pool(m, "MemoryPool",
                                R"(A pool of device memory, from which arrays are allocated in stream order.

Arrays come from their device's current pool, `device.memory_pool`. The memory that they give back stays in the pool for
later arrays, until a synchronisation finds more than `release_threshold` bytes reserved.

Parameters
----------
limit : int, optional
    The most bytes that it may reserve. Default: the memory of the device.
release_threshold : int
    The bytes that it keeps when the host synchronizes.
device : Device, optional
    Default: the current device.

See cudaMemPoolCreate: CUDA C++ Programming Guide, "Stream Ordered Memory Allocator".

Examples
--------
>>> import cuscope as cs
>>> pool = cs.MemoryPool(limit=64 << 20)
>>> x = pool.empty(1000)
>>> pool.statistics.used >= x.nbytes
True
)");
    pool.def(py::init([](const Scalar& limit, const IntLike& release_threshold, const DeviceLike& device) {
                 const std::size_t most = limit.is_none() ? 0 : parse_size(limit, "limit");
                 if (!limit.is_none() && most == 0) {
                     throw std::invalid_argument(
                         "limit: 0 is not allowed; allowed is 1 or more bytes, or None");
                 }
                 const std::size_t threshold = parse_size(release_threshold, "release_threshold");
                 const core::DevicePtr on = device_or_current(device);
                 return without_gil([&] {
                     PoolPtr made = Pool::create(on, most);
                     if (threshold != 0) made->set_attribute(MemPoolAttribute::release_threshold, threshold);
                     return wrap_pool(std::move(made));
                 });
             }),
             py::kw_only(), py::arg("limit") = py::none(), py::arg("release_threshold") = 0,
             py::arg("device") = py::none())
        .def(
            "empty",
            [](const MemoryPool& self, const ShapeLike& shape, const OptionalDType& dtype,
               const StreamLike& stream) {
                const PoolPtr from = self.open();
                std::vector<py::ssize_t> extents = parse_shape(shape);
                const py::dtype type = parse_dtype(
                    dtype.is_none() ? py::module_::import("numpy").attr("float32") : py::object(dtype));
                const core::StreamPtr on = stream_or_current(stream, self.device);
                core::check_same_device({"pool"}, *self.device, *on);
                return new_array(on, std::move(extents), type, from);
            },
            py::arg("shape"), py::arg("dtype") = py::none(), py::kw_only(), py::arg("stream") = py::none(),
            R"(A new array from this pool. Its elements are not initialised. The default dtype is float32.

Raises OutOfMemoryError above the pool's limit. See cudaMallocFromPoolAsync.

>>> import cuscope as cs
>>> cs.MemoryPool().empty((2, 3)).shape
(2, 3)
)")
        .def(
            "trim",
            [](const MemoryPool& self, const IntLike& keep) {
                const PoolPtr trimmed = self.open();
                const std::size_t bytes = parse_size(keep, "keep");
                without_gil([&] { trimmed->trim(bytes); });
            },
            py::arg("keep") = 0,
            R"(Give unused memory back to the device, until at most `keep` bytes are reserved.

See cudaMemPoolTrimTo.

>>> import cuscope as cs
>>> cs.current_device().memory_pool.trim()
)")
        .def(
            "reset_high",
            [](const MemoryPool& self) {
                set(self, MemPoolAttribute::reserved_high, 0);
                set(self, MemPoolAttribute::used_high, 0);
            },
            R"(Reset the highest values of the statistics to the current ones. See cudaMemPoolSetAttribute.

>>> import cuscope as cs
>>> pool = cs.MemoryPool()
>>> pool.empty(1000).close()
>>> cs.synchronize()
>>> pool.reset_high()
>>> pool.statistics.used_high == pool.statistics.used
True

)")
        .def_property(
            "release_threshold",
            [](const MemoryPool& self) { return get(self, MemPoolAttribute::release_threshold); },
            [](const MemoryPool& self, const IntLike& bytes) {
                set(self, MemPoolAttribute::release_threshold, parse_size(bytes, "release_threshold"));
            },
            "The bytes that the pool keeps when the host synchronizes.")
        .def_property_readonly(
            "statistics",
            [](const MemoryPool& self) {
                return PoolStatistics{
                    get(self, MemPoolAttribute::reserved_current), get(self, MemPoolAttribute::reserved_high),
                    get(self, MemPoolAttribute::used_current), get(self, MemPoolAttribute::used_high)};
            },
            "The memory that it holds, as PoolStatistics.")
        .def_property_readonly(
            "limit",
            [](const MemoryPool& self) -> std::optional<std::size_t> {
                const std::size_t limit = self.open()->limit();
                return limit == 0 ? std::nullopt : std::optional(limit);
            },
            "The most bytes it may reserve; None if only the device limits it.")
        .def_readonly("device", &MemoryPool::device, "The device that its memory is on.")
        .def_property_readonly(
            "is_default", [](const MemoryPool& self) { return self.open()->is_default(); },
            "Is it the device's own pool, which cannot be destroyed?")
        .def(
            "close",
            [](MemoryPool& self) {
                if (const PoolPtr pool = self.pool.get(); pool && pool->is_default())
                    throw std::invalid_argument("the default pool of " + self.device->name() +
                                                " cannot be closed: it belongs to its device");
                self.pool.reset();
            },
            R"(Give up the pool. It is destroyed with its last array. Closing twice is no error.

Raises ValueError for a device's default pool. See cudaMemPoolDestroy.

>>> import cuscope as cs
>>> pool = cs.MemoryPool()
>>> x = pool.empty(4)
>>> pool.close()
>>> pool.closed, x.closed
(True, False)

)")
        .def_property_readonly(
            "closed", [](const MemoryPool& self) { return !self.pool.get(); }, "Was the pool closed?")
        .def("__eq__",
             [](const MemoryPool& self, const py::object& other) {
                 if (!py::isinstance<MemoryPool>(other)) return false;
                 const auto& second = other.cast<const MemoryPool&>();
                 return self.device == second.device && self.serial == second.serial;
             })
        .def("__hash__", [](const MemoryPool& self) { return static_cast<py::ssize_t>(self.serial); })
        .def("__repr__", [](const MemoryPool& self) {
            std::string text = "<MemoryPool on " + self.device->name();
            Held<Pool> pool = self.pool.get();
            if (!pool) return text + ", closed>";
            if (pool->is_default()) text += ", the default one";
            if (pool->limit() != 0) text += ", limited to " + std::to_string(pool->limit()) + " bytes";
            return text + ">";
        });

    classes.device.def_property(
        "memory_pool",
        [](const core::DevicePtr& self) {
            return without_gil([&] { return wrap_pool(Pool::current_of(self)); });
        },
        [](const core::DevicePtr& self, const py::object& value) {
            if (value.is_none()) {
                without_gil([&] { Pool::make_current(Pool::default_of(self)); });
                return;
            }
            if (!py::isinstance<MemoryPool>(value)) {
                throw core::WrongKind(std::string("memory_pool: takes a MemoryPool or None, not ") +
                                      Py_TYPE(value.ptr())->tp_name);
            }
            const PoolPtr made = value.cast<const MemoryPool&>().open();
            if (made->device() != self) {
                throw std::invalid_argument("memory_pool: the pool is on " + made->device()->name() +
                                            ", not on " + self->name());
            }
            without_gil([&] { Pool::make_current(made); });
        },
        R"(The pool from which arrays on this device are allocated. Set it to None for the default one.

See cudaDeviceGetMemPool, cudaDeviceSetMemPool.)");
}

}  // namespace cuscope::bindings
