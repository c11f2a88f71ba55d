// The blocks of memory that aclrtMalloc and aclrtMallocHost gave out.
#pragma once

#include <cstddef>
#include <memory>

namespace ascend_grad::capi {

enum class MemoryKind { kDevice, kHost };

struct Block {
    const MemoryKind kind;
    char* const address;
    const size_t size;  // bytes that were asked for

    Block(MemoryKind kind, size_t size);  // address is null when there is not enough memory
    ~Block();
    Block(const Block&) = delete;

    // Whether `bytes` from `pointer`, which lies inside, stay inside.
    bool holds(const void* pointer, size_t bytes) const {
        return bytes <= size - static_cast<size_t>(static_cast<const char*>(pointer) - address);
    }
};

// Memory that is in use stays while somebody holds it, also after release.
using BlockHold = std::shared_ptr<const Block>;

struct MachineMemory {
    size_t free, total;  // bytes
};
MachineMemory machine_memory();

// Null when there is not enough memory.
void* allocate(MemoryKind kind, size_t size);
// The block that the pointer lies in; null for memory of other origin.
BlockHold find_block(const void* pointer);
// Whether the process has all these bytes, and they are no block that was freed lately: what can be
// told of memory of other origin.
bool is_mapped(const void* pointer, size_t bytes);
// Removes the block that begins at `pointer`; false when there is none.
bool release(const void* pointer);

}  // namespace ascend_grad::capi
