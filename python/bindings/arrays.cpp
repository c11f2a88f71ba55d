#include "arrays.h"

#include <string>
#include <utility>

#include "blocks.h"
#include "device.h"
#include "errors.h"
#include "views.h"

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

void read_numpy(TensorView& view, py::handle array, const Context& context) {
    const auto* fields = py::detail::array_proxy(array.ptr());
    const auto* descr = py::detail::array_descriptor_proxy(fields->descr);
    view.dtype = dtype_of_number(descr->type_num);
    if (view.dtype == DataType::kUndefined) {
        const std::string not_numbers = "OSUMmT";
        const py::object dtype = array.attr("dtype");
        const bool is_bfloat16_of_a_file =
            dtype.attr("names").is_none() && dtype.attr("str").cast<std::string>() == "|V2";
        view.dtype_name = is_bfloat16_of_a_file
                              ? "V2 (bfloat16 as NumPy's files hold it? .view(ml_dtypes.bfloat16))"
                              : reinterpret_cast<PyTypeObject*>(descr->typeobj)->tp_name;
        if (not_numbers.find(descr->kind) != std::string::npos) {
            raise_type_error(context.operator_name, context.parameter,
                             std::string("an array of numbers is needed, got dtype ") +
                                 py::str(array.attr("dtype")).cast<std::string>());
        }
    }
    if (descr->byteorder == '>' || (descr->byteorder == '<' && PY_BIG_ENDIAN)) {
        raise_invalid(context.operator_name, context.parameter,
                      "must have the machine's byte order, got dtype " +
                          py::str(array.attr("dtype")).cast<std::string>());
    }
    require_writable(
        context, py::detail::check_flags(array.ptr(), py::detail::npy_api::NPY_ARRAY_WRITEABLE_));
    static_assert(sizeof(Py_intptr_t) == sizeof(int64_t));
    set_shape(view, fields->nd, reinterpret_cast<const int64_t*>(fields->dimensions),
              reinterpret_cast<const int64_t*>(fields->strides), 1);
    view.data = fields->data;
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

// Whether the object has NumPy's array interface, in Python or in C.
bool has_array_interface(py::handle object, const Context& context) {
    for (const char* protocol : {"__array_interface__", "__array_struct__"}) {
        try {
            const py::object found = object.attr(protocol);
            return true;
        } catch (py::error_already_set& error) {
            if (!error.matches(PyExc_AttributeError))
                raise_refusal(error, object, protocol, context);
        }
    }
    return false;
}

// Gives the block back once nothing refers to it.
py::object owner_of(Block block) {
    const PyCapsule_Destructor give_back = [](PyObject* capsule) {
        void* size = PyCapsule_GetContext(capsule);
        return_block({PyCapsule_GetPointer(capsule, nullptr), reinterpret_cast<size_t>(size)});
    };
    PyObject* capsule = PyCapsule_New(block.address, nullptr, give_back);
    if (capsule == nullptr) {
        return_block(block);
        throw py::error_already_set();
    }
    PyCapsule_SetContext(capsule, reinterpret_cast<void*>(block.size));
    return py::reinterpret_steal<py::object>(capsule);
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
    const bool is_ndarray = py::type::handle_of(object).is(g_numpy->ndarray);
    if (is_ndarray || py::isinstance<py::array>(object)) {
        if (!is_ndarray && py::isinstance(object, g_numpy->masked_array())) {
            raise_type_error(operator_name, parameter,
                             "a masked array is not supported; fill it first");
        }
        owner = py::reinterpret_borrow<py::object>(object);
        read_numpy(view, object, context);
    } else if (py::object exporter = read_dlpack(view, object, context)) {
        owner = std::move(exporter);
    } else if (is_output && py::isinstance(object, g_numpy->scalar)) {
        raise_type_error(operator_name, parameter,
                         "a scalar has no memory to write to; give an array");
    } else if (has_array_interface(object, context)) {
        try {
            owner = g_numpy->asarray(object);
        } catch (py::error_already_set& error) {
            raise_refusal(error, object, "__array_interface__", context);
        }
        read_numpy(view, owner, context);
    } else {
        raise_type_error(
            operator_name, parameter,
            std::string("an array is needed (NumPy, DLPack or array interface), got ") +
                Py_TYPE(object.ptr())->tp_name +
                (py::isinstance<DeviceArray>(object) ? for_device_memory(operator_name) : ""));
    }
}

void ArrayArgument::assign_device(py::handle object, const char* operator_name,
                                  const char* parameter) {
    if (!py::isinstance<DeviceArray>(object)) {
        raise_type_error(
            operator_name, parameter,
            std::string("a torch_npu tensor or ascend_grad.npu.DeviceArray is needed, got ") +
                Py_TYPE(object.ptr())->tp_name +
                "; for arrays in the host's memory call ascend_grad." + operator_name +
                " with the same device");
    }
    owner = py::reinterpret_borrow<py::object>(object);
    view = object.cast<const DeviceArray&>().view;
}

void ArrayArgument::allocate() {
    py::dtype dtype = py::reinterpret_borrow<py::dtype>(numpy_dtype(view.dtype));
    const auto bytes = static_cast<size_t>(view.numel * data_type_size(view.dtype));
    if (const Block block = take_block(bytes); block.address != nullptr) {
        const py::object base = owner_of(block);
        py::array::ShapeContainer shape(view.shape, view.shape + view.rank);
        owner =
            py::array(dtype, std::move(shape), py::array::StridesContainer(), block.address, base);
        view.data = block.address;
        return;
    }
    // py::array would make vectors of the extents and strides first.
    const auto& numpy = py::detail::npy_api::get();
    owner = py::reinterpret_steal<py::object>(numpy.PyArray_NewFromDescr_(
        numpy.PyArray_Type_, dtype.release().ptr(), view.rank,
        reinterpret_cast<const Py_intptr_t*>(view.shape), nullptr, nullptr, 0, nullptr));
    if (!owner) throw py::error_already_set();
    view.data = py::detail::array_proxy(owner.ptr())->data;
}

}  // namespace ascend_grad::python
