#pragma once

#include "isa/stage.h"
#include "ops/avg_pool2d_backward/op.h"
#include "ops/avg_pool2d_backward/scratch.h"

namespace ascend_grad {
namespace {

AG_INLINE int64_t lesser(int64_t a, int64_t b) {
    return a < b ? a : b;
}
AG_INLINE int64_t greater(int64_t a, int64_t b) {
    return a > b ? a : b;
}

// Windows [first, last] that cover element x of an axis; last < first where none does.
struct Covering {
    int64_t first, last;
};
inline Covering covering(const PoolAxis& axis, int64_t x) {
    const int64_t beyond = x + axis.pad - axis.kernel;
    return {beyond < 0 ? 0 : beyond / axis.stride + 1,
            lesser(axis.windows - 1, (x + axis.pad) / axis.stride)};
}
// The windows that cover one row after another, without dividing.
class RowWindows {
  public:
    RowWindows(const PoolAxis& axis, int64_t row)
        : axis_(axis), row_(row), covering_(ascend_grad::covering(axis, row)) {
        next_start_ = (covering_.last + 1) * axis.stride - axis.pad;
        first_end_ = covering_.first * axis.stride + (axis.kernel - axis.pad);
    }
    const Covering& covering() const { return covering_; }
    // Rows from this one on that the same windows cover, at most `limit`.
    int64_t count(int64_t limit) const {
        if (covering_.last + 1 < axis_.windows) limit = lesser(limit, next_start_ - row_);
        return lesser(limit, first_end_ - row_);
    }
    // By no more rows than count() says.
    void advance(int64_t rows) {
        row_ += rows;
        if (row_ >= next_start_ && covering_.last + 1 < axis_.windows) {
            ++covering_.last;
            next_start_ += axis_.stride;
        }
        if (row_ >= first_end_) {
            ++covering_.first;
            first_end_ += axis_.stride;
        }
    }

  private:
    const PoolAxis& axis_;
    int64_t row_;
    Covering covering_;
    int64_t next_start_, first_end_;
};

// Elements of window i that count for the divisor along this axis.
inline float counted(const PoolAxis& axis, bool count_include_pad, int64_t i) {
    const int64_t begin = i * axis.stride - axis.pad;
    if (count_include_pad)
        return static_cast<float>(lesser(axis.kernel, axis.extent - begin + axis.pad));
    return static_cast<float>(lesser(axis.extent - begin, axis.kernel) + lesser(begin, 0));
}

AG_INLINE Lanes round_to_float16(Lanes x) {
    return widen(narrow(x, Float16{}), Float16{});
}
// To the 11 significant bits of HF32, to nearest even; infinities and NaN stay.
AG_INLINE Lanes round_to_hf32(Lanes x) {
    AG_EACH_REGISTER {
        const RegisterBits bits = (RegisterBits)x.r[i];
        const RegisterBits rounded = (bits + 0x7ffu + (bits >> 12 & 1u)) & ~0xfffu;
        x.r[i] = (bits & 0x7f800000u) == 0x7f800000u ? x.r[i] : (Register)rounded;
    }
    return x;
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
            case Op::Traversal::kFill:
                fill(first_plane, last_plane);
                break;
            case Op::Traversal::kAlongChannels:
                along_channels(first_plane, last_plane);
                break;
            case Op::Traversal::kAlongWidth:
                along_width(first_plane, last_plane);
                break;
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
        return sizeof(T) == sizeof(float) && plan_.mode == Op::Mode::kFloat16 ? round_to_float16(x)
                                                                              : x;
    }
    // x / divisor; by multiplication where that gives the same bits.
    AG_INLINE Lanes quotient(Lanes x, Lanes divisor) const {
        x = rounded_by_mode(x);
        if (factor_ != 0.0f) return x * splat(factor_);
        return x / divisor;
    }

    // --- one plane, row by row ---

    // Quotients of windows (i, first_window_ + [0, windows_)) into `to`; lanes beyond are 0.
    void scale_row(const char* plane, int64_t i, float* to) const {
        const char* from =
            plane + i * plan_.height_stride[0] + first_window_ * plan_.width_stride[0];
        const bool unit = plan_.width_stride[0] == static_cast<int64_t>(sizeof(T));
        if (!unit) {
            load_run<T>(to, from, plan_.width_stride[0], windows_);
            for (int j = windows_; j % kLanes != 0; ++j) to[j] = 0.0f;
        }
        const bool constant = plan_.divisor != 0.0f;
        const Lanes rows =
            splat(constant ? plan_.divisor : counted(plan_.height, plan_.count_include_pad, i));
        for (int j = 0; j < windows_; j += kLanes) {
            const T* p = reinterpret_cast<const T*>(from) + j;
            const int n = windows_ - j;
            const Lanes x = !unit ? load(to + j) : n >= kLanes ? load(p) : load_first(p, n);
            store_raw(to + j, quotient(x, constant ? rows : rows * load(counts_ + j)));
        }
    }

    // Rows of grad_input that the same windows cover, ready to be written.
    struct Band {
        const float* sums;  // of the windows' rows of quotients
        char* to;
        int64_t rows;
    };

    // The sums of a band are made one band before they are used: a load that straddles stores must
    // wait for them otherwise.
    void along_width(int64_t begin, int64_t end) {
        char* first = grad_input_ + plane_offset(begin, 1) + first_row_ * plan_.height_stride[1] +
                      column_ * plan_.width_stride[1];
        Sink<T> sink(streaming_, first);
        const bool fits = select_windows();
        Band pending{};
        for (int64_t plane = begin; plane < end; ++plane) {
            const char* from = grad_ + plane_offset(plane, 0);
            char* to = grad_input_ + plane_offset(plane, 1) + column_ * plan_.width_stride[1];
            start_plane();
            RowWindows windows(plan_.height, first_row_);
            for (int64_t row = first_row_; row < last_row_;) {
                const Band band{fits ? sum_of_rows(from, windows.covering()) : nullptr,
                                to + row * plan_.height_stride[1], windows.count(last_row_ - row)};
                if (!fits) {
                    add_windows_one_by_one(from, windows.covering());
                    for (int64_t i = 0; i < band.rows; ++i)
                        write_line(band.to + i * plan_.height_stride[1], sink);
                } else {
                    write_band(pending, sink);
                    pending = band;
                }
                row += band.rows;
                windows.advance(band.rows);
            }
        }
        write_band(pending, sink);
    }

    // Which windows reach this tile's columns, and where they stand in a row of quotients: first
    // the windows that would precede them, as zeros, so that every column adds the same number of
    // windows.
    bool select_windows() {
        const int64_t lowest = (column_ + plan_.width.pad) / plan_.width.stride;
        const int64_t highest = (column_ + columns_ - 1 + plan_.width.pad) / plan_.width.stride;
        overlap_ = pool_scratch::overlap(plan_.width);
        const int64_t leftmost = lowest - overlap_ + 1;
        first_window_ = greater(leftmost, 0);
        windows_ =
            static_cast<int>(greater(0, lesser(highest + 1, plan_.width.windows) - first_window_));
        groups_ = static_cast<int>(highest - lowest + 1);
        const int64_t pitch = (groups_ + overlap_ + 3 * kLanes) / kLanes * kLanes;
        if (overlap_ > kMaxOverlap) return false;
        pitch_ = static_cast<int>(pitch);
        lead_ = static_cast<int>(first_window_ - leftmost);
        first_phase_ = column_ + plan_.width.pad - lowest * plan_.width.stride;
        kept_ = 1;
        while (kept_ < pool_scratch::overlap(plan_.height) + 1) kept_ *= 2;
        caches_ = kept_ <= pool_scratch::kRows && (kept_ + 2) * pitch_ <= pool_scratch::kFloats;
        if (!caches_) kept_ = 1;
        std::memset(rows_, 0, sizeof(float) * static_cast<size_t>((kept_ + 2) * pitch_));
        choose_writer();
        std::memset(line_, 0, sizeof(line_));
        for (int j = 0; j < windows_ + kLanes; ++j) {
            counts_[j] = j < windows_
                             ? counted(plan_.width, plan_.count_include_pad, first_window_ + j)
                             : 1.0f;
        }
        return true;
    }
    void forget_rows() {
        for (int i = 0; i < pool_scratch::kRows; ++i) cached_[i] = -1;
        summed_ = {-1, -2};
    }
    // Rows of the next plane follow in the ring, so that they do not overwrite one that is still to
    // be written.
    void start_plane() {
        forget_rows();
        shift_ += plan_.height.windows;
    }
    const float* scaled_row(const char* plane, int64_t i) {
        const int slot = static_cast<int>((i + shift_) & (kept_ - 1));
        float* row = rows_ + (slot + 2) * pitch_;
        if (!caches_ || cached_[slot] != i) scale_row(plane, i, row + lead_);
        cached_[slot] = i;
        return row;
    }
    const float* sum_of_rows(const char* plane, const Covering& rows) {
        sum_slot_ ^= 1;
        float* sums = rows_ + sum_slot_ * pitch_;
        if (rows.last < rows.first) {
            std::memset(sums, 0, sizeof(float) * static_cast<size_t>(pitch_));
            return sums;
        }
        const float* first = scaled_row(plane, rows.first);
        if (rows.last == rows.first && caches_) return first;
        if (caches_) {
            const float* from[pool_scratch::kRows];
            const int count = static_cast<int>(rows.last - rows.first) + 1;
            for (int k = 0; k < count; ++k) from[k] = scaled_row(plane, rows.first + k);
            for (int j = 0; j < pitch_; j += kLanes) {
                Lanes sum = load(from[0] + j) + load(from[1] + j);
                for (int k = 2; k < count; ++k) sum = sum + load(from[k] + j);
                store_raw(sums + j, sum);
            }
            return sums;
        }
        std::memcpy(sums, first, sizeof(float) * static_cast<size_t>(pitch_));
        for (int64_t i = rows.first + 1; i <= rows.last; ++i) {
            const float* next = scaled_row(plane, i);
            for (int j = 0; j < pitch_; j += kLanes)
                store_raw(sums + j, load(sums + j) + load(next + j));
        }
        return sums;
    }

    // Column c of grad_input belongs to the group of columns with equal (c + pad) / stride; `own`
    // holds, from the first group on, the sum of the window that starts with the group. An element
    // adds the last windows up to its group's own, as many as the kernel spans at its phase in the
    // group.
    void write_band(const Band& band, Sink<T>& sink) {
        if (band.rows == 0) return;
        const float* own = band.sums + overlap_ - 1;
        const int64_t pitch = plan_.height_stride[1];
        if (writer_ == nullptr) {
            if (plan_.width.kernel == plan_.width.stride) {
                repeat(own);
            } else {
                add_by_phase(own);
            }
            for (int64_t i = 0; i < band.rows; ++i) write_line(band.to + i * pitch, sink);
            return;
        }
        const bool contiguous = pitch == columns_ * static_cast<int64_t>(sizeof(T));
        const int64_t at_once = contiguous ? greater(1, Sink<T>::kReserve / columns_) : 1;
        for (int64_t i = 0; i < band.rows; i += at_once) {
            const int rows = static_cast<int>(lesser(at_once, band.rows - i));
            sink.move_to(band.to + i * pitch);
            (this->*writer_)(own, sink.reserve(rows * columns_), rows);
            sink.commit(rows * columns_);
        }
    }

    // writer_ writes equal neighbouring rows straight from the sums; null where that takes more
    // steps.
    void choose_writer() {
        writer_ = nullptr;
        const bool rounds = plan_.dtype == DataType::kFloat32 && plan_.mode == Op::Mode::kFloat16;
        if (plan_.width_stride[1] != static_cast<int64_t>(sizeof(T)) || rounds) return;
        if (plan_.width.stride == 1) choose_writer_1<kMaxUnrolled>();
        if (plan_.width.stride == 2) choose_writer_2<kMaxUnrolled>();
    }
    template <int kKernel>
    void choose_writer_1() {
        if (kKernel == 0 || plan_.width.kernel == kKernel) {
            writer_ = &AvgPool::write_stride_1<kKernel>;
        } else if constexpr (kKernel > 0) {
            choose_writer_1<kKernel - 1>();
        }
    }
    template <int kKernel>
    void choose_writer_2() {
        if (kKernel == 0 || plan_.width.kernel == kKernel) {
            writer_ = first_phase_ == 0 ? &AvgPool::write_stride_2<kKernel, 0>
                                        : &AvgPool::write_stride_2<kKernel, 1>;
        } else if constexpr (kKernel > 0) {
            choose_writer_2<kKernel - 1>();
        }
    }

    template <int kCount>
    static AG_INLINE Lanes sum_up_to(const float* own, int count) {
        Lanes sum{};
        for (int t = (kCount >= 0 ? kCount : count) - 1; t >= 0; --t) sum = sum + load(own - t);
        return sum;
    }

    template <int kKernel>
    void write_stride_1(const float* own, T* out, int rows) const {
        constexpr int kCount = kKernel > 0 ? kKernel : -1;
        const int count = static_cast<int>(overlap_);
        const int columns = columns_;
        for (int c = 0; c < columns; c += kLanes) {
            const Lanes value = sum_up_to<kCount>(own + c, count);
            for (int i = 0; i < rows; ++i) put(out + i * columns + c, value, columns - c);
        }
    }
    template <int kKernel, int kPhase>
    void write_stride_2(const float* own, T* out, int rows) const {
        constexpr int kEven = kKernel > 0 ? (kKernel + 1) / 2 : -1;
        constexpr int kOdd = kKernel > 0 ? kKernel / 2 : -1;
        const int even = static_cast<int>((plan_.width.kernel + 1) / 2);
        const int odd = static_cast<int>(plan_.width.kernel / 2);
        const int columns = columns_;
        for (int c = 0; c < columns; c += 2 * kLanes, own += kLanes) {
            const Lanes at_even = sum_up_to<kEven>(own + kPhase, even);
            const Lanes at_odd = sum_up_to<kOdd>(own, odd);
            Lanes low, high;
            interleave(kPhase == 0 ? at_even : at_odd, kPhase == 0 ? at_odd : at_even, low, high);
            for (int i = 0; i < rows; ++i) {
                T* to = out + i * columns + c;
                put(to, low, columns - c);
                if (columns - c > kLanes) put(to + kLanes, high, columns - c - kLanes);
            }
        }
    }
    static AG_INLINE void put(T* to, Lanes value, int n) {
        if (n >= kLanes) {
            store(to, value);
        } else {
            store_first(to, value, n);
        }
    }

    // line_ for windows that neither overlap nor leave gaps.
    void repeat(const float* own) {
        int64_t start = -first_phase_;
        for (int u = 0; u < groups_; ++u, start += plan_.width.stride) {
            const Lanes value = Lanes{} + splat(own[u]);
            const int from = static_cast<int>(greater(start, 0));
            const int64_t end = start + plan_.width.stride;
            const int to = end < columns_ ? static_cast<int>(end) : columns_;
            for (int c = from; c < to; c += kLanes) store_raw(line_ + c, value);
        }
    }
    void add_by_phase(const float* own) {
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
    int windows_at(int64_t phase) const {
        if (phase >= plan_.width.kernel) return 0;
        return overlap_ == 1
                   ? 1
                   : static_cast<int>((plan_.width.kernel - 1 - phase) / plan_.width.stride) + 1;
    }

    // The same sums for kernels of any size: adds each window to the elements it covers.
    void add_windows_one_by_one(const char* plane, const Covering& rows) {
        for (int c = 0; c < columns_; ++c) line_[c] = 0.0f;
        const Covering left = covering(plan_.width, column_);
        const Covering right = covering(plan_.width, column_ + columns_ - 1);
        float* sum = rows_;
        float* next = rows_ + kWindowChunk;
        for (int64_t j = left.first; j <= right.last; j += kWindowChunk) {
            first_window_ = j;
            windows_ = static_cast<int>(lesser(kWindowChunk, right.last + 1 - j));
            for (int k = 0; k < kWindowChunk; ++k) {
                counts_[k] =
                    k < windows_ ? counted(plan_.width, plan_.count_include_pad, j + k) : 1.0f;
            }
            std::memset(sum, 0, sizeof(float) * kWindowChunk);
            for (int64_t i = rows.first; i <= rows.last; ++i) {
                scale_row(plane, i, next);
                for (int k = 0; k < windows_; ++k) sum[k] += next[k];
            }
            for (int k = 0; k < windows_; ++k) {
                const int64_t start = (j + k) * plan_.width.stride - plan_.width.pad - column_;
                const int from = static_cast<int>(greater(start, 0));
                const int to = start > columns_ - plan_.width.kernel
                                   ? columns_
                                   : static_cast<int>(start + plan_.width.kernel);
                for (int c = from; c < to; ++c) line_[c] += sum[k];
            }
        }
    }

    void write_line(char* to, Sink<T>& sink) {
        if (plan_.width_stride[1] != static_cast<int64_t>(sizeof(T))) {
            for (int c = 0; c < columns_; c += kLanes)
                store_raw(line_ + c, result_by_mode(load(line_ + c)));
            store_run<T>(to, plan_.width_stride[1], line_, columns_);
            return;
        }
        sink.move_to(to);
        T* out = sink.reserve(columns_);
        int c = 0;
        for (; c + kLanes <= columns_; c += kLanes) store(out + c, result_by_mode(load(line_ + c)));
        if (c < columns_) store_first(out + c, result_by_mode(load(line_ + c)), columns_ - c);
        sink.commit(columns_);
    }

    // --- constant planes ---

    void fill(int64_t begin, int64_t end) {
        const int64_t elements = plan_.height.extent * plan_.width.extent;
        const bool packed = plan_.planes.count == 1 &&
                            plan_.planes.stride[0][0] == static_cast<int64_t>(sizeof(T)) &&
                            plan_.planes.stride[0][1] == elements * static_cast<int64_t>(sizeof(T));
        Sink<T> sink(streaming_, grad_input_ + plane_offset(begin, 1));
        for (int64_t plane = begin; plane < end; plane += kLanes) {
            const int count = static_cast<int>(lesser(kLanes, end - plane));
            float values[kLanes] = {};
            if (packed) {
                store_raw(values, load_first(reinterpret_cast<const T*>(grad_) + plane, count));
            } else {
                for (int i = 0; i < count; ++i)
                    values[i] = to_float(read_element<T>(grad_ + plane_offset(plane + i, 0)));
            }
            store_raw(values,
                      result_by_mode(Lanes{} + quotient(load(values), splat(plan_.divisor))));
            if (packed && elements * kLanes <= Sink<T>::kReserve) {
                fill_together(sink, values, count, static_cast<int>(elements));
                continue;
            }
            for (int i = 0; i < count; ++i) {
                sink.move_to(grad_input_ + plane_offset(plane + i, 1));
                for (int64_t done = 0; done < elements; done += Sink<T>::kReserve) {
                    const int n = static_cast<int>(lesser(Sink<T>::kReserve, elements - done));
                    T* out = sink.reserve(n);
                    fill_exactly(out, splat(values[i]), n);
                    sink.commit(n);
                }
            }
        }
    }
    static AG_INLINE void fill_exactly(T* out, Lanes value, int n) {
        int i = 0;
        for (; i + kLanes <= n; i += kLanes) store(out + i, value);
        if (i < n) store_first(out + i, value, n - i);
    }
    // Neighbouring planes: each but the last may run over into the next, which is written after it.
    static void fill_together(Sink<T>& sink, const float* values, int count, int elements) {
        T* out = sink.reserve(count * elements);
        for (int i = 0; i < count; ++i, out += elements) {
            const int left = (count - 1 - i) * elements;
            if (left < kLanes) {
                fill_exactly(out, splat(values[i]), elements);
                continue;
            }
            for (int k = 0; k < elements; k += kLanes) store(out + k, splat(values[i]));
        }
        sink.commit(count * elements);
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
                char* out = to + row * plan_.height_stride[1] + column_ * plan_.width_stride[1];
                RowWindows columns(plan_.width, column_);
                for (int c = 0; c < columns_;
                     ++c, out += plan_.width_stride[1], columns.advance(1)) {
                    const Covering& windows = columns.covering();
                    if (caches_) {
                        write_channels(reinterpret_cast<T*>(out),
                                       sums + (windows.first - first_window_) * pitch_,
                                       static_cast<int>(windows.last - windows.first + 1));
                    } else {
                        write_channels_uncached(reinterpret_cast<T*>(out), from, rows, windows);
                    }
                }
            }
        }
    }

    float divisor_of(int64_t i, int64_t j) const {
        if (plan_.divisor != 0.0f) return plan_.divisor;
        return counted(plan_.height, plan_.count_include_pad, i) *
               counted(plan_.width, plan_.count_include_pad, j);
    }
    const T* channels_at(const char* plane, int64_t i, int64_t j) const {
        return reinterpret_cast<const T*>(plane + i * plan_.height_stride[0] +
                                          j * plan_.width_stride[0]);
    }
    const float* channel_row(const char* plane, int64_t i) {
        const int slot = static_cast<int>(i & (kept_ - 1));
        float* row = rows_ + static_cast<int64_t>(slot + 1) * windows_ * pitch_;
        if (cached_[slot] == i) return row;
        cached_[slot] = i;
        for (int j = 0; j < windows_; ++j) {
            const T* from = channels_at(plane, i, first_window_ + j);
            const Lanes divisor = splat(divisor_of(i, first_window_ + j));
            float* to = row + j * pitch_;
            int c = 0;
            for (; c + kLanes <= channels_; c += kLanes)
                store_raw(to + c, quotient(load(from + c), divisor));
            if (c < channels_)
                store_raw(to + c, quotient(load_first(from + c, channels_ - c), divisor));
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
            for (int k = 0; k < count; k += kLanes)
                store_raw(rows_ + k, load(summed_row_ + k) + load(next + k));
            summed_row_ = rows_;
        }
        return summed_row_;
    }
    void write_channels(T* out, const float* sums, int windows) {
        for (int c = 0; c < channels_; c += kLanes) {
            Lanes sum{};
            for (int j = 0; j < windows; ++j) sum = sum + load(sums + j * pitch_ + c);
            put_channels(out + c, sum, channels_ - c);
        }
    }
    void write_channels_uncached(T* out, const char* plane, const Covering& rows,
                                 const Covering& columns) {
        for (int c = 0; c < channels_; c += kLanes) {
            const int n = channels_ - c < kLanes ? channels_ - c : kLanes;
            Lanes sum{};
            for (int64_t j = columns.first; j <= columns.last; ++j) {
                Lanes column{};
                for (int64_t i = rows.first; i <= rows.last; ++i) {
                    const T* from = channels_at(plane, i, j) + c;
                    column = column + quotient(n == kLanes ? load(from) : load_first(from, n),
                                               splat(divisor_of(i, j)));
                }
                sum = sum + column;
            }
            put_channels(out + c, sum, n);
        }
    }
    AG_INLINE void put_channels(T* out, Lanes value, int n) const {
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
    static constexpr int kMaxUnrolled = 7;  // kernels with code of their own
    static constexpr int kWindowChunk = 256;

    const Op::Plan& plan_;
    const char* grad_;
    char* grad_input_;
    const bool streaming_;
    const float factor_;  // 1 / divisor where that is exact, else 0

    int64_t first_row_ = 0, last_row_ = 0, column_ = 0, channel_ = 0;
    int columns_ = 0, channels_ = 0;
    int64_t first_window_ = 0, overlap_ = 0, first_phase_ = 0;
    int windows_ = 0, groups_ = 0, pitch_ = 0, lead_ = 0, kept_ = 0;
    bool caches_ = false;
    void (AvgPool::*writer_)(const float* own, T* out, int rows) const = nullptr;
    int64_t shift_ = 0;
    int sum_slot_ = 0;
    int64_t cached_[pool_scratch::kRows];
    Covering summed_{-1, -2};
    const float* summed_row_ = nullptr;
    alignas(64) float counts_[pool_scratch::kMaxColumns + 4 * kLanes];
    alignas(64) float line_[pool_scratch::kMaxColumns + 4 * kLanes];
    alignas(64) float rows_[pool_scratch::kFloats + kLanes];
};

template <class T>
struct AvgPool2dBackwardKernel {
    using Op = AvgPool2dBackward;

    static void run(const Op::Plan& plan, void* const* addresses, bool streaming, int64_t begin,
                    int64_t end) {
        AvgPool<T> pool(plan, addresses, streaming);
        for (int64_t task = begin; task < end; ++task) pool.run(task);
        if (streaming) stream_fence();
    }

    static constexpr Op::Kernels kernels() { return {run}; }
};

}  // namespace
}  // namespace ascend_grad
