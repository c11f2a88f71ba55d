#include "core/dtype.h"

namespace ascend_grad {
namespace {

struct DataTypeRow {
    DataType dtype;
    const char* name;
    int64_t size;
};

constexpr DataTypeRow kDataTypes[] = {
    {DataType::kFloat32, "float32", 4},     {DataType::kFloat16, "float16", 2},
    {DataType::kBFloat16, "bfloat16", 2},   {DataType::kFloat64, "float64", 8},
    {DataType::kInt8, "int8", 1},           {DataType::kInt16, "int16", 2},
    {DataType::kInt32, "int32", 4},         {DataType::kInt64, "int64", 8},
    {DataType::kUInt8, "uint8", 1},         {DataType::kUInt16, "uint16", 2},
    {DataType::kUInt32, "uint32", 4},       {DataType::kUInt64, "uint64", 8},
    {DataType::kBool, "bool", 1},           {DataType::kComplex32, "complex32", 4},
    {DataType::kComplex64, "complex64", 8}, {DataType::kComplex128, "complex128", 16},
    {DataType::kString, "string", 0},       {DataType::kInt4, "int4", 0},
    {DataType::kUInt1, "uint1", 0},
};

struct FormatRow {
    Format format;
    const char* name;
    bool is_private;
};

constexpr FormatRow kFormats[] = {
    {Format::kNCHW, "NCHW", false},
    {Format::kNHWC, "NHWC", false},
    {Format::kND, "ND", false},
    {Format::kNC1HWC0, "NC1HWC0", true},
    {Format::kFractalZ, "FRACTAL_Z", true},
    {Format::kNC1HWC0C04, "NC1HWC0_C04", true},
    {Format::kHWCN, "HWCN", false},
    {Format::kNDHWC, "NDHWC", false},
    {Format::kFractalNZ, "FRACTAL_NZ", true},
    {Format::kNCDHW, "NCDHW", false},
    {Format::kNDC1HWC0, "NDC1HWC0", true},
    {Format::kFractalZ3D, "FRACTAL_Z_3D", true},
    {Format::kNC, "NC", false},
    {Format::kNCL, "NCL", false},
};

}  // namespace

const char* data_type_name(DataType dtype) {
    for (const DataTypeRow& row : kDataTypes) {
        if (row.dtype == dtype) return row.name;
    }
    return "undefined";
}

int64_t data_type_size(DataType dtype) {
    for (const DataTypeRow& row : kDataTypes) {
        if (row.dtype == dtype) return row.size;
    }
    return 0;
}

const char* format_name(Format format) {
    for (const FormatRow& row : kFormats) {
        if (row.format == format) return row.name;
    }
    return "undefined";
}

bool is_private_format(Format format) {
    for (const FormatRow& row : kFormats) {
        if (row.format == format) return row.is_private;
    }
    return false;
}

}  // namespace ascend_grad
