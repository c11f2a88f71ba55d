// Moves strided elements of any dtype into float rows and back, for layouts that no kernel reads
// directly.
#pragma once

#include "isa/simd.h"

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
        // The last element has no successor that surely exists, so it is left to the loop below.
        for (; i + kLanes < n; i += kLanes) store_raw(to + i, load_every_second(unit + 2 * i));
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

// A rectangle of elements in somebody's memory; strides in bytes.
struct Tile {
    int64_t row_stride;
    int64_t column_stride;
    int rows;
    int columns;
};

// to[row * pitch + column] = element (row, column). Rows are walked along memory, whichever way the
// tile lies.
template <class T>
inline void load_tile(float* to, int pitch, const char* from, const Tile& tile) {
    if (tile.row_stride != static_cast<int64_t>(sizeof(T)) || tile.rows < 4) {
        for (int row = 0; row < tile.rows; ++row) {
            load_run<T>(to + row * pitch, from + row * tile.row_stride, tile.column_stride,
                        tile.columns);
        }
        return;
    }
    int column = 0;
    for (; column + 4 <= tile.columns; column += 4) {
        alignas(64) float lines[4][kLanes];
        const char* p = from + column * tile.column_stride;
        for (int row = 0; row < tile.rows; row += kLanes) {
            const int n = tile.rows - row < kLanes ? tile.rows - row : kLanes;
            for (int k = 0; k < 4; ++k) {
                const T* line = reinterpret_cast<const T*>(p + k * tile.column_stride) + row;
                store_raw(lines[k], n == kLanes ? load(line) : load_first(line, n));
            }
            for (int r = 0; r < n; r += 4) {
                Quad q[4];
                for (int k = 0; k < 4; ++k) std::memcpy(&q[k], &lines[k][r], sizeof(Quad));
                transpose_4x4(q[0], q[1], q[2], q[3]);
                for (int k = 0; k < 4 && r + k < n; ++k) {
                    std::memcpy(to + (row + r + k) * pitch + column, &q[k], sizeof(Quad));
                }
            }
        }
    }
    for (; column < tile.columns; ++column) {
        for (int row = 0; row < tile.rows; ++row) {
            to[row * pitch + column] = to_float(
                read_element<T>(from + row * tile.row_stride + column * tile.column_stride));
        }
    }
}

template <class T>
inline void store_tile(char* to, const float* from, int pitch, const Tile& tile) {
    if (tile.row_stride != static_cast<int64_t>(sizeof(T)) || tile.rows < 4) {
        for (int row = 0; row < tile.rows; ++row) {
            store_run<T>(to + row * tile.row_stride, tile.column_stride, from + row * pitch,
                         tile.columns);
        }
        return;
    }
    int column = 0;
    for (; column + 4 <= tile.columns; column += 4) {
        alignas(64) float lines[4][kLanes];
        char* p = to + column * tile.column_stride;
        for (int row = 0; row < tile.rows; row += kLanes) {
            const int n = tile.rows - row < kLanes ? tile.rows - row : kLanes;
            for (int r = 0; r < n; r += 4) {
                Quad q[4] = {};
                for (int k = 0; k < 4 && r + k < n; ++k) {
                    std::memcpy(&q[k], from + (row + r + k) * pitch + column, sizeof(Quad));
                }
                transpose_4x4(q[0], q[1], q[2], q[3]);
                for (int k = 0; k < 4; ++k) std::memcpy(&lines[k][r], &q[k], sizeof(Quad));
            }
            for (int k = 0; k < 4; ++k) {
                T* line = reinterpret_cast<T*>(p + k * tile.column_stride) + row;
                if (n == kLanes) {
                    store(line, load(lines[k]));
                } else {
                    store_first(line, load(lines[k]), n);
                }
            }
        }
    }
    for (; column < tile.columns; ++column) {
        for (int row = 0; row < tile.rows; ++row) {
            write_element<T>(to + row * tile.row_stride + column * tile.column_stride,
                             from[row * pitch + column]);
        }
    }
}

// A contiguous destination that is written front to back. Streaming, it collects elements in a
// small buffer and writes whole cache lines past the caches; otherwise elements go straight to
// memory.
template <class T>
class Sink {
  public:
    static constexpr int kReserve = 1024;  // the most elements of one reserve()

    Sink(bool streaming, void* destination) : streaming_(streaming) { restart(destination); }
    ~Sink() {
        drain();
        if (streaming_) stream_fence();
    }
    Sink(const Sink&) = delete;
    Sink& operator=(const Sink&) = delete;

    // Continues at another address.
    void move_to(void* destination) {
        if (destination == position()) return;
        drain();
        restart(destination);
    }
    // Where to write the next n elements; they count once committed.
    T* reserve(int n) {
        if (!streaming_) return reinterpret_cast<T*>(to_);
        if (filled_ + n * sizeof(T) > kCapacity) flush_lines();
        return reinterpret_cast<T*>(buffer_ + filled_);
    }
    void commit(int n) {
        if (streaming_) {
            filled_ += n * sizeof(T);
        } else {
            to_ += n * sizeof(T);
        }
    }

  private:
    static constexpr size_t kLine = 64;
    static constexpr size_t kCapacity = 2 * kReserve * sizeof(T) + kLine;

    void* position() const { return streaming_ ? to_ + (filled_ - skipped_) : to_; }
    void restart(void* destination) {
        to_ = static_cast<char*>(destination);
        // The buffer lies to its lines as the destination lies to its own.
        skipped_ = streaming_ ? reinterpret_cast<uintptr_t>(destination) % kLine : 0;
        filled_ = skipped_;
    }
    // Writes what fills whole lines and keeps the rest.
    void flush_lines() {
        size_t from = skipped_;
        if (skipped_ > 0 && filled_ >= kLine) {
            std::memcpy(to_, buffer_ + skipped_, kLine - skipped_);
            to_ += kLine - skipped_;
            from = kLine;
        }
        if (skipped_ > 0 && filled_ < kLine) return;
        const size_t whole = (filled_ - from) / kLine * kLine;
        stream_lines(to_, buffer_ + from, whole);
        to_ += whole;
        const size_t rest = filled_ - from - whole;
        std::memmove(buffer_, buffer_ + from + whole, rest);
        skipped_ = 0;
        filled_ = rest;
    }
    void drain() {
        if (!streaming_) return;
        flush_lines();
        std::memcpy(to_, buffer_ + skipped_, filled_ - skipped_);
        to_ += filled_ - skipped_;
        skipped_ = filled_ = 0;
    }

    const bool streaming_;
    char* to_;            // where the next byte of memory is written
    size_t skipped_ = 0;  // bytes of the buffer's first line that belong to others
    size_t filled_ = 0;   // end of the data in the buffer
    alignas(64) char buffer_[kCapacity];
};

}  // namespace
}  // namespace ascend_grad
