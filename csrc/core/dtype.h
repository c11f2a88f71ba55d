// Element types and memory formats, numbered as in CANN's aclDataType and aclFormat.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ascend_grad {

enum class DataType : int32_t {
    kUndefined = -1,
    kFloat32 = 0,
    kFloat16 = 1,
    kInt8 = 2,
    kInt32 = 3,
    kUInt8 = 4,
    kInt16 = 6,
    kUInt16 = 7,
    kUInt32 = 8,
    kInt64 = 9,
    kUInt64 = 10,
    kFloat64 = 11,
    kBool = 12,
    kString = 13,
    kComplex64 = 16,
    kComplex128 = 17,
    kBFloat16 = 27,
    kInt4 = 29,
    kUInt1 = 30,
    kComplex32 = 33,
};

enum class Format : int32_t {
    kUndefined = -1,
    kNCHW = 0,
    kNHWC = 1,
    kND = 2,
    kNC1HWC0 = 3,
    kFractalZ = 4,
    kNC1HWC0C04 = 12,
    kHWCN = 16,
    kNDHWC = 27,
    kFractalNZ = 29,
    kNCDHW = 30,
    kNDC1HWC0 = 32,
    kFractalZ3D = 33,
    kNC = 35,
    kNCL = 47,
};

// "float32"; "undefined" for a value outside the enumeration.
const char* data_type_name(DataType dtype);
// Bytes of one element; 0 where elements have no fixed whole number of bytes or the value is
// unknown.
int64_t data_type_size(DataType dtype);
const char* format_name(Format format);
// A format whose memory is tiled for the matrix unit.
bool is_private_format(Format format);

// Dtypes that kernels compute in, and the place of each in tables of kernels: float32, float16,
// bfloat16; -1 for others, which checks refuse before anything is looked up.
inline constexpr int kKernelDtypes = 3;
constexpr int kernel_index(DataType dtype) {
    return dtype == DataType::kFloat32    ? 0
           : dtype == DataType::kFloat16  ? 1
           : dtype == DataType::kBFloat16 ? 2
                                          : -1;
}

}  // namespace ascend_grad
