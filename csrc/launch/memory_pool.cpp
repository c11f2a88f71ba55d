#include "launch/memory_pool.h"

#include <acl/acl.h>

namespace ascend_grad::launch {
namespace {

// A power of two, so that a few sizes serve all calls.
size_t class_of(size_t bytes) {
    size_t size = 4096;
    while (size < bytes) size *= 2;
    return size;
}

constexpr size_t kSlack = 512;
constexpr size_t kMostBytes = size_t{1} << 62;

}  // namespace

void* MemoryPool::take(size_t bytes) {
    if (bytes > kMostBytes - kSlack) return nullptr;
    const size_t size = class_of(bytes + kSlack);
    void* memory = nullptr;
    if (const auto found = idle_.find(size); found != idle_.end()) {
        memory = found->second;
        idle_.erase(found);
        idle_bytes_ -= size;
    } else if (aclrtMalloc(&memory, size, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) {
        return nullptr;
    }
    used_.emplace(memory, size);
    return memory;
}

void MemoryPool::give_back(void* memory) {
    const auto found = used_.find(memory);
    const size_t size = found->second;
    used_.erase(found);
    if (idle_bytes_ + size > kMaxIdleBytes) {
        aclrtFree(memory);
        return;
    }
    idle_.emplace(size, memory);
    idle_bytes_ += size;
}

}  // namespace ascend_grad::launch
