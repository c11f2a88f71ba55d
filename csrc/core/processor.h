// What is best for this processor's memory. No result depends on it.
#pragma once

#include <cstdint>

namespace ascend_grad {

// Which planes softmax asks for while it writes the one before: none; those that come from memory
// (tried on Zen 4 only); of 16 bit also small ones from a cache, of float small ones that come from
// memory (Zen 5).
enum class NextPlane { kNone, kFromMemory, kSmallOrNarrow };

// Measured (docs/performance.md, "Prefetching", "Streaming").
struct Processor {
    // Whether channel sums and softmax ask for what they will load along memory. Where not,
    // hardware finds it by itself, and asking takes up to 1.5 times as long; but for sums of
    // channels that are last, which then ask for what lies further along it into the second cache.
    bool along_memory;
    // Whether they ask for other lines, and softmax for short rows, into the second cache; else
    // into the first.
    bool into_second;
    NextPlane next_plane;
    // Whether sums of channels that are last ask for what lies further along memory, and pooling
    // for rows further ahead; and softmax, while it writes a row of float past the caches, for the
    // rows after it, where it else reads the next one meanwhile. Tried on Zen 5 only.
    bool far_along_memory;
    // Of a call that moves more bytes, tensors are not expected in a cache.
    int64_t cached_bytes;
    // From so many bytes that a call moves, results had better bypass the caches: in general, and
    // where that pays early.
    int64_t streamed_bytes, early_bytes;
    // Not before so many where they gain nothing as long as the third cache keeps them; 0 where
    // that cache is none larger than usual.
    int64_t kept_bytes;
    // Whether stores past the caches go on while others are computed; else 16-bit pooling, which is
    // bound by that, makes none.
    bool streams_beside_arithmetic;
};

const Processor& processor();
// For tests: plans and runs are as on that one. Not while others plan or run.
void set_processor(const Processor& other);

}  // namespace ascend_grad
