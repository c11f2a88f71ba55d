// From Python's arrays to a checked and planned call of an operator.
#pragma once

#include <memory>
#include <string>
#include <type_traits>

#include "arrays.h"
#include "attributes.h"
#include "core/check.h"
#include "device/product.h"
#include "errors.h"
#include "executor.h"
#include "ops/ops.h"

namespace ascend_grad::python {

// The arrays of one call and the way from them to the operator.
template <class Op>
class Call {
  public:
    typename Op::Args args;

    Call(py::handle device, py::handle soc)
        : device_object_(find_device(device, name())),
          device_(device_object_.is_none() ? nullptr : device_object_.cast<const Device*>()) {
        args.interface = Interface::kPython;
        args.soc = default_soc();
        args.is_on_device = device_ != nullptr && device_->holds_arrays();
        if (soc.is_none()) return;
        const SocInfo* info = soc_of(soc);
        if (info == nullptr) {
            raise_invalid(name(), "soc",
                          std::string("must be one of ") + soc_names() + ", got " +
                              py::repr(soc).cast<std::string>());
        }
        args.soc = info->soc;
    }
    static const char* name() { return Op::info().name.python; }

    void set(int index, py::handle object) {
        if (object.is_none()) return;
        const Parameter& parameter = Op::info().tensors[index];
        if (device_ != nullptr && device_->holds_arrays()) {
            arrays_[index].assign_device(object, name(), parameter.name.python);
        } else {
            arrays_[index].assign(object, name(), parameter.name.python, parameter.is_output());
        }
        TensorView& view = arrays_[index].view;
        view.format = args.untagged(view.rank);
        args.tensors[index] = &view;
        if (parameter.is_output()) given_[index] = object;
    }

    // Of an attribute without a default, once the arrays are set: where one of these is missing, it
    // comes first, and the check says so.
    void require(py::handle object, const char* parameter) const {
        if (!object.is_none() || !has_inputs()) return;
        raise(Checker(Op::info(), args).not_null(Name{parameter, parameter}, true));
    }

    // Runs the call; results in prototype order, None where not wanted.
    void run(py::object* results) {
        if (device_ != nullptr) return make_device_run(results).run();
        Executor executor;
        make_executor(executor, results);
        Workspace workspace(executor.workspace_size);
        run_on_cpu(executor, [&] { executor.run(workspace.data()); });
    }
    std::unique_ptr<PreparedCall> prepare(py::object* results, py::object (*combine)(py::object*)) {
        std::unique_ptr<PreparedCall> prepared;
        if (device_ != nullptr) {
            DeviceRun run = make_device_run(results);
            prepared = std::make_unique<PreparedCall>(std::move(run), combine(results), owners());
        } else {
            Executor executor;
            make_executor(executor, results);
            prepared = std::make_unique<PreparedCall>(CpuRun(executor), combine(results), owners());
        }
        return prepared;
    }
    // The plan for the CPU or for the product's device, whether or not there is one here.
    py::dict explain() {
        describe_outputs();
        if (device_ == nullptr) {
            const Status status = Op::check(args);
            if (!status.ok()) raise(status);
            return describe_plan(Op::info(), args, summary_of(Op::plan(args)));
        }
        const device::Product product = device::product_of(args.soc);
        return describe_plan(*plan_for(product), product);
    }

  private:
    // Checks and plans with the arrays given and descriptions of those that are not, then makes the
    // latter.
    void make_executor(Executor& executor, py::object* results) {
        describe_outputs();
        const Status status = ascend_grad::make_executor<Op>(args, executor);
        if (!status.ok()) raise(status);
        make_results(results, [&](int i, void* data) { executor.addresses[i] = data; });
    }
    DeviceRun make_device_run(py::object* results) {
        describe_outputs();
        std::unique_ptr<device::Call> call = plan_for(device_->product(args.soc, name()));
        make_results(results, [&](int i, void* data) { call->tensors[i].data = data; });
        return {*device_, std::move(call)};
    }
    py::list owners() const {
        py::list all;
        for (const ArrayArgument& array : arrays_) {
            if (array.owner) all.append(array.owner);
        }
        return all;
    }
    std::unique_ptr<device::Call> plan_for(const device::Product& product) const {
        auto call = std::make_unique<device::Call>();
        const Status status = device::make_call<Op>(args, product, *call);
        if (!status.ok()) raise(status);
        return call;
    }
    bool has_inputs() const {
        for (int i = 0; i < Op::kFirstOutput; ++i) {
            if (args.tensors[i] == nullptr && !is_optional(i)) return false;
        }
        return true;
    }
    void describe_outputs() {
        if (!has_inputs()) return;
        // Memory of a device is the caller's: there, a missing output is an error.
        if (device_ != nullptr && device_->holds_arrays()) return;
        for (int i = Op::kFirstOutput; i < Op::info().tensor_count; ++i) {
            if (args.tensors[i] != nullptr || !args.wants(i)) continue;
            arrays_[i].view = Op::describe_output(args, i);
            arrays_[i].view.is_described = true;
            args.tensors[i] = &arrays_[i].view;
        }
    }
    template <class SetAddress>
    void make_results(py::object* results, const SetAddress& set_address) {
        for (int i = Op::kFirstOutput; i < Op::info().tensor_count; ++i) {
            py::object& result = results[i - Op::kFirstOutput];
            if (!args.wants(i)) {
                result = py::none();
            } else if (given_[i]) {
                result = py::reinterpret_borrow<py::object>(given_[i]);
            } else {
                arrays_[i].allocate();
                set_address(i, arrays_[i].view.data);
                result = arrays_[i].owner;
            }
        }
    }
    static bool is_optional(int index) {
        if constexpr (std::is_same_v<Op, BatchNormReduceBackward>) return index == Op::kWeight;
        return false;
    }

    const py::object device_object_;
    const Device* const device_;  // null for the CPU
    ArrayArgument arrays_[kMaxTensors];
    py::handle given_[kMaxTensors];  // of the caller
};

}  // namespace ascend_grad::python
