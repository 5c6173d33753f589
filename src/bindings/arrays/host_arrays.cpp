#include "bindings/arrays/host_arrays.hpp"

#include <cstdint>
#include <cstring>

namespace cuscope::bindings {
namespace {

// NumPy's PyDataMem_Handler (NEP 49): the functions behind the memory of an array. The array remembers them.
struct Allocator {
    void* context;
    void* (*allocate)(void*, std::size_t);
    void* (*allocate_zeroed)(void*, std::size_t, std::size_t);
    void* (*reallocate)(void*, void*, std::size_t);
    void (*release)(void*, void*, std::size_t);
};
struct MemoryHandler {
    char name[127];
    std::uint8_t version;
    Allocator allocator;
};

void* reallocate(void*, void* block, std::size_t bytes) {
    if (block == nullptr) return core::take_host_block(bytes, false);
    if (bytes <= core::host_block_room(block)) return block;
    void* const larger = core::take_host_block(bytes, false);
    if (larger == nullptr) return nullptr;
    std::memcpy(larger, block, core::host_block_room(block));
    core::give_host_block(block);
    return larger;
}

MemoryHandler handler{
    "cuscope",
    1,
    {nullptr, [](void*, std::size_t bytes) { return core::take_host_block(bytes, false); },
     [](void*, std::size_t count, std::size_t bytes) { return core::take_host_block(count * bytes, true); },
     reallocate, [](void*, void* block, std::size_t) { core::give_host_block(block); }}};

// New arrays of this thread use the handler as long as the object lives.
class UseHandler {
  public:
    UseHandler() : before_(set(capsule())) {
        if (!before_) throw py::error_already_set();
    }
    UseHandler(const UseHandler&) = delete;
    UseHandler& operator=(const UseHandler&) = delete;
    ~UseHandler() {
        const py::error_scope keep;
        if (!set(before_.ptr())) PyErr_Clear();
    }

  private:
    static py::object set(PyObject* used) {
        // The functions of NumPy's interface have fixed numbers.
        using Set = PyObject* (*)(PyObject*);
        static constinit MadeOnce interface;
        PyObject* const api = interface.get(
            [] { return py::detail::import_numpy_core_submodule("multiarray").attr("_ARRAY_API"); });
        const auto set = reinterpret_cast<Set>(static_cast<void**>(PyCapsule_GetPointer(api, nullptr))[304]);
        return py::reinterpret_steal<py::object>(set(used));
    }
    static PyObject* capsule() {
        static constinit MadeOnce made;
        return made.get([] { return py::capsule(&handler, "mem_handler"); });
    }

    py::object before_;
};

}  // namespace

HostArray::HostArray(const py::dtype& dtype, const std::vector<py::ssize_t>& shape) {
    std::size_t bytes = static_cast<std::size_t>(dtype.itemsize());
    for (const py::ssize_t extent : shape) bytes *= static_cast<std::size_t>(extent);
    if (bytes < core::host_block_threshold) {
        array = py::array(dtype, shape);
        return;
    }
    {
        const UseHandler use;
        array = py::array(dtype, shape);
    }
    touching = core::touch_host_block(array.mutable_data());
}

}  // namespace cuscope::bindings
