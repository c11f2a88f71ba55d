// A catalogue of kernels with one realistic mistake each, and repaired by the least change where
// `repaired` is true. The line at fault carries the comment "expect: <rule>" or "expect note:
// <rule>"; the runner wants that report there, word for word as in reports.txt, and none from the
// repaired kernel.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "kernel_operator.h"

struct BrokenKernel {
    const char* file;
    int arch;
    unsigned blocks;
    using Run = void (*)(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace);
    Run run, run_repaired;
    BrokenKernel* next;
    static BrokenKernel* first;
    BrokenKernel(const char* f, unsigned b, Run broken, Run repaired)
        : file(f),
          arch(__CCE_AICORE__),
          blocks(b),
          run(broken),
          run_repaired(repaired),
          next(first) {
        first = this;
    }
};

// x, y: 16384 floats of 1; z: 65536 bytes nobody wrote; workspace: 65536 zero bytes.
#define BROKEN_KERNEL(blocks)                                                        \
    template <bool repaired>                                                         \
    static void kernel(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace);          \
    static BrokenKernel registration(__FILE__, blocks, kernel<false>, kernel<true>); \
    template <bool repaired>                                                         \
    static void kernel([[maybe_unused]] GM_ADDR x, [[maybe_unused]] GM_ADDR y,       \
                       [[maybe_unused]] GM_ADDR z, [[maybe_unused]] GM_ADDR workspace)

using namespace AscendC;

// The host lets the cores pass one after the other, unknown to the emulator: which of two racing
// cores is second, and thus reports, would otherwise be luck.
struct InTurn {
    InTurn() {
        std::unique_lock<std::mutex> lock(mutex);
        const auto my_turn = [] { return next == GetBlockIdx(); };
        while (!changed.wait_for(lock, std::chrono::milliseconds(1), my_turn))
            PipeBarrier<PIPE_V>();  // unwinds when the launch has stopped
    }
    ~InTurn() {
        std::lock_guard<std::mutex> lock(mutex);
        ++next;
        changed.notify_all();
    }
    static inline std::mutex mutex;
    static inline std::condition_variable changed;
    static inline int64_t next = 0;
};

template <typename T>
inline GlobalTensor<T> global(GM_ADDR p, uint64_t elements = 0) {
    GlobalTensor<T> t;
    t.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(p), elements);
    return t;
}
