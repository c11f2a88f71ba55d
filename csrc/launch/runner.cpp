// check -> plan is done; this is copy in -> launch -> copy out, on the NPU and in the emulator.
#include <acl/acl.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "core/held_during_forks.h"
#include "launch/backend.h"
#include "launch/kernel_table.h"
#include "launch/memory_pool.h"
#include "launch/runner.h"
#include "launch/tensor_memory.h"

namespace ascend_grad::launch {
namespace {

using device::Call;
using device::Plan;
using device::Pointer;

// Kernels of products without DataCopyPad read whole blocks, so up to this much behind the data.
// aclrtMalloc gives it to every allocation.
const size_t kSlack = kArch == 220 ? 0 : 32;

// Calls on the host's memory use the current context's own stream: one of ours would end with the
// context in which it was made.
constexpr aclrtStream kContextStream = nullptr;

struct Device {
    MemoryPool pool;
    struct Workspace {
        void* memory = nullptr;
        size_t size = 0;
    };
    static constexpr size_t kMaxWorkspaces = 16;
    // Of callers' streams; a null one is another in each context.
    std::map<std::pair<aclrtContext, aclrtStream>, Workspace> workspaces;
};

// Guards all devices: calls take turns, as they would on the card. A fork waits for the call that
// holds it.
std::mutex g_mutex;
const HeldDuringForks<g_mutex> g_held_during_forks;

Status failed(const Call& call, std::string text) {
    return {StatusCode::kRuntimeError, call.info->name.in(call.interface), "", std::move(text)};
}

// `what` failed with that code of the acl runtime.
Status failed(const Call& call, const char* what, aclError code) {
    std::string text = std::string(what) + " failed with " + std::to_string(code);
    const char* message = aclGetRecentErrMsg();
    if (message != nullptr && message[0] != '\0') text.append(": ").append(message);
    return failed(call, std::move(text));
}

#define TRY_ACL(call, function, ...)                                       \
    do {                                                                   \
        const aclError code_ = function(__VA_ARGS__);                      \
        if (code_ != ACL_SUCCESS) return failed((call), #function, code_); \
    } while (0)

// The device that this thread has chosen, else device 0.
aclError current_device(int32_t& id) {
    // No lock of the compiler's, which a forked child would find taken.
    static std::atomic<bool> is_initialised{false};
    if (!is_initialised) {
        const aclError code = aclInit(nullptr);
        if (code != ACL_SUCCESS && code != ACL_ERROR_REPEAT_INITIALIZE) return code;
        is_initialised = true;
    }
    if (aclrtGetDevice(&id) == ACL_SUCCESS) return ACL_SUCCESS;
    id = 0;
    return aclrtSetDevice(id);
}

aclError open_device(Device*& device) {
    static auto* const devices = new std::map<int32_t, Device>;  // outlives what runs at exit
    int32_t id = 0;
    const aclError code = current_device(id);
    if (code == ACL_SUCCESS) device = &(*devices)[id];
    return code;
}

// The call's memory on the device and, in the emulator, its extents.
class Memory {
  public:
    Memory(Device& device, const Call& call) : device_(device), call_(call) {}
    ~Memory() {
        for (void* memory : watched_) backend_unwatch(memory);
        for (void* memory : taken_) device_.pool.give_back(memory);
    }
    Memory(const Memory&) = delete;

    char* tensor(int index) const { return tensors_[index]; }
    // Element 0 on the device.
    void set_tensor(int index, char* address) {
        tensors_[index] = address;
        const TensorView& view = call_.tensors[index];
        const Span span = span_of(view);
        const bool is_output = call_.info->tensors[index].is_output();
        const bool is_fresh = is_output && fills_span(view);
        const bool is_new = watch(address + span.low, span.bytes() + (is_output ? 0 : kSlack),
                                  call_.info->tensors[index].name.in(call_.interface), !is_fresh);
        if (is_fresh && is_new) backend_spoil(address + span.low, span.bytes());
    }
    void set_workspace(char* address) {
        workspace_ = address;
        // Every area that a launch is given is watched by itself.
        const Plan& plan = call_.plan;
        std::set<int64_t> begins;
        for (int i = 0; i < plan.launch_count; ++i) {
            for (int k = 0; k < plan.launches[i].pointer_count; ++k) {
                const Pointer& pointer = plan.launches[i].pointers[k];
                if (pointer.memory == Pointer::kWorkspace) begins.insert(pointer.offset);
            }
        }
        const auto size = static_cast<int64_t>(plan.workspace_size);
        for (auto begin = begins.begin(); begin != begins.end(); ++begin) {
            const auto next = std::next(begin);
            const int64_t end = next == begins.end() ? size : *next;
            watch(address + *begin, static_cast<size_t>(end - *begin) + (end == size ? kSlack : 0),
                  "workspace at " + std::to_string(*begin),
                  *begin < static_cast<int64_t>(plan.zeroed_bytes));
        }
    }

    char* take(size_t bytes) {
        auto* const memory = static_cast<char*>(device_.pool.take(bytes));
        if (memory != nullptr) taken_.push_back(memory);
        return memory;
    }
    // Instead of giving it back.
    void abandon() {
        for (void* memory : taken_) device_.pool.abandon(memory);
        taken_.clear();
    }
    void* address(const Pointer& pointer) const {
        if (pointer.memory == Pointer::kNone) return nullptr;
        char* const base =
            pointer.memory == Pointer::kWorkspace ? workspace_ : tensors_[pointer.memory];
        return base + pointer.offset;
    }

  private:
    // False where it is watched already: an output may lie exactly where an input does.
    bool watch(char* memory, size_t bytes, const std::string& name, bool initialised) {
        if (std::find(watched_.begin(), watched_.end(), memory) != watched_.end()) return false;
        backend_watch(memory, bytes, name, initialised);
        watched_.push_back(memory);
        return true;
    }

    Device& device_;
    const Call& call_;
    char* workspace_ = nullptr;
    char* tensors_[kMaxTensors] = {};
    std::vector<void*> watched_;
    std::vector<void*> taken_;
};

Status copy_in(const Call& call, Memory& memory) {
    for (int i = 0; i < call.info->tensor_count; ++i) {
        if (!call.uses(i)) continue;
        const TensorView& view = call.tensors[i];
        const Span span = span_of(view);
        char* const base = memory.take(span.bytes());
        if (base == nullptr)
            return failed(call, "the device has no " + std::to_string(span.bytes()) +
                                    " bytes of memory left");
        memory.set_tensor(i, base - span.low);
        if (call.info->tensors[i].role == Role::kInput) {
            TRY_ACL(call, aclrtMemcpy, base, span.bytes(),
                    static_cast<const char*>(view.data) + span.low, span.bytes(),
                    ACL_MEMCPY_HOST_TO_DEVICE);
        } else if (!fills_span(view)) {
            // Kernels may load what lies between the elements. NaN tells elements that none stored.
            TRY_ACL(call, aclrtMemset, base, span.bytes(), 0xff, span.bytes());
        }
    }
    return {};
}

Status copy_out(const Call& call, const Memory& memory) {
    for (int i = 0; i < call.info->tensor_count; ++i) {
        if (memory.tensor(i) == nullptr || !call.info->tensors[i].is_output()) continue;
        const TensorView& view = call.tensors[i];
        const Span span = span_of(view);
        const char* const from = memory.tensor(i) + span.low;
        if (fills_span(view)) {
            TRY_ACL(call, aclrtMemcpy, static_cast<char*>(view.data) + span.low, span.bytes(), from,
                    span.bytes(), ACL_MEMCPY_DEVICE_TO_HOST);
            continue;
        }
        // What lies between the elements is not ours to write.
        const std::unique_ptr<char[]> all(new char[span.bytes()]);
        TRY_ACL(call, aclrtMemcpy, all.get(), span.bytes(), from, span.bytes(),
                ACL_MEMCPY_DEVICE_TO_HOST);
        copy_elements(view, all.get() - span.low);
    }
    return {};
}

Status launch_all(const Call& call, const Memory& memory, aclrtStream stream,
                  const std::vector<LaunchRecord>& records) {
    for (int i = 0; i < call.plan.launch_count; ++i) {
        const device::Launch& launch = call.plan.launches[i];
        const Kernel* kernel = find_kernel(launch.kernel);
        if (kernel == nullptr || kernel->pointer_count != launch.pointer_count) {
            return {StatusCode::kInnerFindKernelError, call.info->name.in(call.interface), "",
                    std::string("this build has no kernel ") + launch.kernel};
        }
        void* pointers[device::Launch::kMaxPointers];
        for (int k = 0; k < launch.pointer_count; ++k)
            pointers[k] = memory.address(launch.pointers[k]);
        const uint32_t code = kernel->launch(launch.blocks, stream, pointers, launch.tiling);
        if (code == 0) continue;
        std::string text =
            std::string("kernel ") + launch.kernel + " failed with " + std::to_string(code);
        if (!records.empty())
            for (const std::string& report : records.back().reports) text += "\n" + report;
        return {StatusCode::kInner, call.info->name.in(call.interface), "", std::move(text)};
    }
    return {};
}

class RecordScope {
  public:
    explicit RecordScope(std::vector<LaunchRecord>& records) { backend_set_records(&records); }
    ~RecordScope() { backend_set_records(nullptr); }
};

Status launch_on(const Call& call, Memory& memory, aclrtStream stream, void* workspace,
                 std::vector<LaunchRecord>& records) {
    const Plan& plan = call.plan;
    memory.set_workspace(static_cast<char*>(workspace));
    if (plan.zeroed_bytes > 0) {
        TRY_ACL(call, aclrtMemsetAsync, workspace, plan.workspace_size, 0, plan.zeroed_bytes,
                stream);
    }
    const RecordScope scope(records);
    return launch_all(call, memory, stream, records);
}

}  // namespace

Status run_on_host_memory(const Call& call, std::vector<LaunchRecord>* records) {
    if (call.plan.launch_count == 0) return {};
    const std::lock_guard<std::mutex> lock(g_mutex);
    Device* device = nullptr;
    TRY_ACL(call, open_device, device);
    std::vector<LaunchRecord> own;
    Memory memory(*device, call);
    ASCEND_GRAD_TRY(copy_in(call, memory));
    void* workspace = nullptr;
    if (call.plan.workspace_size > 0) {
        workspace = memory.take(call.plan.workspace_size);
        if (workspace == nullptr) return failed(call, "the device has no memory left");
    }
    Status launched =
        launch_on(call, memory, kContextStream, workspace, records != nullptr ? *records : own);
    // What came before a launch that failed may still run.
    const aclError ended = aclrtSynchronizeStream(kContextStream);
    if (ended != ACL_SUCCESS) memory.abandon();
    if (!launched.ok()) return launched;
    if (ended != ACL_SUCCESS) return failed(call, "aclrtSynchronizeStream", ended);
    return copy_out(call, memory);
}

namespace {

// Memory that the stream's earlier calls may still use, which is right: their work comes first.
Status workspace_of(const Call& call, Device& device, aclrtStream stream, void*& memory) {
    memory = nullptr;
    if (call.plan.workspace_size == 0) return {};
    std::pair<aclrtContext, aclrtStream> key{nullptr, stream};
    TRY_ACL(call, aclrtGetCurrentContext, &key.first);
    const auto found = device.workspaces.find(key);
    const bool is_known = found != device.workspaces.end();
    if (is_known && found->second.size >= call.plan.workspace_size) {
        memory = found->second.memory;
        return {};
    }
    if (is_known) {
        TRY_ACL(call, aclrtSynchronizeStream, stream);
        device.pool.give_back(found->second.memory);
        device.workspaces.erase(found);
    } else if (device.workspaces.size() == Device::kMaxWorkspaces) {
        // No runtime says which of the streams live.
        TRY_ACL(call, aclrtSynchronizeDevice);
        for (const auto& [other, workspace] : device.workspaces)
            device.pool.give_back(workspace.memory);
        device.workspaces.clear();
    }
    memory = device.pool.take(call.plan.workspace_size);
    if (memory == nullptr) return failed(call, "the device has no memory left");
    device.workspaces[key] = {memory, call.plan.workspace_size};
    return {};
}

}  // namespace

Status run_on_device_memory(const Call& call, void* stream, const GivenWorkspace* given) {
    if (call.plan.launch_count == 0) return {};
    const std::lock_guard<std::mutex> lock(g_mutex);
    Device* device = nullptr;
    TRY_ACL(call, open_device, device);
    const uint64_t bytes = call.plan.workspace_size;
    GivenWorkspace workspace{nullptr, bytes, bytes, bytes};
    if (given != nullptr) {
        workspace = *given;
    } else {
        ASCEND_GRAD_TRY(workspace_of(call, *device, stream, workspace.address));
    }
    Arguments args;
    args.soc = call.soc;
    args.interface = call.interface;
    args.is_on_device = true;
    for (int i = 0; i < call.info->tensor_count; ++i)
        if (call.present[i]) args.tensors[i] = &call.tensors[i];
    ASCEND_GRAD_TRY(Checker(*call.info, args).ready_to_run(workspace));
    Memory memory(*device, call);
    for (int i = 0; i < call.info->tensor_count; ++i) {
        if (call.uses(i)) memory.set_tensor(i, static_cast<char*>(call.tensors[i].data));
    }
    std::vector<LaunchRecord> records;
    return launch_on(call, memory, stream, workspace.address, records);
}

Status core_count(uint32_t& cores) {
    int32_t id = 0;
    const aclError code = current_device(id);
    if (code == ACL_SUCCESS && backend_core_count(id, cores)) return {};
    return {StatusCode::kRuntimeError, "", "",
            "no Ascend device answers (acl error " + std::to_string(code) + ")"};
}

}  // namespace ascend_grad::launch

extern "C" __attribute__((visibility("default"))) const ascend_grad::launch::Library*
ascend_grad_device_library() {
    using namespace ascend_grad::launch;
    static constexpr Library kLibrary{core_count, run_on_host_memory,
                                      [](const ascend_grad::device::Call& call, void* stream) {
                                          return run_on_device_memory(call, stream, nullptr);
                                      }};
    return &kLibrary;
}
