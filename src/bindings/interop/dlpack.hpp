// The structures of DLPack 1.x, with the layout of its ABI.
#pragma once

#include <cstdint>
#include <string>

#include "bindings/support/objects.hpp"

namespace cuscope::bindings::dlpack {

enum DeviceType : std::int32_t {
    cpu = 1,
    cuda = 2,
    cuda_host = 3,   // page-locked
    extension = 12,  // devices that the standard does not know; here: simulated devices
    cuda_managed = 13,
};

struct Device {
    std::int32_t type;
    std::int32_t id;
};

enum TypeCode : std::uint8_t { integer = 0, natural = 1, real = 2, bfloat = 4, complex = 5, boolean = 6 };

struct DataType {
    std::uint8_t code;
    std::uint8_t bits;
    std::uint16_t lanes;
};

struct Tensor {
    void* data;
    Device device;
    std::int32_t axes;
    DataType dtype;
    std::int64_t* shape;
    std::int64_t* strides;  // in elements; null: C-contiguous
    std::uint64_t byte_offset;
};

struct Managed {
    Tensor tensor;
    void* context;
    void (*deleter)(Managed*);

    static constexpr const char *name = "dltensor", *used = "used_dltensor";
};

struct ManagedVersioned {
    struct {
        std::uint32_t major, minor;
    } version;
    void* context;
    void (*deleter)(ManagedVersioned*);
    std::uint64_t flags;
    Tensor tensor;

    static constexpr const char *name = "dltensor_versioned", *used = "used_dltensor_versioned";
};

inline constexpr std::uint32_t major_version = 1, minor_version = 1;
inline constexpr std::uint64_t flag_read_only = 1, flag_is_copied = 2;

// Conversions between NumPy's dtypes and DLPack's. They throw py::buffer_error for a type that the other does
// not have.
py::dtype to_numpy(DataType dtype);
DataType from_numpy(const py::dtype& dtype);

}  // namespace cuscope::bindings::dlpack
