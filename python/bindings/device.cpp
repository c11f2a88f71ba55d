#include "device.h"

#include <dlfcn.h>
#include <pybind11/stl.h>
#include <unistd.h>

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

// Name, dtype, shape, strides in bytes.
py::tuple describe_tensor(const Parameter& parameter, const TensorView& view) {
    const int rank = view.stored_rank();  // which a call that returns at once may exceed
    py::tuple shape(rank), strides(rank);
    for (int axis = 0; axis < rank; ++axis) {
        shape[axis] = view.shape[axis];
        strides[axis] = view.strides[axis];
    }
    return py::make_tuple(parameter.name.python, data_type_name(view.dtype), shape, strides);
}

// What plans of all devices say; view(i) is null for a tensor that is not touched.
template <class View>
py::dict describe_call(const OperatorInfo& info, Soc soc, uint64_t workspace_size,
                       const View& view) {
    py::list inputs, outputs;
    for (int i = 0; i < info.tensor_count; ++i) {
        const TensorView* const tensor = view(i);
        if (tensor == nullptr) continue;
        const Parameter& parameter = info.tensors[i];
        (parameter.is_output() ? outputs : inputs).append(describe_tensor(parameter, *tensor));
    }
    py::dict plan;
    plan["operator"] = info.name.python;
    plan["soc"] = soc_info(soc).name;
    plan["inputs"] = inputs;
    plan["outputs"] = outputs;
    plan["workspace_size"] = workspace_size;
    return plan;
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
        const bool is_npu = name_ == "npu", is_built = access(path.c_str(), F_OK) == 0;
        const std::string text =
            is_built
                ? "is built but cannot be loaded: " + error +
                      (is_npu ? "; source CANN's set_env.sh" : "")
                : std::string("is not in this build for ") + soc_info(soc).name + " (no " +
                      path.substr(folder_.size() + 1) + "); use device='cpu', or install with " +
                      (is_npu ? "CANN, see docs/ascend.md" : "ASCEND_GRAD_EMULATOR=ON");
        raise(
            Status{StatusCode::kRuntimeError, operator_name, "device", "'" + name_ + "' " + text});
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
    py::dict plan = describe_call(*call.info, call.soc, call.plan.workspace_size,
                                  [&](int i) { return call.uses(i) ? &call.tensors[i] : nullptr; });
    plan["cores"] = product.cores;
    plan["zeroed_bytes"] = call.plan.zeroed_bytes;
    plan["launches"] = launches;
    return plan;
}

py::dict describe_plan(const OperatorInfo& info, const Arguments& args,
                       const PlanSummary& summary) {
    py::dict plan = describe_call(info, args.soc, summary.workspace_size, [&](int i) {
        return info.tensors[i].role != Role::kDescription ? args.tensors[i] : nullptr;
    });
    plan["moved_bytes"] = summary.moved;
    plan["tasks"] = summary.tasks;
    plan["threads"] = summary.threads();
    plan["copies"] = summary.copies;
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
