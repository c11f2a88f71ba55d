#include "arrays.h"

#include <algorithm>
#include <string>
#include <utility>

#include "blocks.h"
#include "dlpack.h"
#include "errors.h"

namespace ascend_grad::python {
namespace {

struct NumpyTypes {
    int bfloat16_number;
    py::object bfloat16, float32, float16, float64;
    py::object asarray, scalar, boolean, ndarray;

    // Looked up late: importing numpy.ma takes time.
    py::object masked_array() const { return py::module_::import("numpy.ma").attr("MaskedArray"); }
};

// Never destroyed: the interpreter may be gone by then.
const NumpyTypes* g_numpy = nullptr;

// NumPy's type numbers are part of its ABI.
DataType dtype_of_number(int number) {
    switch (number) {
        case 0:
            return DataType::kBool;
        case 1:
            return DataType::kInt8;
        case 2:
            return DataType::kUInt8;
        case 3:
            return DataType::kInt16;
        case 4:
            return DataType::kUInt16;
        case 5:
            return DataType::kInt32;
        case 6:
            return DataType::kUInt32;
        case 7:
            return sizeof(long) == 8 ? DataType::kInt64 : DataType::kInt32;
        case 8:
            return sizeof(long) == 8 ? DataType::kUInt64 : DataType::kUInt32;
        case 9:
            return DataType::kInt64;
        case 10:
            return DataType::kUInt64;
        case 11:
            return DataType::kFloat32;
        case 12:
            return DataType::kFloat64;
        case 14:
            return DataType::kComplex64;
        case 15:
            return DataType::kComplex128;
        case 23:
            return DataType::kFloat16;
        default:
            return number == g_numpy->bfloat16_number ? DataType::kBFloat16 : DataType::kUndefined;
    }
}

void set_shape(TensorView& view, int rank, const int64_t* shape, const int64_t* strides,
               int64_t unit) {
    view.rank = rank;
    view.numel = 1;
    bool is_empty = false;
    for (int i = 0; i < rank; ++i) {
        is_empty = is_empty || shape[i] == 0;
        if (shape[i] < 0) view.defect = ViewDefect::kNegativeExtent;
        if (__builtin_mul_overflow(view.numel, shape[i], &view.numel) && !is_empty) {
            view.defect = ViewDefect::kOverflow;
        }
        if (i >= kMaxRank) continue;
        view.shape[i] = shape[i];
        if (__builtin_mul_overflow(strides[i], unit, &view.strides[i])) {
            view.defect = ViewDefect::kOverflow;
        }
    }
    if (is_empty) view.numel = 0;
    if (view.defect != ViewDefect::kNone) view.numel = 1;
}

struct Context {
    const char* operator_name;
    const char* parameter;
    bool is_output;
};

void require_writable(const Context& context, bool writable) {
    if (context.is_output && !writable) {
        raise_invalid(context.operator_name, context.parameter,
                      "must be writable, got a read-only array");
    }
}

void read_numpy(TensorView& view, const py::array& array, const Context& context) {
    const auto* fields = py::detail::array_proxy(array.ptr());
    const auto* descr = py::detail::array_descriptor_proxy(fields->descr);
    view.dtype = dtype_of_number(descr->type_num);
    const std::string not_numbers = "OSUMmT";
    if (view.dtype == DataType::kUndefined) {
        view.dtype_name = reinterpret_cast<PyTypeObject*>(descr->typeobj)->tp_name;
        if (not_numbers.find(descr->kind) != std::string::npos) {
            raise_type_error(context.operator_name, context.parameter,
                             std::string("an array of numbers is needed, got dtype ") +
                                 py::str(array.dtype()).cast<std::string>());
        }
    }
    if (descr->byteorder == '>' || (descr->byteorder == '<' && PY_BIG_ENDIAN)) {
        raise_invalid(context.operator_name, context.parameter,
                      "must have the machine's byte order, got dtype " +
                          py::str(array.dtype()).cast<std::string>());
    }
    require_writable(context, array.writeable());
    static_assert(sizeof(Py_intptr_t) == sizeof(int64_t));
    set_shape(view, fields->nd, reinterpret_cast<const int64_t*>(fields->dimensions),
              reinterpret_cast<const int64_t*>(fields->strides), 1);
    view.data = fields->data;
}

DataType dtype_of_dlpack(const dlpack::Type& type) {
    if (type.lanes != 1) return DataType::kUndefined;
    switch (type.code) {
        case dlpack::kFloat:
            return type.bits == 32   ? DataType::kFloat32
                   : type.bits == 16 ? DataType::kFloat16
                   : type.bits == 64 ? DataType::kFloat64
                                     : DataType::kUndefined;
        case dlpack::kBfloat:
            return type.bits == 16 ? DataType::kBFloat16 : DataType::kUndefined;
        case dlpack::kBool:
            return DataType::kBool;
        case dlpack::kInt:
            return type.bits == 8    ? DataType::kInt8
                   : type.bits == 16 ? DataType::kInt16
                   : type.bits == 32 ? DataType::kInt32
                                     : DataType::kInt64;
        case dlpack::kUInt:
            return type.bits == 8    ? DataType::kUInt8
                   : type.bits == 16 ? DataType::kUInt16
                   : type.bits == 32 ? DataType::kUInt32
                                     : DataType::kUInt64;
        case dlpack::kComplex:
            return type.bits == 64 ? DataType::kComplex64 : DataType::kComplex128;
        default:
            return DataType::kUndefined;
    }
}

void read_dlpack_tensor(TensorView& view, const dlpack::Tensor& tensor, const Context& context) {
    const int32_t device = tensor.device.type;
    if (device != dlpack::kCpu && device != dlpack::kCudaHost && device != dlpack::kRocmHost) {
        raise_type_error(context.operator_name, context.parameter,
                         "an array in CPU memory is needed, got one on DLPack device type " +
                             std::to_string(device) + "; copy it to the CPU first");
    }
    view.dtype = dtype_of_dlpack(tensor.dtype);
    if (view.dtype == DataType::kUndefined) {
        view.dtype_name =
            tensor.dtype.lanes != 1 ? "a DLPack dtype of several lanes" : "an unknown DLPack dtype";
    }
    const int64_t size = (int64_t{tensor.dtype.bits} * tensor.dtype.lanes + 7) / 8;
    if (tensor.strides != nullptr) {
        set_shape(view, tensor.rank, tensor.shape, tensor.strides, size);
    } else {
        int64_t strides[kMaxRank] = {};
        int64_t stride = 1;
        for (int i = tensor.rank - 1; i >= 0; --i) {
            if (i < kMaxRank) strides[i] = stride;
            // Where this overflows, the number of elements does too.
            (void)__builtin_mul_overflow(stride, std::max<int64_t>(tensor.shape[i], 1), &stride);
        }
        set_shape(view, tensor.rank, tensor.shape, strides, size);
    }
    if (tensor.data == nullptr && !view.is_empty()) {
        raise_invalid(context.operator_name, context.parameter,
                      "must have memory for its elements, got a null address");
    }
    view.data =
        reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(tensor.data) + tensor.byte_offset);
}

template <class Managed>
py::capsule take_over(py::capsule& capsule, Managed* managed, const char* used_name) {
    capsule.set_name(used_name);
    return py::capsule(managed, [](void* pointer) {
        auto* owned = static_cast<Managed*>(pointer);
        if (owned->deleter != nullptr) owned->deleter(owned);
    });
}

py::object request_dlpack(py::handle object) {
    try {
        return object.attr("__dlpack__")(py::arg("max_version") = py::make_tuple(1, 0));
    } catch (py::error_already_set& error) {
        // An exporter of before DLPack 1.0 does not know the argument.
        if (!error.matches(PyExc_TypeError)) throw;
    }
    return object.attr("__dlpack__")();
}

void read_dlpack(ArrayArgument& argument, py::handle object, const Context& context) {
    py::capsule capsule = request_dlpack(object);
    const std::string name = capsule.name() != nullptr ? capsule.name() : "";
    if (name == "dltensor_versioned") {
        auto* managed = capsule.get_pointer<dlpack::ManagedTensorVersioned>();
        if (managed->version.major != 1) {
            raise_type_error(context.operator_name, context.parameter,
                             "DLPack version 1 or less is needed, got " +
                                 std::to_string(managed->version.major));
        }
        require_writable(context, (managed->flags & dlpack::kReadOnly) == 0);
        read_dlpack_tensor(argument.view, managed->tensor, context);
        argument.owner = take_over(capsule, managed, "used_dltensor_versioned");
    } else if (name == "dltensor") {
        auto* managed = capsule.get_pointer<dlpack::ManagedTensor>();
        read_dlpack_tensor(argument.view, managed->tensor, context);
        argument.owner = take_over(capsule, managed, "used_dltensor");
    } else {
        raise_type_error(context.operator_name, context.parameter,
                         "__dlpack__ gave an unknown capsule '" + name + "'");
    }
}

py::object numpy_dtype(DataType dtype) {
    switch (dtype) {
        case DataType::kFloat16:
            return g_numpy->float16;
        case DataType::kBFloat16:
            return g_numpy->bfloat16;
        case DataType::kFloat64:
            return g_numpy->float64;
        default:
            return g_numpy->float32;
    }
}

}  // namespace

void initialise_arrays() {
    auto* types = new NumpyTypes;
    const py::module_ numpy = py::module_::import("numpy");
    const py::object dtype = numpy.attr("dtype");
    types->bfloat16 = dtype(py::module_::import("ml_dtypes").attr("bfloat16"));
    types->bfloat16_number = types->bfloat16.attr("num").cast<int>();
    types->float32 = dtype("float32");
    types->float16 = dtype("float16");
    types->float64 = dtype("float64");
    types->asarray = numpy.attr("asarray");
    types->scalar = numpy.attr("generic");
    types->boolean = numpy.attr("bool_");
    types->ndarray = numpy.attr("ndarray");
    g_numpy = types;
}

bool is_numpy_bool(py::handle object) {
    return py::isinstance(object, g_numpy->boolean);
}

void ArrayArgument::assign(py::handle object, const char* operator_name, const char* parameter,
                           bool is_output) {
    const Context context{operator_name, parameter, is_output};
    if (py::isinstance<py::array>(object)) {
        if (Py_TYPE(object.ptr()) != reinterpret_cast<PyTypeObject*>(g_numpy->ndarray.ptr()) &&
            py::isinstance(object, g_numpy->masked_array())) {
            raise_type_error(operator_name, parameter,
                             "a masked array is not supported; fill it first");
        }
        owner = py::reinterpret_borrow<py::object>(object);
        read_numpy(view, py::reinterpret_borrow<py::array>(object), context);
    } else if (py::hasattr(object, "__dlpack__")) {
        read_dlpack(*this, object, context);
    } else if (is_output && py::isinstance(object, g_numpy->scalar)) {
        raise_type_error(operator_name, parameter,
                         "a scalar has no memory to write to; give an array");
    } else if (py::hasattr(object, "__array_interface__")) {
        owner = g_numpy->asarray(object);
        read_numpy(view, py::reinterpret_borrow<py::array>(owner), context);
    } else {
        raise_type_error(
            operator_name, parameter,
            std::string("an array is needed (NumPy, DLPack or array interface), got ") +
                Py_TYPE(object.ptr())->tp_name);
    }
}

void ArrayArgument::allocate() {
    const py::dtype dtype = py::reinterpret_borrow<py::dtype>(numpy_dtype(view.dtype));
    py::array::ShapeContainer shape(view.shape, view.shape + view.rank);
    const size_t bytes = static_cast<size_t>(view.numel) * data_type_size(view.dtype);
    if (bytes >= kSmallestBlock) {
        if (void* block = take_block(bytes)) {
            py::capsule base;
            try {
                base = py::capsule(block, return_block);
            } catch (...) {
                return_block(block);
                throw;
            }
            py::array array(dtype, std::move(shape), py::array::StridesContainer(), block, base);
            view.data = block;
            owner = std::move(array);
            return;
        }
    }
    py::array array(dtype, std::move(shape));
    view.data = array.mutable_data();
    owner = std::move(array);
}

}  // namespace ascend_grad::python
