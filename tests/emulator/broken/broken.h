// A catalogue of kernels with one realistic mistake each. The line at fault carries the comment
// "expect: <rule>"; the runner parses it and wants exactly that report first.
#pragma once

#include "kernel_operator.h"

struct BrokenKernel {
    const char* file;
    int arch;
    unsigned blocks;
    void (*run)(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace);
    BrokenKernel* next;
    static BrokenKernel* first;
    BrokenKernel(const char* f, unsigned b, decltype(run) r)
        : file(f), arch(__CCE_AICORE__), blocks(b), run(r), next(first) {
        first = this;
    }
};

// x, y: 16384 floats of 1; z: 65536 bytes nobody wrote; workspace: 65536 zero bytes.
#define BROKEN_KERNEL(blocks)                                                  \
    static void kernel(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace);    \
    static BrokenKernel registration(__FILE__, blocks, kernel);                \
    static void kernel([[maybe_unused]] GM_ADDR x, [[maybe_unused]] GM_ADDR y, \
                       [[maybe_unused]] GM_ADDR z, [[maybe_unused]] GM_ADDR workspace)

using namespace AscendC;

template <typename T>
inline GlobalTensor<T> global(GM_ADDR p, uint64_t elements = 0) {
    GlobalTensor<T> t;
    t.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(p), elements);
    return t;
}
