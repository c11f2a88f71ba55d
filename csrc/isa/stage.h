// Moves strided elements of any dtype into float rows and back, for layouts that no kernel reads
// directly.
#pragma once

#include "core/dtype.h"
#include "isa/partial.h"
#include "isa/prefetch.h"
#include "isa/shuffle.h"

namespace ascend_grad {
namespace {

template <class T>
AG_INLINE T read_element(const char* p) {
    T value;
    std::memcpy(&value, p, sizeof(T));
    return value;
}
template <class T>
AG_INLINE void write_element(char* p, float x) {
    T value;
    from_float(x, value);
    std::memcpy(p, &value, sizeof(T));
}

// to[0..n) = the n elements that start at `from`, `stride` bytes apart.
template <class T>
inline void load_run(float* to, const char* from, int64_t stride, int n) {
    constexpr int64_t kSize = sizeof(T);
    const T* unit = reinterpret_cast<const T*>(from);
    int i = 0;
    if (stride == kSize) {
        for (; i + kLanes <= n; i += kLanes) store_raw(to + i, load(unit + i));
    } else if (stride == 0) {
        const float value = to_float(read_element<T>(from));
        for (; i < n; ++i) to[i] = value;
    } else if (stride == 2 * kSize) {
        // The last element has no successor that surely exists.
        for (; i + kLanes < n; i += kLanes) store_raw(to + i, load_every_second(unit + 2 * i));
        if (n - i >= kLanes / 4) {
            store_first(to + i, load_first_every_second(unit + 2 * i, n - i), n - i);
            return;
        }
    }
    for (; i < n; ++i) to[i] = to_float(read_element<T>(from + i * stride));
}

// The n elements that start at `to`, `stride` bytes apart = from[0..n), rounded.
template <class T>
inline void store_run(char* to, int64_t stride, const float* from, int n) {
    int i = 0;
    if (stride == static_cast<int64_t>(sizeof(T))) {
        T* unit = reinterpret_cast<T*>(to);
        for (; i + kLanes <= n; i += kLanes) store(unit + i, load(from + i));
    }
    for (; i < n; ++i) write_element<T>(to + i * stride, from[i]);
}

// The same for a dtype known at run time.
inline void load_run(DataType dtype, float* to, const char* from, int64_t stride, int n) {
    switch (dtype) {
        case DataType::kFloat16:
            return load_run<Float16>(to, from, stride, n);
        case DataType::kBFloat16:
            return load_run<BFloat16>(to, from, stride, n);
        default:
            return load_run<float>(to, from, stride, n);
    }
}
inline void store_run(DataType dtype, char* to, int64_t stride, const float* from, int n) {
    switch (dtype) {
        case DataType::kFloat16:
            return store_run<Float16>(to, stride, from, n);
        case DataType::kBFloat16:
            return store_run<BFloat16>(to, stride, from, n);
        default:
            return store_run<float>(to, stride, from, n);
    }
}

// A rectangle of elements in somebody's memory; strides in bytes.
struct Tile {
    int64_t row_stride;
    int64_t column_stride;
    int rows;
    int columns;
    uintptr_t ahead = 0;  // bytes to the tile that load_tile() asks for, of short rows
};

// load_tile() and store_tile() of rows shorter than a vector that lie along memory: in whole
// vectors where what is behind a row are the tile's next ones, which come later. Loads may touch
// what lies between rows that are less than a vector apart.
template <class T>
inline void load_short_rows(float* to, int pitch, const char* from, const Tile& tile) {
    constexpr int64_t kVectorBytes = kLanes * static_cast<int64_t>(sizeof(T));
    const int64_t bytes = tile.columns * static_cast<int64_t>(sizeof(T));
    for (int row = 0; row < tile.rows; ++row) {
        const T* p = reinterpret_cast<const T*>(from + row * tile.row_stride);
        prefetch<Cache::kFirst>(p, tile.ahead, 1);
        const int64_t behind = (tile.rows - 1 - row) * tile.row_stride + bytes;
        const bool is_whole = tile.row_stride <= kVectorBytes && behind >= kVectorBytes;
        store_raw(to + row * pitch, is_whole ? load(p) : load_first(p, tile.columns));
    }
}
template <class T>
inline void store_short_rows(char* to, const float* from, int pitch, const Tile& tile) {
    const bool has_gaps = tile.row_stride != tile.columns * static_cast<int64_t>(sizeof(T));
    for (int row = 0; row < tile.rows; ++row) {
        T* p = reinterpret_cast<T*>(to + row * tile.row_stride);
        const Lanes x = load(from + row * pitch);
        if (!has_gaps && (tile.rows - row) * tile.columns >= kLanes) {
            store(p, x);
        } else {
            store_first(p, x, tile.columns);
        }
    }
}

// to[row * pitch + column] = element (row, column). Rows are walked along memory, whichever way the
// tile lies. What is up to fifteen elements behind a row's last one may be overwritten, or be read
// by store_tile().
template <class T>
inline void load_tile(float* to, int pitch, const char* from, const Tile& tile) {
    if (tile.column_stride == static_cast<int64_t>(sizeof(T)) && tile.columns < kLanes)
        return load_short_rows<T>(to, pitch, from, tile);
    if (tile.row_stride != static_cast<int64_t>(sizeof(T)) || tile.rows < 4) {
        for (int row = 0; row < tile.rows; ++row) {
            load_run<T>(to + row * pitch, from + row * tile.row_stride, tile.column_stride,
                        tile.columns);
        }
        return;
    }
    for (int column = 0; column < tile.columns; column += kBlockLines) {
        const int m = static_cast<int>(least(kBlockLines, tile.columns - column));
        for (int row = 0; row < tile.rows; row += kLanes) {
            const int n = static_cast<int>(least(kLanes, tile.rows - row));
            const char* p = from + row * tile.row_stride + column * tile.column_stride;
            float* rows = to + row * pitch + column;
            Lanes lines[kBlockLines];
            if (n == kLanes && m == kBlockLines) {
                for (int k = 0; k < kBlockLines; ++k)
                    lines[k] = load(reinterpret_cast<const T*>(p + k * tile.column_stride));
                rows_from_lines(rows, pitch, lines);
                continue;
            }
            for (int k = 0; k < kBlockLines; ++k) {
                lines[k] = load_first(reinterpret_cast<const T*>(p + k * tile.column_stride),
                                      k < m ? n : 0);
            }
            alignas(64) float block[kLanes * kBlockLines];
            rows_from_lines(block, kBlockLines, lines);
            for (int r = 0; r < n; ++r) {
                for (int k = 0; k < m; ++k) rows[r * pitch + k] = block[r * kBlockLines + k];
            }
        }
    }
}

template <class T>
inline void store_tile(char* to, const float* from, int pitch, const Tile& tile) {
    if (tile.column_stride == static_cast<int64_t>(sizeof(T)) && tile.columns < kLanes)
        return store_short_rows<T>(to, from, pitch, tile);
    if (tile.row_stride != static_cast<int64_t>(sizeof(T)) || tile.rows < 4) {
        for (int row = 0; row < tile.rows; ++row) {
            store_run<T>(to + row * tile.row_stride, tile.column_stride, from + row * pitch,
                         tile.columns);
        }
        return;
    }
    for (int column = 0; column < tile.columns; column += kBlockLines) {
        const int m = static_cast<int>(least(kBlockLines, tile.columns - column));
        for (int row = 0; row < tile.rows; row += kLanes) {
            const int n = static_cast<int>(least(kLanes, tile.rows - row));
            char* p = to + row * tile.row_stride + column * tile.column_stride;
            const float* rows = from + row * pitch + column;
            Lanes lines[kBlockLines];
            if (n == kLanes && m == kBlockLines) {
                lines_from_rows(lines, rows, pitch);
                for (int k = 0; k < kBlockLines; ++k)
                    store(reinterpret_cast<T*>(p + k * tile.column_stride), lines[k]);
                continue;
            }
            alignas(64) float block[kLanes * kBlockLines] = {};
            for (int r = 0; r < n; ++r) {
                for (int k = 0; k < m; ++k) block[r * kBlockLines + k] = rows[r * pitch + k];
            }
            lines_from_rows(lines, block, kBlockLines);
            for (int k = 0; k < m; ++k)
                store_first(reinterpret_cast<T*>(p + k * tile.column_stride), lines[k], n);
        }
    }
}
}  // namespace
}  // namespace ascend_grad
