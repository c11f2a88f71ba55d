#include "capi/handles.h"

#include <atomic>
#include <cstdio>

namespace ascend_grad::capi {
namespace {

constexpr const char* kKindNames[] = {
    "aclTensor",    "aclIntArray",   "aclFloatArray", "aclBoolArray",
    "aclScalar",    "aclTensorList", "aclScalarList", "aclOpExecutor",
    "aclrtContext", "aclrtStream",   "aclrtEvent",
};
constexpr size_t kKinds = sizeof(kKindNames) / sizeof(kKindNames[0]);

// The kind stands in the highest byte, with the highest bit set: no address of a user process looks
// like that.
constexpr int kKindShift = 56;
constexpr uint64_t kMark = 0x80;

std::atomic<uint64_t> g_next[kKinds] = {};

}  // namespace

void* new_handle(HandleKind kind) {
    const uint64_t number =
        g_next[static_cast<size_t>(kind)].fetch_add(1, std::memory_order_relaxed) + 1;
    const uint64_t mark = kMark | static_cast<uint64_t>(kind);
    return reinterpret_cast<void*>(static_cast<uintptr_t>(mark << kKindShift | number));
}

std::string refuse_handle(const void* handle, HandleKind expected) {
    const uint64_t value = reinterpret_cast<uintptr_t>(handle);
    const uint64_t kind = value >> kKindShift ^ kMark;
    const uint64_t number = value & ((uint64_t{1} << kKindShift) - 1);
    const auto wanted = static_cast<size_t>(expected);
    std::string text = std::string("must be a live ") + kKindNames[wanted] + ", got ";
    if (kind >= kKinds || number == 0 || number > g_next[kind].load(std::memory_order_relaxed)) {
        char address[32];
        std::snprintf(address, sizeof(address), "%p", handle);
        return text + address + ", which this library never gave out";
    }
    text.append("an ").append(kKindNames[kind]);
    return kind == wanted ? text + " that was destroyed or used up" : text;
}

}  // namespace ascend_grad::capi
