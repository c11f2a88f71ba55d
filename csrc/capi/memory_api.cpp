#include "acl/acl_rt.h"
#include "capi/context.h"
#include "capi/memory.h"
#include "capi/raw_value.h"

using namespace ascend_grad;
using namespace ascend_grad::capi;

namespace {

constexpr const char* kAllocator[] = {"aclrtMalloc", "aclrtMallocHost"};

const char* allocator_of(MemoryKind kind) {
    return kAllocator[static_cast<int>(kind)];
}

int allocate_memory(const char* function, const char* parameter, MemoryKind kind, void** pointer,
                    size_t size) {
    if (pointer == nullptr) return fail_null(function, parameter);
    std::shared_ptr<Context> context;
    ACL_TRY(current_context(function, context));
    if (size == 0)
        return fail(ACL_ERROR_INVALID_PARAM, function, "size", "must be at least 1 byte, got 0");
    void* const memory = allocate(kind, size);
    if (memory == nullptr) {
        return fail(ACL_ERROR_RT_MEMORY_ALLOCATION, function, "size",
                    "not enough memory for " + std::to_string(size) + " bytes; the machine has " +
                        std::to_string(machine_memory().total));
    }
    *pointer = memory;
    return ACL_SUCCESS;
}

int free_memory(const char* function, const char* parameter, MemoryKind kind, void* pointer) {
    if (pointer == nullptr) return fail_null(function, parameter);
    const BlockHold block = find_block(pointer);
    std::string given;
    if (block == nullptr) {
        given = "an address that was freed before or never allocated";
    } else if (block->address != pointer) {
        given = "one " + std::to_string(static_cast<char*>(pointer) - block->address) +
                " bytes inside a block";
    } else if (block->kind != kind) {
        given = std::string("a block of ") + allocator_of(block->kind);
    } else if (release(pointer)) {
        return ACL_SUCCESS;
    } else {
        given = "a block that another thread freed meanwhile";
    }
    return fail(
        ACL_ERROR_RT_MEMORY_FREE, function, parameter,
        std::string("must be the address of a block of ") + allocator_of(kind) + ", got " + given);
}

}  // namespace

aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy) {
    return guarded(__func__, kAclCodes, [&](const char* function) {
        return allocate_memory(function, "devPtr", MemoryKind::kDevice, devPtr, size);
    });
}

aclError aclrtMallocAlign32(void** devPtr, size_t size, aclrtMemMallocPolicy) {
    return guarded(__func__, kAclCodes, [&](const char* function) {
        return allocate_memory(function, "devPtr", MemoryKind::kDevice, devPtr, size);
    });
}

aclError aclrtMallocCached(void** devPtr, size_t size, aclrtMemMallocPolicy) {
    return guarded(__func__, kAclCodes, [&](const char* function) {
        return allocate_memory(function, "devPtr", MemoryKind::kDevice, devPtr, size);
    });
}

aclError aclrtFree(void* devPtr) {
    return guarded(__func__, kAclCodes, [&](const char* function) {
        return free_memory(function, "devPtr", MemoryKind::kDevice, devPtr);
    });
}

aclError aclrtMallocHost(void** hostPtr, size_t size) {
    return guarded(__func__, kAclCodes, [&](const char* function) {
        return allocate_memory(function, "hostPtr", MemoryKind::kHost, hostPtr, size);
    });
}

aclError aclrtFreeHost(void* hostPtr) {
    return guarded(__func__, kAclCodes, [&](const char* function) {
        return free_memory(function, "hostPtr", MemoryKind::kHost, hostPtr);
    });
}

aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t* free, size_t* total) {
    return guarded(__func__, kAclCodes, [&](const char* function) -> int {
        if (free == nullptr) return fail_null(function, "free");
        if (total == nullptr) return fail_null(function, "total");
        std::shared_ptr<Context> context;
        ACL_TRY(current_context(function, context));
        const int value = raw_value(attr);
        if (value < ACL_DDR_MEM || value > ACL_HBM_MEM_P2P_HUGE1G) {
            return fail(ACL_ERROR_INVALID_PARAM, function, "attr",
                        "must be between ACL_DDR_MEM (0) and ACL_HBM_MEM_P2P_HUGE1G (11), got " +
                            std::to_string(value));
        }
        const MachineMemory memory = machine_memory();
        *free = memory.free;
        *total = memory.total;
        return ACL_SUCCESS;
    });
}
