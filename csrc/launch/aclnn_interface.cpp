// ascend_grad/device_aclnn.h on the runner.
#include "ascend_grad/device_aclnn.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "core/held_during_forks.h"
#include "device/product.h"
#include "launch/backend.h"
#include "launch/runner.h"
#include "ops/table.h"

namespace ascend_grad::launch {
namespace {

using Numbers = std::unique_ptr<int64_t[]>;  // as the getters allocate them

// False where a getter fails.
bool read_view(const aclTensor* tensor, TensorView& view) {
    int64_t *shape = nullptr, *strides = nullptr;
    uint64_t rank = 0, stride_count = 0;
    int64_t offset = 0;
    aclDataType dtype = ACL_DT_UNDEFINED;
    aclFormat format = ACL_FORMAT_UNDEFINED;
    void* base = nullptr;
    const bool ok = aclGetViewShape(tensor, &shape, &rank) == 0 &&
                    aclGetViewStrides(tensor, &strides, &stride_count) == 0 &&
                    aclGetViewOffset(tensor, &offset) == 0 && aclGetDataType(tensor, &dtype) == 0 &&
                    aclGetFormat(tensor, &format) == 0 && aclGetRawTensorAddr(tensor, &base) == 0;
    const Numbers own_shape(shape), own_strides(strides);
    if (!ok) return false;
    view.dtype = static_cast<DataType>(dtype);
    view.format = static_cast<Format>(format);
    view.rank = static_cast<int32_t>(rank);
    if (rank > kMaxRank) {  // a rule of the operator's refuses it
        std::copy_n(shape, kMaxRank, view.shape);
        return true;
    }
    set_contiguous(view, view.rank, shape);
    const auto size = static_cast<int64_t>(data_type_size(view.dtype));
    for (int axis = 0; axis < view.rank; ++axis) {
        view.strides[axis] = strides[axis] * size;
        if (shape[axis] < 0) view.defect = ViewDefect::kNegativeExtent;
        if (strides[axis] < 0) view.defect = ViewDefect::kNegativeStride;
    }
    if (base != nullptr) view.data = static_cast<char*>(base) + offset * size;
    return true;
}

// Calls between their two phases.
std::mutex g_mutex;
const HeldDuringForks<g_mutex> g_held_during_forks;
auto& g_live = *new std::set<device::Call*>;  // guarded by g_mutex

template <class Op>
class PhaseOne {
  public:
    typename Op::Args args;

    PhaseOne() {
        args.interface = Interface::kC;
        args.soc = library_soc();
        args.is_on_device = true;
    }
    void set(int index, const aclTensor* tensor) {
        if (tensor == nullptr) return;
        is_readable_ = read_view(tensor, views_[index]) && is_readable_;
        args.tensors[index] = &views_[index];
    }
    const IntArray* array(const aclIntArray* handle, IntArray& values) {
        if (handle == nullptr) return nullptr;
        is_readable_ = backend_int_array(handle, values.values, values.size) && is_readable_;
        return &values;
    }
    aclnnStatus finish(uint64_t* workspace_size, aclOpExecutor** executor) {
        if (workspace_size == nullptr || executor == nullptr)
            return static_cast<aclnnStatus>(StatusCode::kParamNullptr);
        auto call = std::make_unique<device::Call>();
        const Status status = plan(*call);
        set_error_message(status);
        if (!status.ok()) return static_cast<aclnnStatus>(status.code());
        *workspace_size = call->plan.workspace_size;
        const std::lock_guard<std::mutex> lock(g_mutex);
        g_live.insert(call.get());
        *executor = reinterpret_cast<aclOpExecutor*>(call.release());
        return static_cast<aclnnStatus>(StatusCode::kSuccess);
    }

  private:
    Status plan(device::Call& call) {
        if (!is_readable_) {
            return {StatusCode::kParamInvalid, Op::info().name.c, "",
                    "a tensor or array is none of this process's"};
        }
        uint32_t cores = 0;
        ASCEND_GRAD_TRY(core_count(cores));
        return device::make_call<Op>(args, device::product_of(args.soc, cores), call);
    }

    TensorView views_[kMaxTensors];
    bool is_readable_ = true;
};

template <class Op>
aclnnStatus phase_two(void* workspace, uint64_t workspace_size, aclOpExecutor* executor,
                      aclrtStream stream) {
    std::unique_ptr<device::Call> call;
    {
        const std::lock_guard<std::mutex> lock(g_mutex);
        auto* const given = reinterpret_cast<device::Call*>(executor);
        if (g_live.erase(given) != 0) call.reset(given);
    }
    Status status;
    if (call == nullptr || call->info != &Op::info()) {
        status = {StatusCode::kParamNullptr, Op::info().name.c, "executor",
                  "must be what this operator's first phase gave, and runs once"};
    } else if (call->plan.workspace_size > 0 &&
               (workspace == nullptr || workspace_size < call->plan.workspace_size)) {
        status = {StatusCode::kParamInvalid, Op::info().name.c, "workspace",
                  "must have " + std::to_string(call->plan.workspace_size) + " bytes, got " +
                      std::to_string(workspace == nullptr ? 0 : workspace_size)};
    } else {
        status = run_on_device_memory(*call, stream, workspace);
    }
    set_error_message(status);
    return static_cast<aclnnStatus>(status.code());
}

}  // namespace
}  // namespace ascend_grad::launch

using namespace ascend_grad;
using launch::phase_two;
using launch::PhaseOne;

#define EXPORTED __attribute__((visibility("default")))
#define PHASE_TWO(Op)                                                                       \
    EXPORTED aclnnStatus aclnnAscendGrad##Op(void* workspace, uint64_t workspaceSize,       \
                                             aclOpExecutor* executor, aclrtStream stream) { \
        return phase_two<Op>(workspace, workspaceSize, executor, stream);                   \
    }
PHASE_TWO(BatchNormReduceBackward)
PHASE_TWO(AvgPool2dBackward)
PHASE_TWO(PreluBackward)
PHASE_TWO(SoftmaxBackward)

EXPORTED aclnnStatus aclnnAscendGradBatchNormReduceBackwardGetWorkspaceSize(
    const aclTensor* gradOut, const aclTensor* input, const aclTensor* mean,
    const aclTensor* invstd, const aclTensor* weight, bool inputG, bool weightG, bool biasG,
    aclTensor* sumDy, aclTensor* sumDyXmu, aclTensor* gradWeight, aclTensor* gradBias,
    uint64_t* workspaceSize, aclOpExecutor** executor) {
    PhaseOne<BatchNormReduceBackward> call;
    const aclTensor* const tensors[] = {gradOut, input,    mean,       invstd,  weight,
                                        sumDy,   sumDyXmu, gradWeight, gradBias};
    for (int i = 0; i < 9; ++i) call.set(i, tensors[i]);
    call.args.input_g = inputG;
    call.args.weight_g = weightG;
    call.args.bias_g = biasG;
    return call.finish(workspaceSize, executor);
}

EXPORTED aclnnStatus aclnnAscendGradAvgPool2dBackwardGetWorkspaceSize(
    const aclTensor* gradOutput, const aclTensor* self, const aclIntArray* kernelSize,
    const aclIntArray* stride, const aclIntArray* padding, bool ceilMode, bool countIncludePad,
    int64_t divisorOverride, int8_t cubeMathType, aclTensor* gradInput, uint64_t* workspaceSize,
    aclOpExecutor** executor) {
    PhaseOne<AvgPool2dBackward> call;
    const aclTensor* const tensors[] = {gradOutput, self, gradInput};
    for (int i = 0; i < 3; ++i) call.set(i, tensors[i]);
    IntArray arrays[3];
    call.args.kernel_size = call.array(kernelSize, arrays[0]);
    call.args.stride = call.array(stride, arrays[1]);
    call.args.padding = call.array(padding, arrays[2]);
    call.args.ceil_mode = ceilMode;
    call.args.count_include_pad = countIncludePad;
    call.args.divisor_override = divisorOverride;
    call.args.cube_math_type = cubeMathType;
    return call.finish(workspaceSize, executor);
}

EXPORTED aclnnStatus aclnnAscendGradPreluBackwardGetWorkspaceSize(
    const aclTensor* gradOutput, const aclTensor* self, const aclTensor* weight,
    aclTensor* gradInput, aclTensor* gradWeight, uint64_t* workspaceSize,
    aclOpExecutor** executor) {
    PhaseOne<PreluBackward> call;
    const aclTensor* const tensors[] = {gradOutput, self, weight, gradInput, gradWeight};
    for (int i = 0; i < 5; ++i) call.set(i, tensors[i]);
    return call.finish(workspaceSize, executor);
}

EXPORTED aclnnStatus aclnnAscendGradSoftmaxBackwardGetWorkspaceSize(const aclTensor* gradOutput,
                                                                    const aclTensor* output,
                                                                    int64_t dim, aclTensor* out,
                                                                    uint64_t* workspaceSize,
                                                                    aclOpExecutor** executor) {
    PhaseOne<SoftmaxBackward> call;
    const aclTensor* const tensors[] = {gradOutput, output, out};
    for (int i = 0; i < 3; ++i) call.set(i, tensors[i]);
    call.args.dim = dim;
    return call.finish(workspaceSize, executor);
}
