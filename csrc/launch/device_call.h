// A call of the C interfaces on device memory, from the caller's description of tensors to its
// plan.
#pragma once

#include <exception>
#include <utility>

#include "device/product.h"
#include "launch/runner.h"
#include "ops/ops.h"

namespace ascend_grad::launch {

// The code of body(), a Status whose message becomes this thread's latest: no exception leaves it.
template <class Body>
int32_t guarded(const char* function, const Body& body) noexcept {
    const auto report = [](const Status& status) {
        set_error_message(status);
        return static_cast<int32_t>(status.code());
    };
    try {
        try {
            return report(body());
        } catch (const std::exception& error) {
            return report({StatusCode::kInner, function, "", error.what()});
        }
    } catch (...) {  // no memory for the message either
        return static_cast<int32_t>(StatusCode::kInner);
    }
}

template <class Op>
class DeviceCall {
  public:
    typename Op::Args args;

    DeviceCall() {
        args.interface = Interface::kC;
        args.soc = library_soc();
        args.is_on_device = true;
    }
    DeviceCall(const DeviceCall&) = delete;

    // Attributes come first: a tensor that they do not want is not looked at, and a null one is
    // absent. read(tensor, view) is false for what cannot be read.
    template <class Handle, class Read>
    void set(int index, const Handle* tensor, const Read& read) {
        if (tensor == nullptr || !args.wants(index) || !status_.ok()) return;
        if (!read(*tensor, views_[index])) return refuse(Op::info().tensors[index].name.c);
        args.tensors[index] = &views_[index];
    }
    void refuse(const char* parameter) {
        status_ = {StatusCode::kParamInvalid, Op::info().name.c, parameter,
                   "cannot be read: it must be a whole description that is still alive"};
    }
    // check -> plan
    Status plan(device::Call& call) {
        if (!status_.ok()) return std::move(status_);
        uint32_t cores = 0;
        ASCEND_GRAD_TRY(core_count(cores));
        return device::make_call<Op>(args, device::product_of(args.soc, cores), call);
    }

  private:
    Status status_;
    TensorView views_[kMaxTensors];
};

}  // namespace ascend_grad::launch
