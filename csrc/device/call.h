// A checked call with its plan for a device: what a device library runs.
#pragma once

#include "core/operator.h"
#include "device/plan.h"

namespace ascend_grad::device {

struct Call {
    const OperatorInfo* info = nullptr;
    Soc soc = kDefaultSoc;
    Interface interface = Interface::kPython;
    bool present[kMaxTensors] = {};
    TensorView tensors[kMaxTensors];  // in prototype order; which memory data names, the user knows
    Plan plan;

    // Whether some launch is given that tensor.
    bool uses(int tensor) const {
        for (int i = 0; i < plan.launch_count; ++i)
            for (int k = 0; k < plan.launches[i].pointer_count; ++k)
                if (plan.launches[i].pointers[k].memory == tensor) return true;
        return false;
    }
};

// check -> plan. `Operator` is as for make_executor, with
// device_plan(args, product, plan), which fills an empty plan.
template <class Operator>
Status make_call(const typename Operator::Args& args, const Product& product, Call& call) {
    ASCEND_GRAD_TRY(Operator::check(args));
    call.info = &Operator::info();
    call.soc = args.soc;
    call.interface = args.interface;
    for (int i = 0; i < call.info->tensor_count; ++i) {
        call.present[i] = args.tensors[i] != nullptr;
        if (call.present[i]) call.tensors[i] = *args.tensors[i];
    }
    call.plan = Plan{};
    return Operator::device_plan(args, product, call.plan);
}

}  // namespace ascend_grad::device
