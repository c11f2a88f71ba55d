#include "device.h"

#include <dlfcn.h>
#include <pybind11/stl.h>

#include <map>

#include "arrays.h"
#include "attributes.h"
#include "device/product.h"
#include "device/strided_copy_plan.h"
#include "errors.h"
#include "executor.h"
#include "instances.h"

namespace ascend_grad::python {
namespace {

// A Device or None, and the function that finds one by name. Never destroyed: the interpreter may
// be gone by then.
py::handle g_default_device;
py::handle g_find_device;

// What the emulator saw in this thread's latest call.
thread_local std::vector<launch::LaunchRecord> t_records;

const launch::Library* load(const std::string& path, std::string& error) {
    static auto* const loaded = new std::map<std::string, const launch::Library*>;
    if (const auto found = loaded->find(path); found != loaded->end()) return found->second;
    void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* const function = handle != nullptr ? dlsym(handle, launch::kGetLibrary) : nullptr;
    if (function == nullptr) {
        error = dlerror();
        return nullptr;
    }
    return (*loaded)[path] = reinterpret_cast<launch::GetLibrary*>(function)();
}

py::list last_launches() {
    py::list launches;
    for (const launch::LaunchRecord& record : t_records) {
        py::dict entry;
        entry["kernel"] = record.kernel;
        entry["blocks"] = record.blocks;
        entry["ok"] = record.ok;
        entry["reports"] = record.reports;
        entry["cycles"] = record.cycles;
        entry["bound_cycles"] = record.bound_cycles;
        entry["microseconds"] = record.microseconds;
        entry["bytes_read"] = record.bytes_read;
        entry["bytes_written"] = record.bytes_written;
        entry["scalar_accesses"] = record.scalar_accesses;
        entry["table"] = record.table;
        launches.append(entry);
    }
    return launches;
}

py::dict describe_launch(const device::Call& call, const device::Launch& launch) {
    py::list pointers;
    for (int i = 0; i < launch.pointer_count; ++i) {
        const device::Pointer& pointer = launch.pointers[i];
        const char* memory = pointer.memory == device::Pointer::kNone ? ""
                             : pointer.memory == device::Pointer::kWorkspace
                                 ? "workspace"
                                 : call.info->tensors[pointer.memory].name.python;
        pointers.append(py::make_tuple(memory, pointer.offset));
    }
    py::dict entry;
    entry["kernel"] = launch.kernel;
    entry["blocks"] = launch.blocks;
    entry["pointers"] = pointers;
    return entry;
}

// Tensors that kernels are given: name, dtype, shape, strides in bytes.
py::list describe_tensors(const device::Call& call, bool outputs) {
    py::list tensors;
    for (int i = 0; i < call.info->tensor_count; ++i) {
        if (!call.uses(i) || call.info->tensors[i].is_output() != outputs) continue;
        const TensorView& view = call.tensors[i];
        py::tuple shape(view.rank), strides(view.rank);
        for (int axis = 0; axis < view.rank; ++axis) {
            shape[axis] = view.shape[axis];
            strides[axis] = view.strides[axis];
        }
        tensors.append(py::make_tuple(call.info->tensors[i].name.python, data_type_name(view.dtype),
                                      shape, strides));
    }
    return tensors;
}

// The kernel that copies between strided memory, by itself.
void copy_on_device(const py::object& source, const py::object& target, const py::object& soc,
                    const Device& device) {
    static const OperatorInfo info{
        {"strided_copy", "strided_copy"},
        0,
        2,
        {{{"source", "source"}, Role::kInput}, {{"target", "target"}, Role::kOutput}}};
    ArrayArgument arrays[2];
    arrays[0].assign(source, info.name.python, "source", false);
    arrays[1].assign(target, info.name.python, "target", true);
    device::Call call;
    call.info = &info;
    const SocInfo* const known = soc_of(soc);
    if (known == nullptr) raise_invalid(info.name.python, "soc", "must be a product's name");
    call.soc = known->soc;
    for (int i = 0; i < 2; ++i) {
        call.present[i] = true;
        call.tensors[i] = arrays[i].view;
    }
    const device::Product product = device.product(call.soc, info.name.python);
    device::Launch& launch = call.plan.launches[0];
    launch.kernel = device::strided_copy_kernel(arrays[0].view.dtype, arrays[1].view.dtype);
    if (launch.kernel == nullptr)
        raise_invalid(info.name.python, "source", "must have a dtype of kernels, as must target");
    launch.pointer_count = 2;
    launch.pointers[0] = {0, 0};
    launch.pointers[1] = {1, 0};
    launch.set_tiling(
        device::tile_strided_copy(arrays[0].view, arrays[1].view, true, product, launch.blocks));
    call.plan.launch_count = 1;
    const Status status = device.run(call);
    if (!status.ok()) raise(status);
}

}  // namespace

const launch::Library& Device::library(Soc soc, const char* operator_name) const {
    const std::string path =
        folder_ + "/libascend_grad_" + name_ + "_" + device::family_of(soc) + ".so";
    std::string error;
    const launch::Library* const found = load(path, error);
    if (found == nullptr) {
        raise(Status{StatusCode::kRuntimeError, operator_name, "device",
                     "this build has no device '" + name_ + "' for " + soc_info(soc).name +
                         ", but always cpu (" + error + ")"});
    }
    return *found;
}

device::Product Device::product(Soc soc, const char* operator_name) const {
    uint32_t cores = 0;
    const Status status = library(soc, operator_name).core_count(cores);
    if (!status.ok()) raise(Status{status.code(), operator_name, "device", status.text()});
    return device::product_of(soc, cores);
}

Status Device::run(const device::Call& call) const {
    const launch::Library& here = library(call.soc, call.info->name.python);
    t_records.clear();
    Status status;
    run_unlocked([&] {
        status = stream_ ? here.run_on_device_memory(call, reinterpret_cast<void*>(*stream_))
                         : here.run_on_host_memory(call, &t_records);
    });
    return status;
}

py::object find_device(py::handle object, const char* operator_name) {
    if (object.is_none()) return py::reinterpret_borrow<py::object>(g_default_device);
    if (py::isinstance<Device>(object)) return py::reinterpret_borrow<py::object>(object);
    return g_find_device(object, operator_name);
}

py::dict describe_plan(const device::Call& call, const device::Product& product) {
    py::list launches;
    for (int i = 0; i < call.plan.launch_count; ++i)
        launches.append(describe_launch(call, call.plan.launches[i]));
    py::dict plan;
    plan["operator"] = call.info->name.python;
    plan["soc"] = soc_info(call.soc).name;
    plan["inputs"] = describe_tensors(call, false);
    plan["outputs"] = describe_tensors(call, true);
    plan["cores"] = product.cores;
    plan["workspace_size"] = call.plan.workspace_size;
    plan["zeroed_bytes"] = call.plan.zeroed_bytes;
    plan["launches"] = launches;
    return plan;
}

void register_device(py::module_& module) {
    py::class_<Device>(module, "Device")
        .def(py::init<std::string, std::string, std::optional<uint64_t>>(), py::arg("name"),
             py::arg("folder"), py::arg("stream") = py::none());
    refuse_bare_new(module.attr("Device"));
    module.def("set_devices", [](py::object by_default, py::function find) {
        g_default_device = by_default.release();
        g_find_device = find.release();
    });
    register_device_array(module);
    module.def("copy_on_device", copy_on_device);
    module.def("last_launches", last_launches,
               "What the emulator saw of the kernels of this thread's latest call.");
}

}  // namespace ascend_grad::python
