#include "dlpack.h"

#include <string>
#include <utility>

#include "errors.h"
#include "views.h"

namespace ascend_grad::python {
namespace {

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
            return type.bits == 4    ? DataType::kInt4
                   : type.bits == 8  ? DataType::kInt8
                   : type.bits == 16 ? DataType::kInt16
                   : type.bits == 32 ? DataType::kInt32
                   : type.bits == 64 ? DataType::kInt64
                                     : DataType::kUndefined;
        case dlpack::kUInt:
            return type.bits == 1    ? DataType::kUInt1
                   : type.bits == 8  ? DataType::kUInt8
                   : type.bits == 16 ? DataType::kUInt16
                   : type.bits == 32 ? DataType::kUInt32
                   : type.bits == 64 ? DataType::kUInt64
                                     : DataType::kUndefined;
        case dlpack::kComplex:
            return type.bits == 32    ? DataType::kComplex32
                   : type.bits == 64  ? DataType::kComplex64
                   : type.bits == 128 ? DataType::kComplex128
                                      : DataType::kUndefined;
        default:
            return DataType::kUndefined;
    }
}

void read_dlpack_tensor(TensorView& view, const dlpack::Tensor& tensor, const Context& context) {
    const int32_t device = tensor.device.type;
    if (device != dlpack::kCpu && device != dlpack::kCudaHost && device != dlpack::kRocmHost) {
        raise_type_error(
            context.operator_name, context.parameter,
            "an array in CPU memory is needed, got one on DLPack device type " +
                std::to_string(device) + "; copy it to the CPU first" +
                (device == dlpack::kExtension ? for_device_memory(context.operator_name) : ""));
    }
    view.dtype = dtype_of_dlpack(tensor.dtype);
    if (view.dtype == DataType::kUndefined) {
        view.dtype_name =
            tensor.dtype.lanes != 1 ? "a DLPack dtype of several lanes" : "an unknown DLPack dtype";
    }
    const int64_t size = (int64_t{tensor.dtype.bits} * tensor.dtype.lanes + 7) / 8;
    set_shape(view, tensor.rank, tensor.shape, tensor.strides, size);
    if (tensor.data == nullptr && !view.is_empty()) {
        raise_invalid(context.operator_name, context.parameter,
                      "must have memory for its elements, got a null address");
    }
    view.data =
        reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(tensor.data) + tensor.byte_offset);
}

template <class Managed>
py::capsule own(Managed* managed) {
    return py::capsule(managed, [](void* pointer) {
        auto* owned = static_cast<Managed*>(pointer);
        if (owned->deleter != nullptr) owned->deleter(owned);
    });
}
template <class Managed>
py::capsule take_over(py::capsule& capsule, Managed* managed, const char* used_name) {
    capsule.set_name(used_name);
    return own(managed);
}

// The C functions of an object's type; null where it has none of its own (a subclass may export
// something else).
const dlpack::ExchangeApi* exchange_api_of(py::handle object) {
    static PyObject* const name = PyUnicode_InternFromString("__dlpack_c_exchange_api__");
    PyObject* const dict = Py_TYPE(object.ptr())->tp_dict;
    PyObject* const capsule = dict != nullptr ? PyDict_GetItemWithError(dict, name) : nullptr;
    if (capsule == nullptr || !PyCapsule_IsValid(capsule, dlpack::kExchangeApiName)) {
        PyErr_Clear();
        return nullptr;
    }
    const auto* api = static_cast<const dlpack::ExchangeApi*>(
        PyCapsule_GetPointer(capsule, dlpack::kExchangeApiName));
    return api->version.major == 1 ? api : nullptr;
}

// Whether what was got of an object is true. One that has no such attribute, or another kind of it,
// gives false; other errors go on.
bool is_true(PyObject* given) {
    if (given == nullptr) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError) &&
            !PyErr_ExceptionMatches(PyExc_TypeError))
            throw py::error_already_set();
        PyErr_Clear();
        return false;
    }
    const py::object value = py::reinterpret_steal<py::object>(given);
    return value.is(py::handle(Py_True));
}
// Of torch's tensors: __dlpack__ refuses such, the C functions do not.
bool requires_grad(py::handle object) {
    static PyObject* const name = PyUnicode_InternFromString("requires_grad");
    return is_true(PyObject_GetAttr(object.ptr(), name));
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

py::capsule capsule_of(py::handle object, const Context& context) {
    py::object given;
    try {
        given = request_dlpack(object);
    } catch (py::error_already_set& error) {
        raise_refusal(error, object, "__dlpack__", context);
    }
    if (!py::isinstance<py::capsule>(given)) {
        raise_type_error(context.operator_name, context.parameter,
                         std::string("__dlpack__ must return a DLPack capsule, got ") +
                             Py_TYPE(given.ptr())->tp_name);
    }
    return py::reinterpret_borrow<py::capsule>(given);
}

// A capsule without a version cannot say whether the array may be written. As in NumPy, it may not
// (JAX exports its immutable arrays so), unless the exporter hands out the address of its memory,
// as torch's tensors do, of which older versions know no other capsule.
void require_writable_unversioned(const Context& context, py::handle object) {
    if (!context.is_output || py::hasattr(object, "data_ptr")) return;
    raise_invalid(context.operator_name, context.parameter,
                  std::string("must be writable, which ") + Py_TYPE(object.ptr())->tp_name +
                      " does not say of its memory over DLPack; give a NumPy array");
}

py::object read_versioned(TensorView& view, dlpack::ManagedTensorVersioned* managed,
                          py::object owner, const Context& context) {
    if (managed->version.major != 1) {
        raise_type_error(
            context.operator_name, context.parameter,
            "DLPack version 1 is needed, got " + std::to_string(managed->version.major));
    }
    if (context.is_output && (managed->flags & dlpack::kCopied) != 0) {
        raise_invalid(context.operator_name, context.parameter,
                      "must show its own memory, to be written to, but gives a copy of it over "
                      "DLPack; give a NumPy array");
    }
    require_writable(context, (managed->flags & dlpack::kReadOnly) == 0);
    read_dlpack_tensor(view, managed->tensor, context);
    return owner;
}

// Of torch's tensors: DLPack does not say that their elements stand for the negative ones.
void require_no_lazy_negation(py::handle object, const Context& context) {
    static PyObject* const name = PyUnicode_InternFromString("is_neg");
    if (!is_true(PyObject_CallMethodNoArgs(object.ptr(), name))) return;
    raise_invalid(context.operator_name, context.parameter,
                  "must hold its elements, got a view that negates them; call resolve_neg()");
}

// Null, without an error, where the functions refuse.
dlpack::ManagedTensorVersioned* exchanged(const dlpack::ExchangeApi& api, py::handle object) {
    dlpack::ManagedTensorVersioned* managed = nullptr;
    if (api.export_managed(object.ptr(), &managed) == 0) return managed;
    PyErr_Clear();
    return nullptr;
}

}  // namespace

py::object read_dlpack(TensorView& view, py::handle object, const Context& context) {
    const dlpack::ExchangeApi* api = exchange_api_of(object);
    if (api == nullptr && !py::hasattr(object, "__dlpack__")) return {};
    require_no_lazy_negation(object, context);
    if (api != nullptr && !requires_grad(object)) {
        if (auto* managed = exchanged(*api, object))
            return read_versioned(view, managed, own(managed), context);
    }
    py::capsule capsule = capsule_of(object, context);
    const std::string name = capsule.name() != nullptr ? capsule.name() : "";
    if (name == "dltensor_versioned") {
        auto* managed = capsule.get_pointer<dlpack::ManagedTensorVersioned>();
        py::object owner = take_over(capsule, managed, "used_dltensor_versioned");
        return read_versioned(view, managed, std::move(owner), context);
    }
    if (name == "dltensor") {
        auto* managed = capsule.get_pointer<dlpack::ManagedTensor>();
        require_writable_unversioned(context, object);
        read_dlpack_tensor(view, managed->tensor, context);
        return take_over(capsule, managed, "used_dltensor");
    }
    raise_type_error(context.operator_name, context.parameter,
                     "__dlpack__ gave an unknown capsule '" + name + "'");
}

}  // namespace ascend_grad::python
