// Devices other than the CPU: their libraries, loaded when a call first asks for one.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <string>

#include "launch/library.h"

namespace ascend_grad::python {

namespace py = pybind11;

class Device {
  public:
    // `stream`: a number for arrays that lie in the device's memory, none for the host's.
    Device(std::string name, std::string folder, std::optional<uint64_t> stream)
        : name_(std::move(name)), folder_(std::move(folder)), stream_(stream) {}

    bool holds_arrays() const { return stream_.has_value(); }
    // What kernels are planned for. Raises RuntimeUnavailableError without such a device.
    device::Product product(Soc soc, const char* operator_name) const;
    // Without the interpreter's lock.
    Status run(const device::Call& call) const;

  private:
    const launch::Library& library(Soc soc, const char* operator_name) const;

    std::string name_, folder_;
    std::optional<uint64_t> stream_;
};

// The Device of a device's name, or of None, the default; itself of a Device. None for the CPU.
py::object find_device(py::handle object, const char* operator_name);

// An array in a device's memory.
struct DeviceArray {
    TensorView view;
};
void register_device_array(py::module_& module);

// Plans as Python's numbers, names and lists.
py::dict describe_plan(const device::Call& call, const device::Product& product);
py::dict describe_plan(const OperatorInfo& info, const Arguments& args, const PlanSummary& summary);

void register_device(py::module_& module);

}  // namespace ascend_grad::python
