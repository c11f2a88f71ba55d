// What the limit kernels of the benchmark move, and how they cut it.
#pragma once

#include <cstdint>

#include "isa/levels.h"

namespace ascend_grad::bench {

constexpr int64_t kLineBytes = 64;

struct Vector {
    long long values __attribute__((vector_size(32)));
};

struct Line {
    Vector halves[2];
};

// Whose arithmetic a mover does besides.
enum class Arithmetic : int32_t { kNone, kBatchNorm, kPrelu, kSoftmax, kAvgPool };

// kAvgPool.
struct Windows {
    int32_t additions;  // per four elements of the target
    int32_t shifted;    // of these: of neighbours in a vector
    int32_t equal;      // elements of the target under the same windows, which are rounded once
};

// kSoftmax along a strided axis: planes whose rows are `pitch` elements apart, which fill them, in
// strips of columns; a step is a strip of a plane. 0: a step is a row, or several.
struct Strips {
    int64_t columns, pitch;  // multiples of 32
};
constexpr int64_t kMostColumns = 4096;

// One or two sources of equal size that are read, and a target that is written; sizes in lines, 0
// for none.
struct Traffic {
    const Line* first;
    const Line* second;
    Line* target;
    int64_t source_lines, target_lines;
    bool asks;  // prefetching sources; not of strips, nor of rows by themselves
    Arithmetic arithmetic;
    Windows windows;
    int64_t row;  // kBatchNorm: elements that are added up by themselves; 0: all are one row
    Strips strips;
};

// Does steps [begin, end) of `steps` equal shares of all buffers.
using Mover = void (*)(const Traffic& traffic, bool stream, int64_t steps, int64_t begin,
                       int64_t end);

// Start of a share. Inlined even without optimisation: instruction set levels must not share it.
__attribute__((always_inline)) inline int64_t share(int64_t lines, int64_t step, int64_t steps) {
    return static_cast<int64_t>(static_cast<__int128>(lines) * step / steps);
}

// Movers that also do an operator's arithmetic, by dtype of the elements: float32, float16,
// bfloat16.
OF_EACH_LEVEL(extern const Mover movers[3])

}  // namespace ascend_grad::bench
