// The part of the DLPack ABI (versions 0 and 1, and the C functions of 1.3) that reading a tensor
// takes.
#pragma once

#include <cstdint>

namespace ascend_grad::python::dlpack {

enum DeviceType : int32_t { kCpu = 1, kCudaHost = 3, kRocmHost = 11, kExtension = 12 };
enum TypeCode : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kComplex = 5, kBool = 6 };

struct Device {
    int32_t type;
    int32_t id;
};

struct Type {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
};

struct Tensor {
    void* data;
    Device device;
    int32_t rank;
    Type dtype;
    int64_t* shape;
    int64_t* strides;  // elements; null: C-contiguous
    uint64_t byte_offset;
};

struct ManagedTensor {  // capsule "dltensor"
    Tensor tensor;
    void* manager;
    void (*deleter)(ManagedTensor*);
};

struct Version {
    uint32_t major;
    uint32_t minor;
};

struct ManagedTensorVersioned {  // capsule "dltensor_versioned"
    Version version;
    void* manager;
    void (*deleter)(ManagedTensorVersioned*);
    uint64_t flags;
    Tensor tensor;
};

inline constexpr uint64_t kReadOnly = 1, kCopied = 2;

// What a type has as its attribute `__dlpack_c_exchange_api__`, in a capsule with this name.
inline constexpr char kExchangeApiName[] = "dlpack_exchange_api";
struct ExchangeApi {
    Version version;
    const ExchangeApi* previous;
    void* allocate;
    int (*export_managed)(void* object, ManagedTensorVersioned** tensor);  // 0, or an exception
    void* import_managed;
    void* describe;
    void* current_stream;
};

}  // namespace ascend_grad::python::dlpack
