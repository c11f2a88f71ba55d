#include "executor.h"

#include <cstdlib>
#include <new>

namespace ascend_grad::python {

void Workspace::Free::operator()(void* pointer) const {
    std::free(pointer);
}

Workspace::Workspace(uint64_t size) {
    if (size == 0) return;
    data_.reset(std::aligned_alloc(64, (size + 63) / 64 * 64));
    if (data_ == nullptr) throw std::bad_alloc();
}

py::object PreparedCall::call() {
    {
        const py::gil_scoped_release release;
        const std::lock_guard<std::mutex> lock(mutex_);
        executor_.run(workspace_.data());
    }
    return results_;
}

void register_executor(py::module_& module) {
    py::class_<PreparedCall>(
        module, "Executor",
        "A checked and planned call. Calling it runs the operator on the arrays it was prepared "
        "with and returns their results.")
        .def_property_readonly("workspace_size", &PreparedCall::workspace_size,
                               "Bytes of scratch memory that a run uses.")
        .def_property_readonly("operator", &PreparedCall::operator_name)
        .def("__call__", &PreparedCall::call)
        .def("__repr__", [](const PreparedCall& self) {
            return std::string("<ascend_grad.Executor of ") + self.operator_name() +
                   ", workspace " + std::to_string(self.workspace_size()) + " bytes>";
        });
}

}  // namespace ascend_grad::python
