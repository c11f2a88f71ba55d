#include "capi/memory.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <map>

#include "capi/fork_safety.h"
#include "core/huge_page.h"

namespace ascend_grad::capi {
namespace {

constexpr size_t kAlignment = 512;  // as on the device
// Kernels of some products read whole blocks.
constexpr size_t kSlackBehindDeviceMemory = 32;

// Small blocks are kept for a while after they were freed: whoever still uses one is told.
constexpr size_t kMaxFreed = 256;
constexpr size_t kMaxFreedSize = 64 * 1024;

using BlockMap = std::map<uintptr_t, BlockHold>;

struct Blocks {
    std::mutex* const mutex = make_fork_safe_mutex();
    BlockMap by_address;
    BlockMap freed;
    uintptr_t freed_order[kMaxFreed] = {};  // a ring of the keys of `freed`
    size_t freed_count = 0;                 // ever
};

BlockHold find_in(const BlockMap& map, const void* pointer) {
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    auto next = map.upper_bound(address);
    if (next == map.begin()) return nullptr;
    const auto& [begin, block] = *--next;
    return address - begin < block->size ? block : nullptr;
}

auto& g_blocks = *new Blocks;
const size_t g_total_memory = machine_memory().total;
const auto g_page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));

char* allocate_aligned(size_t size, size_t slack) {
    if (size > g_total_memory) return nullptr;
    // Not aligned_alloc, which wants a rounded size: memory checkers then miss what leaves the
    // block.
    void* memory = nullptr;
    const bool is_huge = size >= kSmallestHuge;
    if (posix_memalign(&memory, is_huge ? kHugePage : kAlignment, size + slack) != 0)
        return nullptr;
    // A wish: without it nothing but time is lost.
    if (is_huge) madvise(memory, size / kHugePage * kHugePage, MADV_HUGEPAGE);
    return static_cast<char*>(memory);
}

// A program's first thread has its stack mapped only as far as it has been used.
bool is_on_own_stack(uintptr_t begin, uintptr_t end) {
    pthread_attr_t attributes;
    void* lowest = nullptr;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return false;
    pthread_attr_getstack(&attributes, &lowest, &size);
    pthread_attr_destroy(&attributes);
    const auto stack = reinterpret_cast<uintptr_t>(lowest);
    return begin >= stack && end - stack <= size;
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
    const std::lock_guard<std::mutex> lock(*g_blocks.mutex);
    g_blocks.by_address.emplace(reinterpret_cast<uintptr_t>(block->address), block);
    return block->address;
}

BlockHold find_block(const void* pointer) {
    const std::lock_guard<std::mutex> lock(*g_blocks.mutex);
    return find_in(g_blocks.by_address, pointer);
}

bool is_mapped(const void* pointer, size_t bytes) {
    const auto begin = reinterpret_cast<uintptr_t>(pointer);
    if (bytes == 0) return true;
    if (begin > INTPTR_MAX || bytes > INTPTR_MAX - begin) return false;
    {
        const std::lock_guard<std::mutex> lock(*g_blocks.mutex);
        if (find_in(g_blocks.freed, pointer) != nullptr) return false;
    }
    const uintptr_t first = begin / g_page * g_page;
    // Writes nothing: it only looks for gaps.
    const int status = msync(reinterpret_cast<void*>(first), begin - first + bytes, MS_ASYNC);
    return status == 0 || errno != ENOMEM || is_on_own_stack(begin, begin + bytes);
}

bool release(const void* pointer) {
    BlockMap::node_type ended;  // after the lock
    Blocks& all = g_blocks;
    const std::lock_guard<std::mutex> lock(*all.mutex);
    ended = all.by_address.extract(reinterpret_cast<uintptr_t>(pointer));
    if (ended.empty()) return false;
    if (ended.mapped()->size > kMaxFreedSize) return true;
    // Allocates nothing: the entry itself moves.
    uintptr_t& place = all.freed_order[all.freed_count++ % kMaxFreed];
    BlockMap::node_type oldest = all.freed.extract(place);
    place = ended.key();
    all.freed.insert(std::move(ended));
    ended = std::move(oldest);
    return true;
}

}  // namespace ascend_grad::capi
