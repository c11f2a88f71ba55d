#pragma once

#include "isa/stage.h"
#include "ops/avg_pool2d_backward/op.h"
#include "ops/avg_pool2d_backward/scratch.h"

namespace ascend_grad {
namespace {

AG_INLINE int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }
AG_INLINE int64_t greater(int64_t a, int64_t b) { return a > b ? a : b; }

// Windows [first, last] that cover element x of an axis; last < first where none does.
struct Covering {
    int64_t first, last;
};
inline Covering covering(const PoolAxis& axis, int64_t x) {
    const int64_t beyond = x + axis.pad - axis.kernel;
    return {beyond < 0 ? 0 : beyond / axis.stride + 1, lesser(axis.windows - 1, (x + axis.pad) / axis.stride)};
}
// Elements of window i that count for the divisor along this axis.
inline float counted(const PoolAxis& axis, bool count_include_pad, int64_t i) {
    const int64_t begin = i * axis.stride - axis.pad;
    if (count_include_pad) return static_cast<float>(lesser(axis.kernel, axis.extent + axis.pad - begin));
    return static_cast<float>(lesser(axis.extent - begin, axis.kernel) + lesser(begin, 0));
}

AG_INLINE Lanes round_to_float16(Lanes x) { return widen(narrow(x, Float16{}), Float16{}); }
// To the 11 significant bits of HF32, to nearest even; infinities and NaN stay.
AG_INLINE Lanes round_to_hf32(Lanes x) {
    AG_EACH_REGISTER {
        const RegisterBits bits = (RegisterBits)x.r[i];
        const RegisterBits rounded = (bits + 0x7ffu + (bits >> 12 & 1u)) & ~0xfffu;
        x.r[i] = (bits & 0x7f800000u) == 0x7f800000u ? x.r[i] : (Register)rounded;
    }
    return x;
}

// a0 b0 a1 b1 ...
AG_INLINE void interleave(Lanes a, Lanes b, float* to) {
    Quad qa[4], qb[4];
    std::memcpy(qa, &a, sizeof(qa));
    std::memcpy(qb, &b, sizeof(qb));
    for (int i = 0; i < 4; ++i) {
#if defined(__x86_64__)
        const Quad low = _mm_unpacklo_ps(qa[i], qb[i]);
        const Quad high = _mm_unpackhi_ps(qa[i], qb[i]);
#else
        const Quad low = vzip1q_f32(qa[i], qb[i]);
        const Quad high = vzip2q_f32(qa[i], qb[i]);
#endif
        std::memcpy(to + 8 * i, &low, sizeof(low));
        std::memcpy(to + 8 * i + 4, &high, sizeof(high));
    }
}

template <class T>
class AvgPool {
    using Op = AvgPool2dBackward;

  public:
    AvgPool(const Op::Plan& plan, void* const* addresses, bool streaming)
        : plan_(plan),
          grad_(static_cast<const char*>(addresses[Op::kGradOutput])),
          grad_input_(static_cast<char*>(addresses[Op::kGradInput])),
          streaming_(streaming),
          factor_(reciprocal_if_exact(plan.divisor)) {}

    void run(int64_t task) {
        const int64_t channel_tile = task % plan_.channel_tiles;
        task /= plan_.channel_tiles;
        const int64_t width_tile = task % plan_.width_tiles;
        task /= plan_.width_tiles;
        const int64_t height_tile = task % plan_.height_tiles;
        const int64_t first_plane = task / plan_.height_tiles * plan_.planes_per_task;
        column_ = width_tile * plan_.width_tile;
        columns_ = static_cast<int>(lesser(plan_.width_tile, plan_.width.extent - column_));
        first_row_ = height_tile * plan_.height_tile;
        last_row_ = lesser(first_row_ + plan_.height_tile, plan_.height.extent);
        channel_ = channel_tile * plan_.channel_tile;
        channels_ = static_cast<int>(lesser(plan_.channel_tile, plan_.channels - channel_));
        const int64_t planes = plan_.plane_count;
        const int64_t last_plane = lesser(first_plane + plan_.planes_per_task, planes);
        switch (plan_.traversal) {
            case Op::Traversal::kFill: fill(first_plane, last_plane); break;
            case Op::Traversal::kAlongChannels: along_channels(first_plane, last_plane); break;
            case Op::Traversal::kAlongWidth: along_width(first_plane, last_plane); break;
        }
    }

  private:
    static float reciprocal_if_exact(float divisor) {
        const uint32_t bits = float_bits(divisor);
        return divisor != 0.0f && (bits & 0x7fffffu) == 0 ? 1.0f / divisor : 0.0f;
    }

    int64_t plane_offset(int64_t plane, int operand) const {
        int64_t offset = 0;
        for (int d = plan_.planes.count - 1; d >= 0; --d) {
            offset += plane % plan_.planes.extent[d] * plan_.planes.stride[d][operand];
            plane /= plan_.planes.extent[d];
        }
        return offset;
    }

    // --- quotients ---

    AG_INLINE Lanes rounded_by_mode(Lanes x) const {
        if (sizeof(T) == sizeof(float)) {
            if (plan_.mode == Op::Mode::kFloat16) return round_to_float16(x);
            if (plan_.mode == Op::Mode::kHf32) return round_to_hf32(x);
        }
        return x;
    }
    AG_INLINE Lanes result_by_mode(Lanes x) const {
        return sizeof(T) == sizeof(float) && plan_.mode == Op::Mode::kFloat16 ? round_to_float16(x) : x;
    }
    // x / d, where d is `divisor` unless the divisor is constant.
    AG_INLINE Lanes quotient(Lanes x, Lanes divisor) const {
        x = rounded_by_mode(x);
        if (factor_ != 0.0f) return x * splat(factor_);
        return x / divisor;
    }

    // --- one plane, row by row ---

    // Quotients of windows (i, first_window_ + [0, windows_)) into `to`, which has zeros around them.
    void scale_row(const char* plane, int64_t i, float* to) const {
        const char* from = plane + i * plan_.height_stride[0] + first_window_ * plan_.width_stride[0];
        const bool unit = plan_.width_stride[0] == static_cast<int64_t>(sizeof(T));
        if (!unit) load_run<T>(to, from, plan_.width_stride[0], windows_);
        const bool constant = plan_.divisor != 0.0f;
        const Lanes rows = splat(constant ? plan_.divisor : counted(plan_.height, plan_.count_include_pad, i));
        for (int j = 0; j < windows_; j += kLanes) {
            const int n = windows_ - j < kLanes ? windows_ - j : kLanes;
            const T* p = reinterpret_cast<const T*>(from) + j;
            const Lanes x = !unit ? load(to + j) : n == kLanes ? load(p) : load_first(p, n);
            const Lanes q = quotient(x, constant ? rows : rows * load(counts_ + j));
            if (n == kLanes) {
                store_raw(to + j, q);
            } else {
                store_first_raw(to + j, q, n);
            }
        }
    }
    static AG_INLINE void store_first_raw(float* to, Lanes x, int n) {
        float values[kLanes];
        std::memcpy(values, &x, sizeof(values));
        for (int i = 0; i < n; ++i) to[i] = values[i];
    }

    void along_width(int64_t begin, int64_t end) {
        char* first = grad_input_ + plane_offset(begin, 1) + first_row_ * plan_.height_stride[1] +
                      column_ * plan_.width_stride[1];
        Sink<T> sink(streaming_, first);
        const bool fits = select_windows();
        for (int64_t plane = begin; plane < end; ++plane) {
            const char* from = grad_ + plane_offset(plane, 0);
            char* to = grad_input_ + plane_offset(plane, 1) + column_ * plan_.width_stride[1];
            forget_rows();
            for (int64_t row = first_row_; row < last_row_; ++row) {
                const Covering rows = covering(plan_.height, row);
                if (!fits) {
                    add_windows_one_by_one(from, rows);
                } else if (rows.first != summed_.first || rows.last != summed_.last) {
                    add_windows(sum_of_rows(from, rows));
                    summed_ = rows;
                }
                write_row(to + row * plan_.height_stride[1], sink);
            }
        }
    }

    // Which windows reach this tile's columns, and where they stand in a row of quotients: first the windows that would
    // precede them, as zeros, so that every column adds the same number of windows.
    bool select_windows() {
        const int64_t lowest = (column_ + plan_.width.pad) / plan_.width.stride;
        const int64_t highest = (column_ + columns_ - 1 + plan_.width.pad) / plan_.width.stride;
        overlap_ = pool_scratch::overlap(plan_.width);
        const int64_t leftmost = lowest - overlap_ + 1;
        first_window_ = greater(leftmost, 0);
        windows_ = static_cast<int>(greater(0, lesser(highest + 1, plan_.width.windows) - first_window_));
        groups_ = static_cast<int>(highest - lowest + 1);
        const int64_t pitch = (groups_ + overlap_ + 2 * kLanes - 1) / kLanes * kLanes;
        if (overlap_ > kMaxOverlap || 2 * pitch > pool_scratch::kFloats) return false;
        pitch_ = static_cast<int>(pitch);
        lead_ = static_cast<int>(first_window_ - leftmost);
        first_phase_ = column_ + plan_.width.pad - lowest * plan_.width.stride;
        skip_ = plan_.width.stride == 2 ? static_cast<int>(first_phase_) : 0;
        kept_ = static_cast<int>(lesser(pool_scratch::kept_rows(plan_) - 1, pool_scratch::kFloats / pitch_ - 1));
        caches_ = kept_ >= pool_scratch::overlap(plan_.height);
        std::memset(rows_, 0, sizeof(float) * static_cast<size_t>((kept_ + 1) * pitch_));
        std::memset(line_, 0, sizeof(line_));
        for (int j = 0; j < windows_; ++j) {
            counts_[j] = counted(plan_.width, plan_.count_include_pad, first_window_ + j);
        }
        return true;
    }
    void forget_rows() {
        for (int i = 0; i < pool_scratch::kRows; ++i) cached_[i] = -1;
        summed_ = {-1, -2};
    }
    float* kept_row(int slot) { return rows_ + (slot + 1) * pitch_; }

    const float* scaled_row(const char* plane, int64_t i) {
        const int slot = caches_ ? static_cast<int>(i % kept_) : 0;
        if (!caches_ || cached_[slot] != i) scale_row(plane, i, kept_row(slot) + lead_);
        cached_[slot] = i;
        return kept_row(slot);
    }
    const float* sum_of_rows(const char* plane, const Covering& rows) {
        if (rows.last < rows.first) {
            std::memset(rows_, 0, sizeof(float) * static_cast<size_t>(pitch_));
            return rows_;
        }
        const float* first = scaled_row(plane, rows.first);
        if (rows.last == rows.first) return first;
        if (!caches_) {
            std::memcpy(rows_, first, sizeof(float) * static_cast<size_t>(pitch_));
            first = rows_;
        }
        for (int64_t i = rows.first + 1; i <= rows.last; ++i) {
            const float* next = scaled_row(plane, i);
            for (int j = 0; j < pitch_; j += kLanes) store_raw(rows_ + j, load(first + j) + load(next + j));
            first = rows_;
        }
        return rows_;
    }

    // line_ = this row's elements, from element -skip_ of the tile on: each the sum of the windows that cover it, which are the
    // last ones up to its own group's (of columns with equal (column + pad) / stride), as many as the kernel spans at its phase.
    void add_windows(const float* row) {
        const float* own = row + overlap_ - 1;
        if (plan_.width.stride == 1) {
            for (int u = 0; u < groups_; u += kLanes) store_raw(line_ + u, phase_sum(own + u, 0));
        } else if (plan_.width.stride == 2) {
            for (int u = 0; u < groups_; u += kLanes) {
                interleave(phase_sum(own + u, 0), phase_sum(own + u, 1), line_ + 2 * u);
            }
        } else {
            int64_t phase = first_phase_;
            for (int c = 0; c < columns_; ++c) {
                float sum = 0.0f;
                for (int t = windows_at(phase) - 1; t >= 0; --t) sum = sum + own[-t];
                line_[c] = sum;
                if (++phase == plan_.width.stride) {
                    phase = 0;
                    ++own;
                }
            }
        }
    }
    int windows_at(int64_t phase) const {
        if (overlap_ == 1) return phase < plan_.width.kernel ? 1 : 0;
        return phase < plan_.width.kernel ? static_cast<int>((plan_.width.kernel - 1 - phase) / plan_.width.stride) + 1 : 0;
    }
    AG_INLINE Lanes phase_sum(const float* own, int phase) const {
        Lanes sum{};
        for (int t = windows_at(phase) - 1; t >= 0; --t) sum = sum + load(own - t);
        return sum;
    }
    // The same sums for kernels of any size: adds each window to the elements it covers.
    void add_windows_one_by_one(const char* plane, const Covering& rows) {
        skip_ = 0;
        for (int c = 0; c < columns_; ++c) line_[c] = 0.0f;
        const Covering left = covering(plan_.width, column_);
        const Covering right = covering(plan_.width, column_ + columns_ - 1);
        float* sum = rows_;
        float* next = rows_ + kWindowChunk;
        for (int64_t j = left.first; j <= right.last; j += kWindowChunk) {
            first_window_ = j;
            windows_ = static_cast<int>(lesser(kWindowChunk, right.last + 1 - j));
            for (int k = 0; k < windows_; ++k) counts_[k] = counted(plan_.width, plan_.count_include_pad, j + k);
            std::memset(sum, 0, sizeof(float) * kWindowChunk);
            for (int64_t i = rows.first; i <= rows.last; ++i) {
                scale_row(plane, i, next);
                for (int k = 0; k < windows_; ++k) sum[k] += next[k];
            }
            for (int k = 0; k < windows_; ++k) {
                const int64_t start = (j + k) * plan_.width.stride - plan_.width.pad - column_;
                const int from = static_cast<int>(greater(start, 0));
                const int to = start > columns_ - plan_.width.kernel ? columns_ : static_cast<int>(start + plan_.width.kernel);
                for (int c = from; c < to; ++c) line_[c] += sum[k];
            }
        }
    }

    void write_row(char* to, Sink<T>& sink) {
        const float* from = line_ + skip_;
        if (plan_.width_stride[1] != static_cast<int64_t>(sizeof(T))) {
            for (int c = 0; c < columns_; c += kLanes) store_raw(strided_ + c, result_by_mode(load(from + c)));
            store_run<T>(to, plan_.width_stride[1], strided_, columns_);
            return;
        }
        sink.move_to(to);
        T* out = sink.reserve(columns_);
        int c = 0;
        for (; c + kLanes <= columns_; c += kLanes) store(out + c, result_by_mode(load(from + c)));
        if (c < columns_) store_first(out + c, result_by_mode(load(from + c)), columns_ - c);
        sink.commit(columns_);
    }

    // --- constant planes ---

    void fill(int64_t begin, int64_t end) {
        const int64_t elements = plan_.height.extent * plan_.width.extent;
        Sink<T> sink(streaming_, grad_input_ + plane_offset(begin, 1));
        const Lanes divisor = splat(plan_.divisor);
        for (int64_t plane = begin; plane < end; ++plane) {
            const Lanes g = splat(to_float(read_element<T>(grad_ + plane_offset(plane, 0))));
            const Lanes value = result_by_mode(Lanes{} + quotient(g, divisor));
            sink.move_to(grad_input_ + plane_offset(plane, 1));
            for (int64_t done = 0; done < elements; done += Sink<T>::kReserve) {
                const int n = static_cast<int>(lesser(Sink<T>::kReserve, elements - done));
                T* out = sink.reserve(n);
                int i = 0;
                for (; i + kLanes <= n; i += kLanes) store(out + i, value);
                if (i < n) store_first(out + i, value, n - i);
                sink.commit(n);
            }
        }
    }

    // --- channels contiguous: rows_ holds [kept row][window][channel] ---

    void along_channels(int64_t begin, int64_t end) {
        const Covering left = covering(plan_.width, column_);
        const Covering right = covering(plan_.width, column_ + columns_ - 1);
        first_window_ = left.first;
        windows_ = static_cast<int>(greater(0, right.last + 1 - left.first));
        pitch_ = (channels_ + kLanes - 1) / kLanes * kLanes;
        kept_ = static_cast<int>(pool_scratch::kept_rows(plan_)) - 1;
        caches_ = kept_ >= pool_scratch::overlap(plan_.height) &&
                  (kept_ + 1) * static_cast<int64_t>(windows_) * pitch_ <= pool_scratch::kFloats;
        for (int64_t plane = begin; plane < end; ++plane) {
            const char* from = grad_ + plane_offset(plane, 0) + channel_ * plan_.channel_stride[0];
            char* to = grad_input_ + plane_offset(plane, 1) + channel_ * plan_.channel_stride[1];
            forget_rows();
            for (int64_t row = first_row_; row < last_row_; ++row) {
                const Covering rows = covering(plan_.height, row);
                const float* sums = caches_ ? channel_sum_of_rows(from, rows) : nullptr;
                for (int c = 0; c < columns_; ++c) {
                    const int64_t column = column_ + c;
                    T* out = reinterpret_cast<T*>(to + row * plan_.height_stride[1] + column * plan_.width_stride[1]);
                    const Covering columns = covering(plan_.width, column);
                    if (caches_) {
                        write_channels(out, sums + (columns.first - first_window_) * pitch_,
                                       static_cast<int>(columns.last - columns.first + 1));
                    } else {
                        write_channels_uncached(out, from, rows, columns);
                    }
                }
            }
        }
    }

    AG_INLINE Lanes channel_quotient(const char* plane, int64_t i, int64_t j, int c) const {
        const T* p = reinterpret_cast<const T*>(plane + i * plan_.height_stride[0] + j * plan_.width_stride[0]) + c;
        const int n = channels_ - c;
        const Lanes x = n >= kLanes ? load(p) : load_first(p, n);
        const float divisor = plan_.divisor != 0.0f ? plan_.divisor
                                                    : counted(plan_.height, plan_.count_include_pad, i) *
                                                          counted(plan_.width, plan_.count_include_pad, j);
        return quotient(x, splat(divisor));
    }
    const float* channel_row(const char* plane, int64_t i) {
        const int slot = static_cast<int>(i % kept_);
        float* row = rows_ + static_cast<int64_t>(slot + 1) * windows_ * pitch_;
        if (cached_[slot] == i) return row;
        cached_[slot] = i;
        for (int j = 0; j < windows_; ++j) {
            for (int c = 0; c < pitch_; c += kLanes) {
                store_raw(row + j * pitch_ + c, channel_quotient(plane, i, first_window_ + j, c));
            }
        }
        return row;
    }
    const float* channel_sum_of_rows(const char* plane, const Covering& rows) {
        if (rows.first == summed_.first && rows.last == summed_.last) return summed_row_;
        summed_ = rows;
        const int count = windows_ * pitch_;
        if (rows.last < rows.first) {
            std::memset(rows_, 0, sizeof(float) * static_cast<size_t>(count));
            return summed_row_ = rows_;
        }
        summed_row_ = channel_row(plane, rows.first);
        for (int64_t i = rows.first + 1; i <= rows.last; ++i) {
            const float* next = channel_row(plane, i);
            for (int k = 0; k < count; k += kLanes) store_raw(rows_ + k, load(summed_row_ + k) + load(next + k));
            summed_row_ = rows_;
        }
        return summed_row_;
    }
    void write_channels(T* out, const float* sums, int windows) {
        for (int c = 0; c < channels_; c += kLanes) {
            Lanes sum{};
            for (int j = 0; j < windows; ++j) sum = sum + load(sums + j * pitch_ + c);
            put(out + c, sum, channels_ - c);
        }
    }
    void write_channels_uncached(T* out, const char* plane, const Covering& rows, const Covering& columns) {
        for (int c = 0; c < channels_; c += kLanes) {
            Lanes sum{};
            for (int64_t j = columns.first; j <= columns.last; ++j) {
                Lanes column{};
                for (int64_t i = rows.first; i <= rows.last; ++i) column = column + channel_quotient(plane, i, j, c);
                sum = sum + column;
            }
            put(out + c, sum, channels_ - c);
        }
    }
    AG_INLINE void put(T* out, Lanes value, int n) const {
        value = result_by_mode(value);
        if (n < kLanes) {
            store_first(out, value, n);
        } else if (streaming_) {
            stream_store(out, value);
        } else {
            store(out, value);
        }
    }

    static constexpr int kMaxOverlap = 16;
    static constexpr int kWindowChunk = 256;

    const Op::Plan& plan_;
    const char* grad_;
    char* grad_input_;
    const bool streaming_;
    const float factor_;  // 1 / divisor where that is exact, else 0

    int64_t first_row_ = 0, last_row_ = 0, column_ = 0, channel_ = 0;
    int columns_ = 0, channels_ = 0;
    int64_t first_window_ = 0, overlap_ = 0, first_phase_ = 0;
    int windows_ = 0, groups_ = 0, pitch_ = 0, lead_ = 0, skip_ = 0, kept_ = 0;
    bool caches_ = false;
    int64_t cached_[pool_scratch::kRows];
    Covering summed_{-1, -2};
    const float* summed_row_ = nullptr;
    alignas(64) float counts_[pool_scratch::kMaxColumns + 2 * kLanes];
    alignas(64) float line_[pool_scratch::kMaxColumns + 4 * kLanes];
    alignas(64) float strided_[pool_scratch::kMaxColumns + kLanes];
    alignas(64) float rows_[pool_scratch::kFloats + kLanes];
};

template <class T>
struct AvgPool2dBackwardKernel {
    using Op = AvgPool2dBackward;

    static void run(const Op::Plan& plan, void* const* addresses, bool streaming, int64_t begin, int64_t end) {
        AvgPool<T> pool(plan, addresses, streaming);
        for (int64_t task = begin; task < end; ++task) pool.run(task);
        if (streaming) stream_fence();
    }

    static constexpr Op::Kernels kernels() { return {run}; }
};

}  // namespace
}  // namespace ascend_grad
