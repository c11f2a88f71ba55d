// The runner on a runtime that is made up: work is queued until somebody waits for it, and
// launches, waits and allocations fail where a test says so.
#include "launch/runner.h"

#include <acl/acl.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#include "launch/backend.h"
#include "launch/kernel_table.h"
#include "launch/memory_pool.h"
#include "require.h"

using namespace ascend_grad;
using namespace ascend_grad::launch;

namespace {

constexpr aclError kRefusal = 507000;
constexpr size_t kGiB = size_t{1} << 30;

struct Runtime {
    aclrtContext context = nullptr;
    aclError wait_result = ACL_SUCCESS;
    uint32_t second_launch_result = 0;
    std::vector<void*> queued;    // what launches that may still run were given
    std::vector<void*> launched;  // what the latest was given
    std::map<void*, size_t> allocated;
    size_t free_bytes = 64 * kGiB;
    size_t asked_for = 0;  // by the latest allocation
};
Runtime& g_runtime = *new Runtime;  // leak checkers find what it holds

void require_unused(const void* memory) {
    const auto& queued = g_runtime.queued;
    require(std::find(queued.begin(), queued.end(), memory) == queued.end(),
            "memory is used again or freed before the kernels that have it are done");
}

uint32_t launch_first(uint32_t, void*, void* const* pointers, const void*) {
    g_runtime.launched.assign(pointers, pointers + 3);
    g_runtime.queued = g_runtime.launched;
    return 0;
}
uint32_t launch_second(uint32_t, void*, void* const*, const void*) {
    return g_runtime.second_launch_result;
}

constexpr OperatorInfo kInfo{
    {"doubled", "doubled"},
    ~0u,
    2,
    {{{"source", "source"}, Role::kInput}, {{"target", "target"}, Role::kOutput}}};

struct TwoLaunches {
    float source[64] = {}, target[64] = {};
    device::Call call;

    TwoLaunches() {
        call.info = &kInfo;
        const int64_t count = 64;
        float* const arrays[] = {source, target};
        for (int i = 0; i < 2; ++i) {
            call.present[i] = true;
            call.tensors[i].dtype = DataType::kFloat32;
            call.tensors[i].data = arrays[i];
            set_contiguous(call.tensors[i], 1, &count);
        }
        call.plan.workspace_size = 4096;
        call.plan.launch_count = 2;
        for (int i = 0; i < 2; ++i) {
            device::Launch& launch = call.plan.launches[i];
            launch.kernel = i == 0 ? "first" : "second";
            launch.pointer_count = 3;
            launch.pointers[0] = {0, 0};
            launch.pointers[1] = {1, 0};
            launch.pointers[2] = {device::Pointer::kWorkspace, 0};
        }
    }
    Status run() { return run_on_host_memory(call, nullptr); }
    void* workspace_on_device() {
        require(run_on_device_memory(call, nullptr, nullptr).ok(), "a call on device memory runs");
        return g_runtime.launched[2];
    }
};

void check_memory_after_failures() {
    TwoLaunches call;
    require(call.run().ok(), "a call runs");
    g_runtime.second_launch_result = 7;
    require(call.run().code() == StatusCode::kInner, "a failed launch is an error");
    g_runtime.second_launch_result = 0;
    require(call.run().ok(), "a call runs after a failed launch");
    g_runtime.wait_result = kRefusal;
    require(call.run().code() == StatusCode::kRuntimeError, "a failed wait is an error");
    require(!g_runtime.queued.empty(), "its kernels may still run");
    g_runtime.wait_result = ACL_SUCCESS;
    require(call.run().ok(), "a call runs after a failed wait");
}

void check_contexts() {
    TwoLaunches call;
    int contexts[2];
    g_runtime.context = &contexts[0];
    void* const workspace = call.workspace_on_device();
    require(call.workspace_on_device() == workspace, "a context's stream keeps its workspace");
    g_runtime.context = &contexts[1];
    require(call.workspace_on_device() != workspace, "default streams of two contexts share none");
}

void check_sizes_of_blocks() {
    MemoryPool pool;
    void* const even = pool.take(16 << 20);
    require(g_runtime.asked_for == 16 << 20, "powers of two take no more");
    pool.give_back(even);
    require(pool.take(16 << 20) == even, "what was given back is taken again");
    for (size_t bytes = 1; bytes < kGiB; bytes = bytes * 9 / 8 + 1) {
        void* const memory = pool.take(bytes);
        const size_t size = g_runtime.allocated[memory];
        require(size >= bytes, "a block has what is asked for");
        require(size <= bytes + std::max<size_t>(bytes / 8, 511), "at most an eighth is wasted");
        pool.give_back(memory);
    }
    void* const late = pool.take(16 << 20);
    pool.give_back(late);
    require(pool.take(16 << 20) == late, "sizes of the past do not keep out those of now");
    require(pool.take(SIZE_MAX) == nullptr, "no memory has so many bytes");
}

void check_full_device() {
    MemoryPool pool;
    g_runtime.free_bytes = size_t{300} << 20;
    pool.give_back(pool.take(size_t{200} << 20));
    require(g_runtime.free_bytes < size_t{100} << 20, "what is idle is kept");
    require(pool.take(size_t{280} << 20) != nullptr, "idle blocks of other sizes make room");
    require(pool.take(size_t{100} << 20) == nullptr, "a full device has no memory");
}

}  // namespace

aclError aclInit(const char*) {
    return ACL_SUCCESS;
}
aclError aclrtGetDevice(int32_t* id) {
    *id = 0;
    return ACL_SUCCESS;
}
aclError aclrtSetDevice(int32_t) {
    return ACL_SUCCESS;
}
aclError aclrtGetCurrentContext(aclrtContext* context) {
    *context = g_runtime.context;
    return ACL_SUCCESS;
}
aclError aclrtMalloc(void** memory, size_t bytes, aclrtMemMallocPolicy) {
    g_runtime.asked_for = bytes;
    if (bytes > g_runtime.free_bytes) return ACL_ERROR_RT_MEMORY_ALLOCATION;
    g_runtime.free_bytes -= bytes;
    *memory = std::malloc(std::min<size_t>(bytes, 1 << 16));  // nobody touches more
    g_runtime.allocated[*memory] = bytes;
    return ACL_SUCCESS;
}
aclError aclrtFree(void* memory) {
    require_unused(memory);
    g_runtime.free_bytes += g_runtime.allocated[memory];
    g_runtime.allocated.erase(memory);
    std::free(memory);
    return ACL_SUCCESS;
}
aclError aclrtMemcpy(void* to, size_t, const void* from, size_t bytes, aclrtMemcpyKind kind) {
    if (kind == ACL_MEMCPY_HOST_TO_DEVICE) require_unused(to);
    std::memcpy(to, from, bytes);
    return ACL_SUCCESS;
}
aclError aclrtMemset(void* memory, size_t, int32_t value, size_t bytes) {
    require_unused(memory);
    std::memset(memory, value, bytes);
    return ACL_SUCCESS;
}
aclError aclrtMemsetAsync(void*, size_t, int32_t, size_t, aclrtStream) {
    return ACL_SUCCESS;
}
aclError aclrtSynchronizeStream(aclrtStream) {
    if (g_runtime.wait_result == ACL_SUCCESS) g_runtime.queued.clear();
    return g_runtime.wait_result;
}
aclError aclrtSynchronizeDevice() {
    return aclrtSynchronizeStream(nullptr);
}
const char* aclGetRecentErrMsg() {
    return "";
}

namespace ascend_grad::launch {

bool backend_core_count(int32_t, uint32_t& cores) {
    cores = 1;
    return true;
}
void backend_set_records(std::vector<LaunchRecord>*) {}
void backend_watch(void*, size_t, const std::string&, bool) {}
void backend_unwatch(void*) {}
void backend_spoil(void*, size_t) {}

const int kArch = 220;

const Kernel* find_kernel(const char* name) {
    static constexpr Kernel kFirst{"first", 3, launch_first};
    static constexpr Kernel kSecond{"second", 3, launch_second};
    return std::strcmp(name, "first") == 0 ? &kFirst : &kSecond;
}

}  // namespace ascend_grad::launch

int main() {
    check_memory_after_failures();
    check_contexts();
    check_sizes_of_blocks();
    check_full_device();
}
