#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "arrays.h"
#include "core/parallel.h"
#include "core/soc.h"
#include "executor.h"
#include "isa/environment.h"
#include "ops.h"

namespace ascend_grad::python {
namespace {

py::list available_isas() {
    py::list names;
    for (int i = 0; i < kIsaCount; ++i) {
        if (isa_is_available(static_cast<Isa>(i))) names.append(isa_name(static_cast<Isa>(i)));
    }
    return names;
}

void register_settings(py::module_& m) {
    m.attr("version") = ASCEND_GRAD_VERSION;
    m.attr("compiler") = ASCEND_GRAD_COMPILER;
    m.attr("openmp") = has_openmp();
    m.attr("isa") = isa_name(environment().isa);
    m.attr("isa_available") = available_isas();
    m.attr("environment_error") = environment().error;
    m.def("thread_limit", thread_limit);
    m.def("set_thread_limit", set_thread_limit);
    m.def("thread_setting", thread_setting);
    m.def("get_soc", [] { return soc_info(default_soc()).name; });
    m.def("set_soc", [](const py::object& name) {
        const SocInfo* info = soc_of(name);
        if (info != nullptr) set_default_soc(info->soc);
        return info != nullptr;
    });
    m.def("soc_names", [] {
        py::list names;
        for (int i = 0; i < kSocCount; ++i) names.append(soc_info(static_cast<Soc>(i)).name);
        return names;
    });
}

}  // namespace

PYBIND11_MODULE(_core, m) {
    initialise_arrays();
    set_default_soc(environment().soc);
    register_settings(m);
    register_executor(m);
    register_operators(m);
}

}  // namespace ascend_grad::python
