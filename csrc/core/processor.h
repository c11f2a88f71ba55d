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
    // Whether loads along memory are to be asked for, as sums over channels and softmax do. Where
    // not, hardware foresees them, and asking takes up to 1.5 times as long; only what lies further
    // along memory is then asked for, by sums of channels that are last. Nor
    // does softmax then ask for the lines that short rows will store, which takes 1.03 to 1.1 times
    // as long (Zen 4).
    bool along_memory;
    // Whether that, loads across memory and short rows go to the second cache; else to the first.
    bool into_second;
    NextPlane next_plane;
    // Whether it pays to ask further ahead: sums of channels that are last and pooling for what
    // lies further on; softmax, while it writes a row of float past the caches, for the rows after
    // it, where it else reads the next one meanwhile. PReLU of few channels that are last in 16 bit
    // asks for none there. Tried on Zen 5 only.
    bool far_along_memory;
    // Whether softmax reads the next row while it writes one also of long rows of float from a
    // cache: there it takes 0.85 to 1 of the time (Granite Rapids), elsewhere up to 1.1 (Zen 5).
    bool reads_next_row;
    // Whether results of softmax that lie across rows, along which both inputs lie, had better be
    // made in panels even where they would pass the caches: 0.5 to 1 of the time on Zen 4,
    // elsewhere not measured.
    bool copies_transposed;
    // Whether pooling with windows around elements of long rows had better divide row by row, where
    // there is AVX-512: 0.45 to 0.95 of the time from memory, 0.7 to 1 in caches on Zen 4,
    // elsewhere not measured.
    bool divides_by_row;
    // What a call moves, at most, for its tensors to be expected in a cache: comes_from_memory().
    int64_t cached_bytes;
    // Sums along rows of so many bytes, kLongRun at most, had better read whole cache lines.
    int64_t aligned_bytes;
    // Threads that write parts of one run of memory had better move so many bytes each, in a call
    // that moves up to near_bytes: where a thread's part ends, lines go to and fro between threads,
    // as hardware fetches ahead what the next one writes.
    int64_t written_part_bytes, near_bytes;
    // From so many bytes that a call moves, results had better bypass the caches: in general, and
    // where that pays early.
    int64_t streamed_bytes, early_bytes;
    // Not before so many where they gain nothing as long as the third cache keeps them; 0 where
    // that cache is no larger than usual.
    int64_t kept_bytes;
    // Whether stores past the caches go on while others are computed; else 16-bit pooling, which is
    // bound by that, makes none.
    bool streams_beside_arithmetic;
};

const Processor& processor();
// Whether a call that moves so many bytes reads them from memory, not from a cache.
bool comes_from_memory(int64_t bytes);
// For tests: plans and runs are as on that one. Not while others plan or run.
void set_processor(const Processor& other);

}  // namespace ascend_grad
