#include "launch/memory_pool.h"

#include <acl/acl.h>

#include <algorithm>

namespace ascend_grad::launch {
namespace {

constexpr size_t kMostBytes = size_t{1} << 62;

// Up to the next eighth of a power of two, so that few sizes serve all calls and little is wasted.
size_t class_of(size_t bytes) {
    size_t step = 512;
    while (16 * step < bytes) step *= 2;
    return (bytes + step - 1) / step * step;
}

void* allocate(size_t bytes) {
    void* memory = nullptr;
    const bool ok = aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS;
    return ok ? memory : nullptr;
}

}  // namespace

void* MemoryPool::take(size_t bytes) {
    if (bytes > kMostBytes) return nullptr;
    const size_t size = class_of(bytes);
    void* memory = nullptr;
    const auto fits = [&](const Block& block) { return block.bytes == size; };
    if (const auto found = std::find_if(idle_.begin(), idle_.end(), fits); found != idle_.end()) {
        memory = found->memory;
        idle_.erase(found);
        idle_bytes_ -= size;
    } else {
        memory = allocate(size);
        if (memory == nullptr) {
            free_idle_down_to(0);
            memory = allocate(size);
        }
        if (memory == nullptr) return nullptr;
    }
    used_.emplace(memory, size);
    return memory;
}

void MemoryPool::give_back(void* memory) {
    const auto found = used_.find(memory);
    const size_t size = found->second;
    used_.erase(found);
    idle_.push_back({memory, size});
    idle_bytes_ += size;
    free_idle_down_to(kMaxIdleBytes);
}

void MemoryPool::abandon(void* memory) {
    used_.erase(memory);
}

void MemoryPool::free_idle_down_to(size_t bytes) {
    while (idle_bytes_ > bytes) {
        aclrtFree(idle_.front().memory);
        idle_bytes_ -= idle_.front().bytes;
        idle_.pop_front();
    }
}

}  // namespace ascend_grad::launch
