// A checked and planned call, ready to run any number of times: what both entries make in their
// first phase.
#pragma once

#include <new>
#include <type_traits>

#include "core/log.h"
#include "core/operator.h"

namespace ascend_grad {

struct Executor {
    static constexpr size_t kPlanBytes = 1664;

    const OperatorInfo* info = nullptr;
    uint64_t workspace_size = 0;        // bytes, to be aligned to 64
    int64_t moved_bytes = 0;            // to and from memory
    void* addresses[kMaxTensors] = {};  // of element 0, in prototype order; null where absent
    void (*run_plan)(const void* plan, void* const* addresses, void* workspace) = nullptr;
    alignas(16) unsigned char plan[kPlanBytes];

    // Writes the outputs; allocates nothing and writes nothing else but the workspace.
    void run(void* workspace) const { run_plan(plan, addresses, workspace); }
};

// What of a plan has its tasks, most_threads and panels: the plan itself or its sums.
template <class Plan>
auto work_of(const Plan& plan, int) -> decltype((plan.tasks, plan)) {
    return plan;
}
template <class Plan>
auto work_of(const Plan& plan, long) -> decltype((plan.sums)) {
    return plan.sums;
}

template <class Plan>
PlanSummary summary_of(const Plan& plan) {
    const auto& work = work_of(plan, 0);
    const char* copies = work.panels.count > 0 ? work.panels.copies()
                         : work.is_direct()    ? ""
                                               : "operands in tiles";
    return {plan.workspace_size, plan.bytes, work.tasks, work.most_threads, copies};
}

// check -> plan. `Operator` has types Args (derived from Arguments) and Plan (plain data with
// workspace_size), and functions info(), check(args), plan(args), run(plan, addresses, workspace).
template <class Operator>
Status make_executor(const typename Operator::Args& args, Executor& executor) {
    using Plan = typename Operator::Plan;
    static_assert(sizeof(Plan) <= Executor::kPlanBytes && std::is_trivially_copyable_v<Plan>);
    ASCEND_GRAD_TRY(Operator::check(args));
    const Plan* plan = new (executor.plan) Plan(Operator::plan(args));
    executor.info = &Operator::info();
    executor.workspace_size = plan->workspace_size;
    executor.moved_bytes = plan->bytes;
    for (int i = 0; i < executor.info->tensor_count; ++i) {
        executor.addresses[i] = args.tensors[i] != nullptr ? args.tensors[i]->data : nullptr;
    }
    if (log_is_debug()) log_plan(*executor.info, args, summary_of(*plan));
    executor.run_plan = [](const void* data, void* const* addresses, void* workspace) {
        Operator::run(*static_cast<const Plan*>(data), addresses, workspace);
    };
    return {};
}

}  // namespace ascend_grad
