// A checked call with its plan for a device: what a device library runs.
#pragma once

#include "core/check.h"
#include "core/log.h"
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

// More elements, which only strides of 0 can reach, would need copies that no memory holds. Offsets
// and sizes of plans then fit 63 bits.
inline constexpr int64_t kMaxElements = int64_t{1} << 56;

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
        if (!call.present[i]) continue;
        call.tensors[i] = *args.tensors[i];
        if (call.tensors[i].numel > kMaxElements) {
            return Checker(*call.info, args)
                .invalid(i, "must have at most 2^56 elements on a device, got shape " +
                                shape_text(call.tensors[i]));
        }
    }
    call.plan = Plan{};
    ASCEND_GRAD_TRY(Operator::device_plan(args, product, call.plan));
    if (log_is_debug()) log_call(*call.info, args, summary_of(call.plan));
    return {};
}

}  // namespace ascend_grad::device
