// A call between its two phases, and what the four operators' functions share.
#pragma once

#include <atomic>

#include "capi/memory.h"
#include "capi/objects.h"
#include "core/executor.h"
#include "core/soc.h"

namespace ascend_grad::capi {

// Where a view's tensor lies.
struct Placement {
    const aclTensor* handle = nullptr;
    std::shared_ptr<const Tensor> tensor;  // as it was when last looked at
    char* base = nullptr;                  // of the storage
    Extent extent;
    bool is_sound = false;       // nothing is wrong with the view but, perhaps, its address
    bool was_allocated = false;  // base lay in a block of ours when it was last looked at
};

class Call {
  public:
    Call(const OperatorInfo& info, Arguments& args) : info_(info), args_(args) {}
    virtual ~Call() = default;
    Call(const Call&) = delete;

    // Phase 1. A null handle stays absent; of others the description is copied. After an error the
    // rest is ignored.
    void set(int index, const aclTensor* handle);
    void set(const char* parameter, const aclIntArray* handle, const IntArray*& array);
    Status prepare();

    // Phase 2.
    int run(void* workspace, uint64_t workspace_size, aclrtStream stream);

    const OperatorInfo& info() const { return info_; }
    uint64_t workspace_size() const;
    // The base address of every tensor that was given as `handle`.
    Status set_address(const char* function, int index, const aclTensor* handle, void* address);

    // In a forked child, where another thread's run may have been left in the middle.
    void restart();

    std::atomic<bool> is_repeatable{false};

  protected:
    virtual Status plan() = 0;  // checks and plans with the views as they are
    Executor executor_;

  private:
    // Takes over the addresses of tensors that still live; fails where one describes something else
    // than in phase 1.
    Status follow_tensors();
    // Brings the views' addresses up to date and takes hold of their memory; true when something
    // changed.
    bool locate(BlockHold* holds);
    ViewDefect defect_at_address(int index, BlockHold& hold);

    const OperatorInfo& info_;
    Arguments& args_;
    Status status_;
    TensorView views_[kMaxTensors];
    Placement placements_[kMaxTensors];
    std::vector<std::shared_ptr<const IntList>> arrays_;
    bool is_planned_ = false;
    std::mutex mutex_;  // of one run at a time
};

template <class Operator>
class OperatorCall final : public Call {
  public:
    OperatorCall() : Call(Operator::info(), args) {
        args.interface = Interface::kC;
        args.soc = default_soc();
    }
    typename Operator::Args args;

  private:
    Status plan() override { return make_executor<Operator>(args, executor_); }
};

HandleTable<Call>& executors();

// The common frame of phase 1.
Status check_results(const OperatorInfo& info, const uint64_t* workspace_size,
                     aclOpExecutor* const* executor);
Status finish_phase_one(const std::shared_ptr<Call>& call, uint64_t* workspace_size,
                        aclOpExecutor** executor);

// Phase 1: fill(call) sets tensors and attributes.
template <class Operator, class Fill>
aclnnStatus get_workspace_size(uint64_t* workspace_size, aclOpExecutor** executor,
                               const Fill& fill) {
    return guarded(Operator::info().name.c, kAclnnCodes, [&](const char*) -> int {
        const Status status = check_results(Operator::info(), workspace_size, executor);
        if (!status.ok()) return report(status);
        const auto call = std::make_shared<OperatorCall<Operator>>();
        fill(*call);
        return report(finish_phase_one(call, workspace_size, executor));
    });
}

// Phase 2 of any operator.
aclnnStatus run(const OperatorInfo& info, void* workspace, uint64_t workspace_size,
                aclOpExecutor* executor, aclrtStream stream);

}  // namespace ascend_grad::capi
