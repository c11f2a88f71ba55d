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
#if __CCE_AICORE__ == 220
    const uint64_t lane_gap = (s.lane_stride - s.columns) * sizeof(T);
    if (s.rows == 1 && lane_gap <= UINT32_MAX) {
        const uint32_t unused = s.lane_elements - round_up(s.columns, kBlock<T>);
        DataCopyExtParams shape{static_cast<uint16_t>(s.lanes),
                                static_cast<uint32_t>(s.columns * sizeof(T)),
                                static_cast<uint32_t>(lane_gap), unused / kBlock<T>, 0};
        DataCopyPadExtParams<T> no_padding{false, 0, 0, static_cast<T>(0)};
        if (s.lanes > 0) DataCopyPad(to, from[s.offset], shape, no_padding);
        if (s.rest > 0)
            load(to[s.lanes * s.lane_elements], from[s.offset + s.lanes * s.lane_stride], s.rest);
        return;
    }
    const uint64_t row_gap = (s.row_stride - s.columns) * sizeof(T);
    if (row_gap <= UINT32_MAX && s.rows <= 4095) {
        const uint32_t unused = s.row_pitch - round_up(s.columns, kBlock<T>);
        DataCopyExtParams shape{static_cast<uint16_t>(s.rows),
                                static_cast<uint32_t>(s.columns * sizeof(T)),
                                static_cast<uint32_t>(row_gap), unused / kBlock<T>, 0};
        DataCopyPadExtParams<T> no_padding{false, 0, 0, static_cast<T>(0)};
        for (uint32_t lane = 0; lane < s.lanes; ++lane)
            DataCopyPad(to[lane * s.lane_elements], from[s.offset + lane * s.lane_stride], shape,
                        no_padding);
        return;
    }
#endif
    for (uint32_t lane = 0; lane < s.lanes; ++lane) {
        for (uint32_t row = 0; row < s.rows; ++row)
            load(to[lane * s.lane_elements + row * s.row_pitch],
                 from[s.offset + lane * s.lane_stride + row * s.row_stride], s.columns);
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
#if __CCE_AICORE__ == 220
    const uint64_t lane_gap = (s.lane_stride - s.columns) * sizeof(T);
    if (s.rows == 1 && lane_gap <= UINT32_MAX) {
        const uint32_t unused = s.lane_elements - round_up(s.columns, kBlock<T>);
        DataCopyExtParams shape{static_cast<uint16_t>(s.lanes),
                                static_cast<uint32_t>(s.columns * sizeof(T)), unused / kBlock<T>,
                                static_cast<uint32_t>(lane_gap), 0};
        if (s.lanes > 0) DataCopyPad(to[s.offset], from, shape);
        if (s.rest > 0)
            store(to[s.offset + s.lanes * s.lane_stride], from[s.lanes * s.lane_elements], s.rest,
                  tail);
        return;
    }
    const uint64_t row_gap = (s.row_stride - s.columns) * sizeof(T);
    if (row_gap <= UINT32_MAX && s.rows <= 4095) {
        const uint32_t unused = s.row_pitch - round_up(s.columns, kBlock<T>);
        DataCopyExtParams shape{static_cast<uint16_t>(s.rows),
                                static_cast<uint32_t>(s.columns * sizeof(T)), unused / kBlock<T>,
                                static_cast<uint32_t>(row_gap), 0};
        for (uint32_t lane = 0; lane < s.lanes; ++lane)
            DataCopyPad(to[s.offset + lane * s.lane_stride], from[lane * s.lane_elements], shape);
        return;
    }
#endif
    for (uint32_t lane = 0; lane < s.lanes; ++lane) {
        for (uint32_t row = 0; row < s.rows; ++row) {
            // Neighbours may meet in a block.
            PipeBarrier<PIPE_MTE3>();
            store(to[s.offset + lane * s.lane_stride + row * s.row_stride],
                  from[lane * s.lane_elements + row * s.row_pitch], s.columns, tail);
        }
    }
    if (s.rest > 0) {
        PipeBarrier<PIPE_MTE3>();
        store(to[s.offset + s.lanes * s.lane_stride], from[s.lanes * s.lane_elements], s.rest,
              tail);
    }
}

}  // namespace kernels
