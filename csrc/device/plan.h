// A call on an Ascend device as data: which kernels run, one after the other, on which memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

namespace ascend_grad::device {

// What tiling must know of a product.
struct Product {
    int arch;                 // __CCE_AICORE__ of its kernels: 220, 200 or 100
    uint32_t cores;           // that kernels of ours may use
    uint32_t buffer_bytes;    // of a core's unified buffer, without what instructions may borrow
    uint32_t borrowed_bytes;  // that, behind those
    bool has_byte_copies;     // DataCopyPad: any number of bytes; else whole blocks of 32
    bool has_core_barrier;    // SyncAll in hardware; else through global memory
};

// Memory of one tensor of the call, or of the workspace.
struct Pointer {
    static constexpr int32_t kNone = -2;       // a null pointer
    static constexpr int32_t kWorkspace = -1;  // else the index of a tensor in the prototype
    int32_t memory = kNone;
    int64_t offset = 0;  // bytes from the workspace's begin, or from the tensor's element 0
};

// One kernel launch. Every kernel takes its pointers, then its tiling data by value.
struct Launch {
    static constexpr int kMaxPointers = 9;
    static constexpr size_t kMaxTilingBytes = 320;

    const char* kernel;  // entry point, as in kernels_ascendc/kernels.def
    uint32_t blocks;     // cores
    int32_t pointer_count;
    Pointer pointers[kMaxPointers];
    alignas(8) unsigned char tiling[kMaxTilingBytes];

    template <class Tiling>
    void set_tiling(const Tiling& data) {
        static_assert(sizeof(Tiling) <= kMaxTilingBytes && sizeof(Tiling) % 8 == 0);
        static_assert(std::is_trivially_copyable_v<Tiling>);
        std::memcpy(tiling, &data, sizeof(Tiling));
    }
    template <class Tiling>
    Tiling get_tiling() const {
        Tiling data;
        std::memcpy(&data, tiling, sizeof(Tiling));
        return data;
    }
};

struct Plan {
    static constexpr int kMaxLaunches = 16;
    uint64_t workspace_size = 0;  // bytes, to be aligned to 512
    uint64_t zeroed_bytes = 0;    // at the workspace's begin, to be 0 before the first launch
    int32_t launch_count = 0;
    Launch launches[kMaxLaunches];
};

// "launches <kernel> on 8 cores, ..., workspace 0 bytes"
std::string summary_of(const Plan& plan);

}  // namespace ascend_grad::device
