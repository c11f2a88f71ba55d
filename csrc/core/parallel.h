// The only OpenMP of the project.
#pragma once

#include <cstdint>

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

// Each of `outer` equal pieces of work has `units`, to be cut into parts: how many units a part
// gets, about as many each, from `most` down to `least`, so that no thread's share is more than
// `uneven` times the mean. As many as with `least` where none does it.
int64_t even_share(int64_t units, int64_t most, int64_t least, int64_t outer, int threads,
                   double uneven);

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
