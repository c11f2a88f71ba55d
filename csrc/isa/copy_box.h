// Copies boxes of elements from some strides to others, bits as they are.
#pragma once

#include <cstdint>

#include "isa/levels.h"

namespace ascend_grad {

// Strides in bytes. Loops get copies: compilers would load them anew after every store.
struct CopyAxis {
    int64_t count;
    int64_t from;
    int64_t to;
};

// How many bytes further on lines are asked for that a later copy reads, or writes; 0: none. Only
// whole runs and whole blocks are asked for, not elements one by one. And where stores go.
struct CopyAhead {
    int64_t from = 0, to = 0;
    bool streams = false;  // whole cache lines that are written go past the caches
};

// Axes of a box, at most.
constexpr int kCopyAxes = 6;

// By copy_box_index(). There is room for three axes at least; their order is free, and changed.
using CopyBox = void (*)(char* to, const char* from, CopyAxis* axes, int count, CopyAhead ahead);
OF_EACH_LEVEL(extern const CopyBox copy_box[3])

// Of elements of so many bytes: 2, 4 or 8.
constexpr int copy_box_index(int64_t size) {
    return size == 2 ? 0 : size == 4 ? 1 : 2;
}

}  // namespace ascend_grad
