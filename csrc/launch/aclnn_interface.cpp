// ascend_grad/device_aclnn.h on the runner.
#include "ascend_grad/device_aclnn.h"

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/described_tensor.h"
#include "core/held_during_forks.h"
#include "launch/backend.h"
#include "launch/device_call.h"

namespace ascend_grad::launch {
namespace {

// The numbers of an array that the getter allocates; false where it fails.
template <class Getter>
bool read_numbers(const Getter& get, const aclTensor& tensor, std::vector<int64_t>& numbers) {
    int64_t* values = nullptr;
    uint64_t count = 0;
    const bool ok = get(&tensor, &values, &count) == 0;
    const std::unique_ptr<int64_t[]> own(values);
    if (ok) numbers.assign(values, values + count);
    return ok;
}

bool read_tensor(const aclTensor& tensor, TensorView& view) {
    DescribedTensor described;
    aclDataType dtype = ACL_DT_UNDEFINED;
    aclFormat format = ACL_FORMAT_UNDEFINED;
    void* base = nullptr;
    const bool ok = read_numbers(aclGetViewShape, tensor, described.shape) &&
                    read_numbers(aclGetViewStrides, tensor, described.strides) &&
                    read_numbers(aclGetStorageShape, tensor, described.storage_shape) &&
                    aclGetViewOffset(&tensor, &described.offset) == 0 &&
                    aclGetDataType(&tensor, &dtype) == 0 && aclGetFormat(&tensor, &format) == 0 &&
                    aclGetRawTensorAddr(&tensor, &base) == 0;
    if (!ok) return false;
    described.dtype = static_cast<DataType>(dtype);
    described.format = static_cast<Format>(format);
    Extent extent;
    view = make_view(described, extent);
    if (view.defect != ViewDefect::kNone || base == nullptr) return true;
    if (extent.fits_at(base)) {
        view.data = static_cast<char*>(base) + extent.offset;
    } else {
        view.defect = ViewDefect::kOverflow;
    }
    return true;
}

// Calls between their two phases.
std::mutex g_mutex;
const HeldDuringForks<g_mutex> g_held_during_forks;
auto& g_live = *new std::map<const void*, std::unique_ptr<device::Call>>;  // guarded by g_mutex

// The call of a live executor of that operator, no longer live; any operator's if `info` is null.
Status take(const aclOpExecutor* executor, const OperatorInfo* info, const char* function,
            std::unique_ptr<device::Call>& call) {
    const std::lock_guard<std::mutex> lock(g_mutex);
    const auto found = g_live.find(executor);
    if (found == g_live.end()) {
        return {StatusCode::kParamNullptr, function, "executor",
                "must be what a first phase gave, and runs once"};
    }
    if (info != nullptr && found->second->info != info) {
        return {
            StatusCode::kParamInvalid, function, "executor",
            std::string("must be one of this operator, got one of ") + found->second->info->name.c};
    }
    call = std::move(found->second);
    g_live.erase(found);
    return {};
}

// fill(call) sets attributes; `tensors` are in the order of the prototype.
template <class Op, size_t kCount, class Fill>
aclnnStatus phase_one(const aclTensor* const (&tensors)[kCount], uint64_t* workspace_size,
                      aclOpExecutor** executor, const Fill& fill) {
    const char* function = Op::info().name.c;
    return guarded(function, [&]() -> Status {
        const char* missing = workspace_size == nullptr ? "workspaceSize" : "executor";
        if (workspace_size == nullptr || executor == nullptr) {
            return {StatusCode::kParamNullptr, function, missing, required_text(Interface::kC)};
        }
        DeviceCall<Op> call;
        fill(call);
        for (size_t i = 0; i < kCount; ++i) call.set(static_cast<int>(i), tensors[i], read_tensor);
        auto planned = std::make_unique<device::Call>();
        ASCEND_GRAD_TRY(call.plan(*planned));
        *workspace_size = planned->plan.workspace_size;
        *executor = reinterpret_cast<aclOpExecutor*>(planned.get());
        const std::lock_guard<std::mutex> lock(g_mutex);
        g_live.emplace(*executor, std::move(planned));
        return {};
    });
}

template <class Op>
const IntArray* read_array(DeviceCall<Op>& call, const char* parameter, const aclIntArray* handle,
                           IntArray& values) {
    if (handle == nullptr) return nullptr;
    if (!backend_int_array(handle, values.values, values.size)) call.refuse(parameter);
    return &values;
}

template <class Op>
aclnnStatus phase_two(void* workspace, uint64_t workspace_size, aclOpExecutor* executor,
                      aclrtStream stream) {
    const char* function = Op::info().name.c;
    return guarded(function, [&]() -> Status {
        std::unique_ptr<device::Call> call;
        ASCEND_GRAD_TRY(take(executor, &Op::info(), function, call));
        const uint64_t needed = call->plan.workspace_size;
        const GivenWorkspace given{workspace, workspace_size, needed, needed};
        return run_on_device_memory(*call, stream, &given);
    });
}

}  // namespace
}  // namespace ascend_grad::launch

using namespace ascend_grad;
using launch::DeviceCall;
using launch::phase_one;
using launch::phase_two;

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

EXPORTED aclnnStatus aclnnAscendGradDestroyExecutor(aclOpExecutor* executor) {
    constexpr const char* kFunction = "aclnnAscendGradDestroyExecutor";
    return launch::guarded(kFunction, [&] {
        std::unique_ptr<device::Call> call;
        return launch::take(executor, nullptr, kFunction, call);
    });
}

EXPORTED aclnnStatus aclnnAscendGradBatchNormReduceBackwardGetWorkspaceSize(
    const aclTensor* gradOut, const aclTensor* input, const aclTensor* mean,
    const aclTensor* invstd, const aclTensor* weight, bool inputG, bool weightG, bool biasG,
    aclTensor* sumDy, aclTensor* sumDyXmu, aclTensor* gradWeight, aclTensor* gradBias,
    uint64_t* workspaceSize, aclOpExecutor** executor) {
    using Op = BatchNormReduceBackward;
    return phase_one<Op>(
        {gradOut, input, mean, invstd, weight, sumDy, sumDyXmu, gradWeight, gradBias},
        workspaceSize, executor, [&](DeviceCall<Op>& call) {
            call.args.input_g = inputG;
            call.args.weight_g = weightG;
            call.args.bias_g = biasG;
        });
}

EXPORTED aclnnStatus aclnnAscendGradAvgPool2dBackwardGetWorkspaceSize(
    const aclTensor* gradOutput, const aclTensor* self, const aclIntArray* kernelSize,
    const aclIntArray* stride, const aclIntArray* padding, bool ceilMode, bool countIncludePad,
    int64_t divisorOverride, int8_t cubeMathType, aclTensor* gradInput, uint64_t* workspaceSize,
    aclOpExecutor** executor) {
    using Op = AvgPool2dBackward;
    IntArray arrays[3];
    return phase_one<Op>(
        {gradOutput, self, gradInput}, workspaceSize, executor, [&](DeviceCall<Op>& call) {
            const auto read = [&](const char* name, const aclIntArray* handle, int i) {
                return launch::read_array(call, name, handle, arrays[i]);
            };
            call.args.kernel_size = read("kernelSize", kernelSize, 0);
            call.args.stride = read("stride", stride, 1);
            call.args.padding = read("padding", padding, 2);
            call.args.ceil_mode = ceilMode;
            call.args.count_include_pad = countIncludePad;
            call.args.divisor_override = divisorOverride;
            call.args.cube_math_type = cubeMathType;
        });
}

EXPORTED aclnnStatus aclnnAscendGradPreluBackwardGetWorkspaceSize(
    const aclTensor* gradOutput, const aclTensor* self, const aclTensor* weight,
    aclTensor* gradInput, aclTensor* gradWeight, uint64_t* workspaceSize,
    aclOpExecutor** executor) {
    using Op = PreluBackward;
    return phase_one<Op>({gradOutput, self, weight, gradInput, gradWeight}, workspaceSize, executor,
                         [](DeviceCall<Op>&) {});
}

EXPORTED aclnnStatus aclnnAscendGradSoftmaxBackwardGetWorkspaceSize(const aclTensor* gradOutput,
                                                                    const aclTensor* output,
                                                                    int64_t dim, aclTensor* out,
                                                                    uint64_t* workspaceSize,
                                                                    aclOpExecutor** executor) {
    using Op = SoftmaxBackward;
    return phase_one<Op>({gradOutput, output, out}, workspaceSize, executor,
                         [&](DeviceCall<Op>& call) { call.args.dim = dim; });
}
