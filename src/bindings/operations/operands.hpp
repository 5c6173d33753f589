// Operands and results of operations: arrays of one device, or arrays on the host, which are copied there and
// back.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "bindings/operations/types.hpp"
#include "ops/array.hpp"

namespace cuscope::bindings {

inline constexpr std::size_t most_dimensions = 64;  // of NumPy's arrays and of device arrays

// The extents of an array, or its strides, without an allocation.
class Extents {
  public:
    Extents() {}  // leaves its array uninitialised until it is needed
    void push_back(py::ssize_t extent) { values_[count_++] = extent; }
    std::size_t size() const { return count_; }
    py::ssize_t operator[](std::size_t i) const { return values_[i]; }
    py::ssize_t& operator[](std::size_t i) { return values_[i]; }
    operator std::span<const py::ssize_t>() const { return {values_, count_}; }
    std::vector<py::ssize_t> vector() const { return {values_, values_ + count_}; }

  private:
    std::size_t count_ = 0;
    py::ssize_t values_[most_dimensions + 1];  // the first count_ are set; a product of vectors adds one
};
std::string describe(std::span<const py::ssize_t> shape);
py::ssize_t product_of(std::span<const py::ssize_t> extents);

// An operand as the program passed it.
class Operand {
  public:
    Operand(py::handle object, const char* name);
    Operand(const Operand&) = delete;
    Operand& operator=(const Operand&) = delete;

    void read_on_host();  // makes a NumPy array of an object that is not on a device

    const char* name() const { return name_; }
    const DeviceArray* on_device() const { return array_; }  // null: it is on the host
    const py::array& on_host() const { return static_cast<const py::array&>(kept_); }
    // As the program passed it, or as a device array or a NumPy array.
    py::object object() const { return kept_ ? kept_ : py::reinterpret_borrow<py::object>(given_); }
    py::dtype dtype() const { return array_ != nullptr ? array_->dtype : on_host().dtype(); }
    std::span<const py::ssize_t> shape() const;
    // Its element type. Throws WrongKind if kernels do not have it; the message begins with `place`.
    ops::Type type(const char* place) const;
    // Its elements in device memory, as they lie if they are there. Elements on the host are converted to the
    // type, and copied.
    DeviceArray in_device_memory(const py::dtype& dtype, const core::StreamPtr& stream) const;

  private:
    py::handle given_;
    const char* name_;
    const DeviceArray* array_ = nullptr;
    py::object kept_;  // the array on the host, in the processor's byte order; or another library's array
};

// The stream of an operation. Throws if only some of the operands are on the host, or if one is on another
// device than the stream. Operands on the host are NumPy arrays from here on.
core::StreamPtr stream_of(std::span<Operand* const> operands, py::handle stream);

// The elements of a device array, for the operations of src/ops.
ops::Operand operand_of(const DeviceArray& array, ops::Type type);

// Where the program wants the result: the argument `out`.
class Output {
  public:
    // Throws if `out` cannot take a result of this shape and dtype, or if the stream is being captured and
    // the result is wanted on the host. `on_host`: the operands are. To be made before work is enqueued.
    Output(py::handle out, std::span<const py::ssize_t> shape, const ElementDType& result, bool on_host,
           const core::Stream& stream);

    // `out` itself, if a kernel can write its result there: it has this type, is in C order and shares no
    // memory with the operands. Else null.
    const DeviceArray* writable(ops::Type type, const core::Device& device,
                                std::span<const DeviceArray* const> operands) const;
    // Brings a result to `out`, or where the operands are. On the host, a result without dimensions is a
    // NumPy scalar.
    py::object deliver(DeviceArray&& made, const core::StreamPtr& stream) const;
    py::object written() const { return py::reinterpret_borrow<py::object>(out_); }

  private:
    py::handle out_;
    const DeviceArray* array_ = nullptr;
    bool on_host_;
};

// The array in another type, in C order; the same array if it has the type.
DeviceArray converted(DeviceArray&& array, const ElementDType& to, const core::StreamPtr& stream);

}  // namespace cuscope::bindings
