#include <string>
#include <vector>

#include "attributes.h"
#include "core/check.h"
#include "device.h"
#include "errors.h"
#include "instances.h"
#include "views.h"

namespace ascend_grad::python {
namespace {

constexpr const char* kName = "DeviceArray";  // as messages say

int64_t size_of(const DeviceArray& array) {
    return data_type_size(array.view.dtype);
}

std::vector<int64_t> extents_of(const py::object& object, const char* parameter) {
    const bool has_items = PySequence_Check(object.ptr()) && !PyUnicode_Check(object.ptr());
    const py::object items =
        py::reinterpret_steal<py::object>(has_items ? PySequence_Tuple(object.ptr()) : nullptr);
    if (!items) {
        PyErr_Clear();
        raise_type_error(
            kName, parameter,
            std::string("a sequence of ints is needed, got ") + Py_TYPE(object.ptr())->tp_name);
    }
    std::vector<int64_t> extents;
    for (const py::handle item : items) extents.push_back(to_int(item, kName, parameter));
    return extents;
}

DeviceArray make_device_array(const py::object& pointer, const py::object& shape_object,
                              const py::object& dtype, const py::object& strides_object) {
    constexpr DataType kKnown[] = {DataType::kFloat32, DataType::kFloat16, DataType::kBFloat16};
    DeviceArray array;
    const int64_t address = to_int(pointer, kName, "pointer");
    if (address < 0)
        raise_invalid(kName, "pointer", "must be an address, got " + std::to_string(address));
    for (DataType known : kKnown)
        if (dtype.equal(py::str(data_type_name(known)))) array.view.dtype = known;
    if (array.view.dtype == DataType::kUndefined)
        raise_invalid(
            kName, "dtype",
            "must be float32, float16 or bfloat16, got " + py::repr(dtype).cast<std::string>());
    const std::vector<int64_t> shape = extents_of(shape_object, "shape");
    const std::string shape_text = to_string(shape.data(), static_cast<int>(shape.size()));
    if (shape.size() > static_cast<size_t>(kMaxRank))
        raise_invalid(kName, "shape", "must have at most 8 axes, got " + shape_text);
    for (int64_t extent : shape)
        if (extent < 0) raise_invalid(kName, "shape", "must not be negative, got " + shape_text);
    std::vector<int64_t> strides;
    if (!strides_object.is_none()) {
        strides = extents_of(strides_object, "strides");
        if (strides.size() != shape.size())
            raise_invalid(kName, "strides",
                          "must be one per axis of shape " + shape_text + ", got " +
                              to_string(strides.data(), static_cast<int>(strides.size())));
    }
    set_shape(array.view, static_cast<int64_t>(shape.size()), shape.data(),
              strides_object.is_none() ? nullptr : strides.data(), size_of(array));
    set_address(array.view, reinterpret_cast<void*>(address));
    return array;
}

std::string represent(const DeviceArray& array) {
    const TensorView& view = array.view;
    py::tuple shape(view.rank), strides(view.rank);
    for (int axis = 0; axis < view.rank; ++axis) {
        shape[axis] = view.shape[axis];
        strides[axis] = view.strides[axis] / size_of(array);
    }
    return py::str("DeviceArray({:#x}, shape={}, dtype='{}', strides={})")
        .format(reinterpret_cast<uint64_t>(view.data), shape, data_type_name(view.dtype), strides);
}

}  // namespace

void register_device_array(py::module_& module) {
    py::class_<DeviceArray>(
        module, "DeviceArray",
        "Memory of a device as an array: address of the first element, shape, dtype "
        "(\"float32\", \"float16\" or \"bfloat16\") and strides in elements (None: contiguous).")
        .def(py::init(&make_device_array), py::arg("pointer"), py::arg("shape"), py::arg("dtype"),
             py::arg("strides") = py::none())
        .def("__repr__", represent);
    refuse_bare_new(module.attr("DeviceArray"));
}

}  // namespace ascend_grad::python
