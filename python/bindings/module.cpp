#include <pybind11/pybind11.h>

#include <string>

#include "arrays.h"
#include "attributes.h"
#include "core/parallel.h"
#include "device.h"
#include "errors.h"
#include "executor.h"
#include "function.h"
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
#ifdef ASCEND_GRAD_CANN
    m.attr("cann") = ASCEND_GRAD_CANN;
#else
    m.attr("cann") = py::none();
#endif
    m.attr("emulator") = bool{ASCEND_GRAD_EMULATOR};
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
    m.def("raise_error", [](int code, const std::string& operator_name,
                            const std::string& parameter, const std::string& text) {
        raise(
            Status{static_cast<StatusCode>(code), operator_name.c_str(), parameter.c_str(), text});
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
    register_device(m);
    register_executor(m);
    register_operators(m);
    register_function(m);
}

}  // namespace ascend_grad::python
