// Between global memory and the unified buffer, any number of elements, on every product.
#pragma once

#include "kernel_operator.h"

// The first statement of every entry is one of these. On products with split cores both start the
// vector cores only; barriers of all cores in hardware need the second.
#if __CCE_AICORE__ == 220
#define KERNELS_WITHOUT_BARRIER() KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY)
#define KERNELS_WITH_BARRIER() KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0)
#else
#define KERNELS_WITHOUT_BARRIER() KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AICORE)
#define KERNELS_WITH_BARRIER() KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AICORE)
#endif

namespace kernels {

using namespace AscendC;

constexpr uint32_t kBlockBytes = 32;

template <typename T>
constexpr uint32_t kBlock = kBlockBytes / sizeof(T);  // elements of a block
constexpr uint32_t kFloatsPerBlock = kBlock<float>;
constexpr uint32_t kFloatsPerRepeat = 64;  // of a vector instruction

__aicore__ inline uint32_t round_up(uint32_t count, uint32_t multiple) {
    return (count + multiple - 1) / multiple * multiple;
}

__aicore__ inline int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}
__aicore__ inline int64_t greatest(int64_t a, int64_t b) {
    return a > b ? a : b;
}

// to[skipped..skipped + count) = from[0..count). What is before, and what follows in `to` up to the
// end of its last block, is not defined. Products without DataCopyPad skip nothing, and read up to
// the end of that block from `from` as well.
template <typename T>
__aicore__ inline void load(const LocalTensor<T>& to, const GlobalTensor<T>& from, uint32_t count,
                            [[maybe_unused]] uint32_t skipped = 0) {
#if __CCE_AICORE__ == 220
    DataCopyExtParams shape{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
    DataCopyPadExtParams<T> padding{skipped > 0, static_cast<uint8_t>(skipped), 0,
                                    static_cast<T>(0)};
    DataCopyPad(to, from, shape, padding);
#else
    DataCopy(to, from, round_up(count, kBlock<T>));
#endif
}

// `rows` rows of `count` elements, `pitch` elements apart in `from`; in `to` they are `to_pitch`
// apart, whole blocks.
template <typename T>
__aicore__ inline void load_rows(const LocalTensor<T>& to, const GlobalTensor<T>& from,
                                 uint32_t rows, uint32_t count, uint64_t pitch, uint32_t to_pitch) {
#if __CCE_AICORE__ == 220
    const uint64_t gap = (pitch - count) * sizeof(T);
    if (gap <= UINT32_MAX && rows <= 4095) {
        const uint32_t to_gap = (to_pitch - round_up(count, kBlock<T>)) / kBlock<T>;
        DataCopyExtParams shape{static_cast<uint16_t>(rows),
                                static_cast<uint32_t>(count * sizeof(T)),
                                static_cast<uint32_t>(gap), to_gap, 0};
        DataCopyPadExtParams<T> no_padding{false, 0, 0, static_cast<T>(0)};
        DataCopyPad(to, from, shape, no_padding);
        return;
    }
#else
    const uint32_t size = round_up(count, kBlock<T>);
    const uint64_t gap = (pitch - size) / kBlock<T>;
    const uint32_t to_gap = (to_pitch - size) / kBlock<T>;
    if (pitch % kBlock<T> == 0 && gap <= UINT16_MAX && to_gap <= UINT16_MAX && rows <= 4095) {
        DataCopy(
            to, from,
            DataCopyParams(static_cast<uint16_t>(rows), static_cast<uint16_t>(size / kBlock<T>),
                           static_cast<uint16_t>(gap), static_cast<uint16_t>(to_gap)));
        return;
    }
#endif
    for (uint32_t row = 0; row < rows; ++row) load(to[row * to_pitch], from[row * pitch], count);
}

// The same; in `to` each row begins at the next block.
template <typename T>
__aicore__ inline void load_rows(const LocalTensor<T>& to, const GlobalTensor<T>& from,
                                 uint32_t rows, uint32_t count, uint64_t pitch) {
    load_rows(to, from, rows, count, pitch, round_up(count, kBlock<T>));
}

// The pipe of the event's first half must be done before that of its second half goes on.
template <HardEvent event>
__aicore__ inline void wait_for() {
    const event_t id = static_cast<event_t>(GetTPipePtr()->FetchEventID(event));
    SetFlag<event>(id);
    WaitFlag<event>(id);
}

template <HardEvent event>
__aicore__ inline event_t new_event() {
    return static_cast<event_t>(GetTPipePtr()->AllocEventID<event>());
}
template <HardEvent event>
__aicore__ inline void release_event(event_t id) {
    GetTPipePtr()->ReleaseEventID<event>(id);
}
// For one that is set.
template <HardEvent event>
__aicore__ inline void end_event(event_t id) {
    WaitFlag<event>(id);
    release_event<event>(id);
}

#if __CCE_AICORE__ != 220
// Makes scalar stores to `to` visible to others; where there is no such instruction, the end of the
// kernel does.
template <typename T>
__aicore__ inline void flush_scalar_stores(const GlobalTensor<T>& to) {
#if __CCE_AICORE__ == 200
    DataCacheCleanAndInvalid<T, CacheLine::ENTIRE_DATA_CACHE>(to);
#else
    (void)to;
#endif
}
#endif

// Comes before a store that may begin in the block where another of this core ended: products
// without DataCopyPad store whole blocks.
__aicore__ inline void order_stores() {
#if __CCE_AICORE__ != 220
    PipeBarrier<PIPE_MTE3>();
#endif
}

// to[0..count) = from[0..count), and nothing else is written. `tail` is a block of scratch for the
// products without DataCopyPad; there two cores must not store to one 32-byte block of `to`, and
// stores of one core that meet in a block must be in order (order_stores()).
template <typename T>
__aicore__ inline void store(GlobalTensor<T> to, const LocalTensor<T>& from, uint32_t count,
                             const LocalTensor<T>& tail) {
#if __CCE_AICORE__ == 220
    (void)tail;
    DataCopyExtParams shape{1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0};
    DataCopyPad(to, from, shape);
#else
    const uint32_t whole = count / kBlock<T> * kBlock<T>;
    if (whole > 0) DataCopy(to, from, whole);
    if (whole == count) return;
    wait_for<HardEvent::V_S>();
    wait_for<HardEvent::MTE2_S>();
    wait_for<HardEvent::MTE3_S>();
    if (whole > 0) {
        // The last block once more, so that it ends at the last element.
        const uint32_t first = count - kBlock<T>;
        for (uint32_t i = 0; i < kBlock<T>; ++i) tail.SetValue(i, from.GetValue(first + i));
        wait_for<HardEvent::S_MTE3>();
        PipeBarrier<PIPE_MTE3>();
        DataCopy(to[first], tail, kBlock<T>);
    } else {
        for (uint32_t i = 0; i < count; ++i) to.SetValue(i, from.GetValue(i));
        flush_scalar_stores(to);
    }
#endif
}

// The reverse of load_rows.
template <typename T>
__aicore__ inline void store_rows(GlobalTensor<T> to, const LocalTensor<T>& from, uint32_t rows,
                                  uint32_t count, uint64_t pitch, uint32_t from_pitch,
                                  const LocalTensor<T>& tail) {
#if __CCE_AICORE__ == 220
    const uint64_t gap = (pitch - count) * sizeof(T);
    if (gap <= UINT32_MAX && rows <= 4095) {
        const uint32_t from_gap = (from_pitch - round_up(count, kBlock<T>)) / kBlock<T>;
        DataCopyExtParams shape{static_cast<uint16_t>(rows),
                                static_cast<uint32_t>(count * sizeof(T)), from_gap,
                                static_cast<uint32_t>(gap), 0};
        DataCopyPad(to, from, shape);
        return;
    }
#else
    const uint64_t gap = (pitch - count) / kBlock<T>;
    const uint32_t from_gap = (from_pitch - count) / kBlock<T>;
    const bool in_blocks = count % kBlock<T> == 0 && pitch % kBlock<T> == 0;
    if (in_blocks && gap <= UINT16_MAX && from_gap <= UINT16_MAX && rows <= 4095) {
        DataCopy(
            to, from,
            DataCopyParams(static_cast<uint16_t>(rows), static_cast<uint16_t>(count / kBlock<T>),
                           static_cast<uint16_t>(from_gap), static_cast<uint16_t>(gap)));
        return;
    }
#endif
    for (uint32_t row = 0; row < rows; ++row) {
        if (row > 0) order_stores();
        store(to[row * pitch], from[row * from_pitch], count, tail);
    }
}

template <typename T>
__aicore__ inline void store_rows(GlobalTensor<T> to, const LocalTensor<T>& from, uint32_t rows,
                                  uint32_t count, uint64_t pitch, const LocalTensor<T>& tail) {
    store_rows(to, from, rows, count, pitch, round_up(count, kBlock<T>), tail);
}

}  // namespace kernels
