// Sixteen lanes between global memory and the unified buffer, each a contiguous stretch or rows of
// a plane.
#pragma once

#include "common/lanes.h"

namespace kernels {

// Where the lanes of a tile lie. In the buffer, lane k begins at k * lane_elements and each of its
// rows at a multiple of row_pitch (one row: anything).
struct LanesShape {
    uint64_t offset;         // of lane 0 in global memory, elements
    uint64_t lane_stride;    // between lanes there
    uint64_t row_stride;     // between rows there
    uint32_t rows, columns;  // of a lane; rows are taken as one where they are contiguous
    uint32_t lane_elements, row_pitch;
    uint32_t lanes;  // whole ones
    uint32_t rest;   // columns of one more, shorter lane (only where rows is 1)
};

__aicore__ inline bool is_packed(const LanesShape& s) {
    return s.rows == 1 && s.columns == s.lane_stride && s.columns == s.lane_elements;
}

template <typename T>
__aicore__ inline void load_lanes(const LocalTensor<T>& to, const GlobalTensor<T>& from,
                                  const LanesShape& s) {
    if (is_packed(s)) {
        load(to, from[s.offset], s.lanes * s.columns + s.rest);
        return;
    }
    if (s.rows == 1) {
        load_rows(to, from[s.offset], s.lanes, s.columns, s.lane_stride, s.lane_elements);
    } else {
        for (uint32_t lane = 0; lane < s.lanes; ++lane)
            load_rows(to[lane * s.lane_elements], from[s.offset + lane * s.lane_stride], s.rows,
                      s.columns, s.row_stride, s.row_pitch);
    }
    if (s.rest > 0)
        load(to[s.lanes * s.lane_elements], from[s.offset + s.lanes * s.lane_stride], s.rest);
}

template <typename T>
__aicore__ inline void store_lanes(const GlobalTensor<T>& to, const LocalTensor<T>& from,
                                   const LanesShape& s, const LocalTensor<T>& tail) {
    if (is_packed(s)) {
        store(to[s.offset], from, s.lanes * s.columns + s.rest, tail);
        return;
    }
    order_stores();
    if (s.rows == 1) {
        store_rows(to[s.offset], from, s.lanes, s.columns, s.lane_stride, s.lane_elements, tail);
    } else {
        for (uint32_t lane = 0; lane < s.lanes; ++lane) {
            if (lane > 0) order_stores();
            store_rows(to[s.offset + lane * s.lane_stride], from[lane * s.lane_elements], s.rows,
                       s.columns, s.row_stride, s.row_pitch, tail);
        }
    }
    if (s.rest > 0) {
        order_stores();
        store(to[s.offset + s.lanes * s.lane_stride], from[s.lanes * s.lane_elements], s.rest,
              tail);
    }
}

// copy(shape, 0); or the begin of the lanes apart, where that takes less time than to copy the rest
// from between multiples of 512 bytes on: copy(part, its first element of a lane).
template <typename T, typename Copy>
__aicore__ inline void copy_evenly(LanesShape shape, const Copy& copy) {
    uint32_t begin = 0;
#if __CCE_AICORE__ == 220
    constexpr uint32_t kEven = 512 / sizeof(T);
    const uint32_t apart = kEven - static_cast<uint32_t>(shape.offset % kEven);
    if (apart < kEven && apart % kBlock<T> == 0 && shape.rows == 1 && shape.rest == 0 &&
        shape.columns > apart + kEven / 2) {
        LanesShape first = shape;
        first.columns = begin = apart;
        copy(first, 0);
        shape.offset += begin;
        shape.columns -= begin;
    }
#endif
    copy(shape, begin);
}

}  // namespace kernels
