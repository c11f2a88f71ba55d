// Python objects as attributes of operators.
#pragma once

#include <pybind11/pybind11.h>

#include "core/soc.h"
#include "ops/avg_pool2d_backward/op.h"

namespace ascend_grad::python {

namespace py = pybind11;

// The product that a str names; null for anything else.
const SocInfo* soc_of(py::handle name);

int64_t to_int(py::handle object, const char* operator_name, const char* parameter);
// True, False, NumPy's, or an int.
bool to_bool(py::handle object, const char* operator_name, const char* parameter);

// None, an int, or a sequence of ints.
class IntArrayArgument {
  public:
    IntArrayArgument(py::handle object, const char* operator_name, const char* parameter);
    const IntArray* get() const { return is_null_ ? nullptr : &array_; }

  private:
    static constexpr int kCapacity = 2;  // a longer one is refused by its length
    bool is_null_;
    int64_t values_[kCapacity] = {};
    IntArray array_;
};

}  // namespace ascend_grad::python
