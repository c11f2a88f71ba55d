#include "capi/executor.h"

#include <new>

#include "capi/context.h"
#include "core/check.h"

namespace ascend_grad::capi {
namespace {

// Kernels want a workspace that begins at a cache line; callers may have cut theirs from a larger
// block.
constexpr uint64_t kWorkspaceAlignment = 64;

void* align(void* pointer) {
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    return reinterpret_cast<void*>((address + kWorkspaceAlignment - 1) / kWorkspaceAlignment *
                                   kWorkspaceAlignment);
}

// Of memory of other origin: what is needed, or nothing where the process has less.
uint64_t bytes_left(const BlockHold& block, const void* pointer, uint64_t needed) {
    if (block == nullptr) return is_mapped(pointer, needed) ? needed : 0;
    return block->size - static_cast<size_t>(static_cast<const char*>(pointer) - block->address);
}

bool is_same_but_address(const Tensor& a, const Tensor& b) {
    return a.shape == b.shape && a.strides == b.strides && a.storage_shape == b.storage_shape &&
           a.offset == b.offset && a.dtype == b.dtype && a.format == b.format;
}

auto& g_executors = *new HandleTable<Call>(HandleKind::kExecutor);
const OnForkInChild g_restart_executors([] {
    g_executors.for_each_in_child([](Call& call) { call.restart(); });
});

}  // namespace

HandleTable<Call>& executors() {
    return g_executors;
}

void Call::restart() {
    new (&mutex_) std::mutex;
    is_planned_ = false;
}

void Call::set(int index, const aclTensor* handle) {
    if (handle == nullptr || !status_.ok()) return;
    std::shared_ptr<const Tensor> tensor;
    status_ = find_object(tensors(), info_.name.c, info_.tensors[index].name.c, handle, tensor);
    if (!status_.ok()) return;
    Placement& place = placements_[index];
    views_[index] = make_view(*tensor, place.extent);
    place.handle = handle;
    place.base = tensor->address;
    place.tensor = std::move(tensor);
    place.is_sound = views_[index].defect == ViewDefect::kNone;
    args_.tensors[index] = &views_[index];
}

void Call::set(const char* parameter, const aclIntArray* handle, const IntArray*& array) {
    if (handle == nullptr || !status_.ok()) return;
    std::shared_ptr<const IntList> list;
    status_ = find_object(int_arrays(), info_.name.c, parameter, handle, list);
    if (!status_.ok()) return;
    array = &list->array;
    arrays_.push_back(std::move(list));
}

Status Call::prepare() {
    if (!status_.ok()) return std::move(status_);
    BlockHold holds[kMaxTensors];
    locate(holds);
    is_planned_ = true;
    return plan();
}

uint64_t Call::workspace_size() const {
    return executor_.workspace_size == 0 ? 0 : executor_.workspace_size + kWorkspaceAlignment - 1;
}

// What is wrong with a sound view at its address; takes hold of its memory.
ViewDefect Call::defect_at_address(int index, BlockHold& hold) {
    Placement& place = placements_[index];
    const auto span = static_cast<size_t>(place.extent.span);
    if (!place.extent.fits_at(place.base)) return ViewDefect::kOverflow;
    // Memory that is never read may be anywhere.
    if (info_.tensors[index].role == Role::kDescription) return ViewDefect::kNone;
    hold = find_block(place.base);
    bool lost = false;
    if (hold != nullptr) {
        lost = !hold->holds(place.base, span);
    } else if (place.base != nullptr && span > 0) {
        const auto offset = static_cast<size_t>(place.extent.offset);
        lost = place.was_allocated || !is_mapped(place.base + offset, span - offset);
    }
    place.was_allocated = place.was_allocated || hold != nullptr;
    return lost ? ViewDefect::kLeavesAllocation : ViewDefect::kNone;
}

Status Call::follow_tensors() {
    for (int i = 0; i < info_.tensor_count; ++i) {
        Placement& place = placements_[i];
        if (place.handle == nullptr) continue;
        std::shared_ptr<const Tensor> tensor = tensors().find(place.handle);
        if (tensor == nullptr) continue;  // destroyed: what is known of it stays
        if (tensor != place.tensor && !is_same_but_address(*tensor, *place.tensor)) {
            return {StatusCode::kParamInvalid, info_.name.c, info_.tensors[i].name.c,
                    "only its address may change between the phases, but aclInitTensor made it "
                    "describe something else; give it the description of phase 1 again, or call "
                    "phase 1 anew"};
        }
        if (tensor->address != place.base) place.was_allocated = false;
        place.base = tensor->address;
        place.tensor = std::move(tensor);
    }
    return {};
}

bool Call::locate(BlockHold* holds) {
    bool changed = false;
    for (int i = 0; i < info_.tensor_count; ++i) {
        if (args_.tensors[i] == nullptr || !placements_[i].is_sound) continue;
        TensorView& view = views_[i];
        const Placement& place = placements_[i];
        const ViewDefect defect = defect_at_address(i, holds[i]);
        void* data = nullptr;
        if (place.base != nullptr && defect == ViewDefect::kNone)
            data = place.base + place.extent.offset;
        changed = changed || view.data != data || view.defect != defect;
        view.data = data;
        view.defect = defect;
    }
    return changed;
}

int Call::run(void* workspace, uint64_t workspace_size, aclrtStream stream) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::shared_ptr<Stream> queue;
    RunTask task{};
    const Status followed = follow_tensors();
    if (!followed.ok()) return report(followed);
    if (locate(task.memory)) is_planned_ = false;
    if (!is_planned_) {
        const Status status = plan();
        if (!status.ok()) return report(status);
        is_planned_ = true;
    }
    BlockHold& block = task.memory[kMaxTensors];
    block = find_block(workspace);
    const Checker check(info_, args_);
    const Status status = check.ready_to_run({workspace, workspace_size,
                                              bytes_left(block, workspace, this->workspace_size()),
                                              this->workspace_size()});
    if (!status.ok()) return report(status);
    if (find_stream(info_.name.c, "stream", stream, queue) != ACL_SUCCESS) return fail_in_runtime();
    task.executor = executor_;
    task.workspace = executor_.workspace_size == 0 ? nullptr : align(workspace);
    const bool is_queued = queue->push(std::move(task));
    if (require_kept(info_.name.c, is_queued) != ACL_SUCCESS) return fail_in_runtime();
    return ACLNN_SUCCESS;
}

Status Call::set_address(const char* function, int index, const aclTensor* handle, void* address) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const Placement& place = placements_[index];
    if (place.handle == nullptr || place.handle != handle) {
        const char* name = info_.tensors[index].name.c;
        return {StatusCode::kParamInvalid, function, "tensor",
                std::string("must be what ") + info_.name.c + " was given as " + name +
                    (place.handle == nullptr ? ", which was null or not looked at"
                                             : ", got another tensor")};
    }
    for (Placement& other : placements_) {
        if (other.handle != handle) continue;
        other.base = static_cast<char*>(address);
        other.was_allocated = false;
    }
    // The tensor itself follows, where it still lives.
    if (const std::shared_ptr<const Tensor> tensor = tensors().find(handle)) {
        capi::set_address(handle, *tensor, address);
    }
    return {};
}

Status check_results(const OperatorInfo& info, const uint64_t* workspace_size,
                     aclOpExecutor* const* executor) {
    const char* name = info.name.c;
    if (workspace_size == nullptr)
        return null_argument(StatusCode::kParamNullptr, name, "workspaceSize");
    if (executor == nullptr) return null_argument(StatusCode::kParamNullptr, name, "executor");
    if (initialisation()) return {};
    return {StatusCode::kRuntimeError, name, "", "aclInit or aclnnInit must be called first"};
}

Status finish_phase_one(const std::shared_ptr<Call>& call, uint64_t* workspace_size,
                        aclOpExecutor** executor) {
    ASCEND_GRAD_TRY(call->prepare());
    *workspace_size = call->workspace_size();
    *executor = static_cast<aclOpExecutor*>(executors().insert(call));
    return {};
}

aclnnStatus run(const OperatorInfo& info, void* workspace, uint64_t workspace_size,
                aclOpExecutor* executor, aclrtStream stream) {
    return guarded(info.name.c, kAclnnCodes, [&](const char* function) -> int {
        std::shared_ptr<Call> call;
        const Status status = find_object(executors(), function, "executor", executor, call);
        if (!status.ok()) return report(status);
        if (&call->info() != &info) {
            return report(
                {StatusCode::kParamInvalid, function, "executor",
                 std::string("must be one of this operator, got one of ") + call->info().name.c});
        }
        if (!call->is_repeatable && executors().remove(executor) == nullptr) {
            return report(
                {StatusCode::kParamNullptr, function, "executor", executors().refuse(executor)});
        }
        return call->run(workspace, workspace_size, stream);
    });
}

}  // namespace ascend_grad::capi
