// Reads and ordinary stores that are to come.
#pragma once

#include "core/cache_line.h"
#include "isa/lanes.h"

namespace ascend_grad {
namespace {

// To load into. Lines that lie a power of two apart go to the second: they compete for the same few
// places of the first.
enum class Cache { kSecond = 2, kFirst = 3 };

// Asks for the lines of `bytes` bytes that begin `ahead` bytes behind p; `ahead` may be a negative
// number, wrapped. An address that does not exist does no harm.
template <Cache kCache>
AG_INLINE void prefetch(const void* p, uintptr_t ahead, int bytes) {
    constexpr int kRead = 0;
    const uintptr_t from = reinterpret_cast<uintptr_t>(p) + ahead;
    for (int i = 0; i < bytes; i += static_cast<int>(kCacheLine)) {
        __builtin_prefetch(reinterpret_cast<const void*>(from + static_cast<uintptr_t>(i)), kRead,
                           static_cast<int>(kCache));
    }
}
AG_INLINE void prefetch(const void* p, uintptr_t ahead, int bytes, bool into_second) {
    into_second ? prefetch<Cache::kSecond>(p, ahead, bytes)
                : prefetch<Cache::kFirst>(p, ahead, bytes);
}

// The same for what is copied later, `ahead` bytes behind p; 0: nothing.
AG_INLINE void ask_ahead(const void* p, int64_t ahead, int bytes) {
    if (ahead != 0) prefetch<Cache::kSecond>(p, static_cast<uintptr_t>(ahead), bytes);
}

// How many bytes ahead inputs are asked for by loops along memory. Left to itself, the hardware
// takes up to half as long again from memory; with half or a quarter of the distance Zen 5 takes up
// to 1.7 times as long (measured on Granite Rapids and Zen 5; for Zen 4 see core/processor.h).
constexpr uintptr_t kAhead = 4096;

// Before `elements` are loaded from both.
template <class T>
AG_INLINE void prefetch_loads(const T* a, const T* b, int elements, uintptr_t ahead = kAhead) {
    prefetch<Cache::kFirst>(a, ahead, elements * static_cast<int>(sizeof(T)));
    prefetch<Cache::kFirst>(b, ahead, elements * static_cast<int>(sizeof(T)));
}
// Before `elements` are stored to p by ordinary stores: lines that some stores later will write.
// Stores that cross lines otherwise wait for one line after the other (measured: 1.1 to 1.5 times
// the time on Granite Rapids, from the second cache on; on Zen 5, where a quarter of the distance
// is too short, twice the time from memory).
constexpr uintptr_t kStoresAhead = 2048;
template <class T>
AG_INLINE void prefetch_stores(const T* p, int elements, uintptr_t ahead = kStoresAhead) {
    prefetch<Cache::kFirst>(p, ahead, elements * static_cast<int>(sizeof(T)));
}

}  // namespace
}  // namespace ascend_grad
