// The only OpenMP of the project.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/integers.h"

namespace ascend_grad {

// Threads that a parallel_for called from this thread may use.
int thread_limit();
// Sets the process-wide limit; 0 returns to OpenMP's own. A limit set through OpenMP itself still
// holds, unless it is the one that OpenMP began with.
void set_thread_limit(int count);
// What set_thread_limit was last given.
int thread_setting();
bool has_openmp();

// Threads worth using for work that moves this many bytes.
int threads_for(int64_t bytes);

inline constexpr int kAnyThreads = 1 << 20;
// Threads that had better each write a part of every run of memory, for one of which so many bytes
// are moved, in a call that moves call_bytes; kAnyThreads or less (core/processor.h).
int threads_for_written_runs(int64_t bytes, int64_t call_bytes);

// Where the share of [0, count) that one of `threads` gets begins, and that of the one before ends.
constexpr int64_t share_begin(int64_t count, int64_t threads, int64_t thread) {
    return count / threads * thread + std::min(count % threads, thread);
}
// Whether no thread's share of equal tasks is more than `uneven` times the mean.
bool are_even(int64_t tasks, int threads, double uneven);

// Work is cut into parts: how many of its units a part gets, about as many each, from `most` down
// to `least`, so that is_even(parts) holds. As many as with `least` where it never does.
template <class IsEven>
int64_t even_share(int64_t units, int64_t most, int64_t least, const IsEven& is_even) {
    int64_t part = std::min(most, units);
    while (part > least) {
        const int64_t parts = divide_up(units, part);
        if (is_even(parts)) break;
        part = std::max(least, (units - 1) / parts);
    }
    return even_part(units, part);
}

using RangeFunction = void (*)(const void* context, int64_t begin, int64_t end);

// Calls function on disjoint ranges that cover [0, count), at most `threads` of them at a time,
// each on a thread with the default floating point environment (round to nearest, subnormals kept).
// Results must not depend on how the range is cut.
void parallel_for(int64_t count, int threads, RangeFunction function, const void* context);

template <class Function>
void parallel_for(int64_t count, int threads, const Function& function) {
    parallel_for(
        count, threads,
        [](const void* context, int64_t begin, int64_t end) {
            (*static_cast<const Function*>(context))(begin, end);
        },
        &function);
}

}  // namespace ascend_grad
