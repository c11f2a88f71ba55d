#include "capi/memory.h"

#include <sys/sysinfo.h>

#include <cstdint>
#include <cstdlib>
#include <map>

#include "capi/fork_safety.h"

namespace ascend_grad::capi {
namespace {

constexpr size_t kAlignment = 512;  // as on the device
// Kernels of some products read whole blocks.
constexpr size_t kSlackBehindDeviceMemory = 32;

struct Blocks {
    std::mutex* const mutex = make_fork_safe_mutex();
    std::map<uintptr_t, BlockHold> by_address;
};

Blocks& blocks() {
    static Blocks* const instance = new Blocks;  // never destroyed: queued work may still end
    return *instance;
}

char* allocate_aligned(size_t size, size_t slack) {
    static const size_t most = machine_memory().total;
    if (size > most) return nullptr;
    // Not aligned_alloc, which wants a rounded size: memory checkers then miss what leaves the
    // block.
    void* memory = nullptr;
    return posix_memalign(&memory, kAlignment, size + slack) == 0 ? static_cast<char*>(memory) : nullptr;
}

}  // namespace

Block::Block(MemoryKind kind, size_t size)
    : kind(kind),
      address(allocate_aligned(size, kind == MemoryKind::kDevice ? kSlackBehindDeviceMemory : 0)),
      size(size) {}

Block::~Block() {
    std::free(address);
}

MachineMemory machine_memory() {
    struct sysinfo info = {};
    sysinfo(&info);
    return {static_cast<size_t>(info.freeram) * info.mem_unit,
            static_cast<size_t>(info.totalram) * info.mem_unit};
}

void* allocate(MemoryKind kind, size_t size) {
    const auto block = std::make_shared<const Block>(kind, size);
    if (block->address == nullptr) return nullptr;
    const std::lock_guard<std::mutex> lock(*blocks().mutex);
    blocks().by_address.emplace(reinterpret_cast<uintptr_t>(block->address), block);
    return block->address;
}

BlockHold find_block(const void* pointer) {
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    const std::lock_guard<std::mutex> lock(*blocks().mutex);
    auto next = blocks().by_address.upper_bound(address);
    if (next == blocks().by_address.begin()) return nullptr;
    const auto& [begin, block] = *--next;
    return address - begin < block->size ? block : nullptr;
}

bool release(const void* pointer) {
    BlockHold block;  // freed after the lock
    const std::lock_guard<std::mutex> lock(*blocks().mutex);
    const auto found = blocks().by_address.find(reinterpret_cast<uintptr_t>(pointer));
    if (found == blocks().by_address.end()) return false;
    block = std::move(found->second);
    blocks().by_address.erase(found);
    return true;
}

}  // namespace ascend_grad::capi
