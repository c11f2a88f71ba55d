#include "views.h"

#include <string>

#include "errors.h"

namespace ascend_grad::python {

void require_writable(const Context& context, bool writable) {
    if (context.is_output && !writable) {
        raise_invalid(context.operator_name, context.parameter,
                      "must be writable, got a read-only array");
    }
}

void raise_refusal(py::error_already_set& error, py::handle object, const char* protocol,
                   const Context& context) {
    if (!error.matches(PyExc_Exception) || error.matches(PyExc_MemoryError)) throw;
    const std::string reason = py::str(error.value());
    const std::string text = std::string(context.operator_name) + ": " + context.parameter +
                             ": an array that shows its CPU memory is needed, but " +
                             Py_TYPE(object.ptr())->tp_name + "." + protocol + " fails: " + reason;
    py::raise_from(error, PyExc_TypeError, text.c_str());
    throw py::error_already_set();
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

}  // namespace ascend_grad::python
