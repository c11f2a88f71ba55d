#pragma once

#include <algorithm>

#include "isa/column_sinks.h"
#include "ops/softmax_backward/across_rows.h"
#include "ops/softmax_backward/along_rows.h"
#include "ops/softmax_backward/group_place.h"
#include "ops/softmax_backward/op.h"
#include "ops/softmax_backward/planes.h"
#include "ops/softmax_backward/small_planes.h"
#include "ops/softmax_backward/transposed.h"

namespace ascend_grad {
namespace {

// sums[i] = the sum of all chunks of row i, of all that writing needs; sum_chunk() of up to sixteen
// more is stored.
template <class Rows>
inline void sum_all_chunks(Rows& rows, int64_t chunks, float* sums) {
    if (chunks == 1) return rows.sum_chunk(0, sums);
    double totals[kMaxSums] = {};
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
        rows.sum_chunk(chunk, sums);
        for (int i = 0; i < rows.summed(); ++i) totals[i] += static_cast<double>(sums[i]);
    }
    for (int i = 0; i < rows.summed(); ++i) sums[i] = static_cast<float>(totals[i]);
}

// Rows of a group or, along rows, of several groups; T is the inputs' dtype, U out's. All
// traversals but kStaged; where dtypes differ, which float is one of, kAlongRows and kAcrossRows.
template <class T, class U = T>
class SoftmaxRows {
    using Op = SoftmaxBackward;
    using Traversal = Op::Traversal;

  public:
    // `columns`: where transposed results are collected; null: they are not.
    SoftmaxRows(const Op::Plan& plan, void* const* addresses, bool streaming,
                ColumnSinks* columns = nullptr)
        : plan_(plan),
          place_(plan, addresses),
          streaming_(streaming),
          sink_(streaming, nullptr),
          columns_(columns) {}

    // Goes to a group of rows or, along rows and of small planes, to all those up to `end` that
    // follow it at equal distances. Returns the next group.
    int64_t select(int64_t group, int64_t end) {
        // However many groups are taken at a time, bits are the same. Past the caches, unless loads
        // are asked for, it pays to read each group's first row by itself: reading gets ahead of
        // stores. Not of rows shorter than a vector, which are read across their ends (measured;
        // of sixteen elements it does).
        const bool takes_groups = plan_.traversal == Traversal::kAlongRows &&
                                  (plan_.asks || !streaming_ || plan_.length < kLanes);
        const int64_t groups = takes_groups ? least(place_.following(group, end), kMaxGroups) : 1;
        planes_ = plan_.has_small_planes
                      ? static_cast<int>(least(place_.following_planes(group, end), kMaxGroups))
                      : 1;
        place_.select(group);
        count_ = place_.rows_of(groups);
        const int64_t left = place_.rows_left();
        const int64_t following = left > count_ || !plan_.wraps ? left - count_ : kMaxSums;
        summed_ = count_ + static_cast<int>(least(plan_.rows_beyond, following));
        const int inner = plan_.rows.count - 1;
        if (plan_.is_plane && inner > 0) {
            for (int k = 0; k < Op::kOut; ++k)
                to_next_[k] = group + 1 < end ? plan_.rows.stride[inner - 1][k] : 0;
        }
        return group + groups + planes_ - 1;
    }
    int count() const { return count_; }
    // Rows from the first one on whose sums writing needs.
    int summed() const { return summed_; }
    int64_t first_row() const { return place_.first_row(); }

    // Everything of the selected rows.
    void run() {
        if (plan_.traversal == Traversal::kAlongRows) return along_rows();
        if constexpr (!kConverts) {
            if (plan_.has_small_planes) {
                sink_.move_to(output(0, 0));
                small_planes_.run(input(0, 0, 0), input(1, 0, 0), static_cast<int>(plan_.length),
                                  count_, planes_, plan_.asks_into_second, sink_);
                return;
            }
        }
        float sums[kMaxSums + kLanes];  // more than a small group reads
        std::fill_n(sums, summed_ + kLanes, 0.0f);
        sum_all_chunks(*this, plan_.chunks, sums);
        // What was summed last is in the nearest cache; AcrossRows goes the same way.
        const bool is_backwards = plan_.traversal == Traversal::kAcrossRows && !plan_.is_plane;
        for (int64_t i = 0; i < plan_.chunks; ++i)
            write_chunk(is_backwards ? plan_.chunks - 1 - i : i, sums);
    }

    // sums[i] = this chunk's sum of row i, of all that writing needs or, of a split plan, the
    // group.
    void sum_chunk(int64_t chunk, float* sums) {
        if (plan_.traversal == Traversal::kAcrossRows ||
            plan_.traversal == Traversal::kAcrossToAlong)
            return sum_across(chunk, sums);
        for (int i = 0; i < count_; ++i) sums[i] = sum_chunk_along(i, chunk);
    }

    void write_chunk(int64_t chunk, const float* sums) {
        if (plan_.traversal == Traversal::kAlongRows) {
            for (int i = 0; i < count_; ++i) write_along(i, chunk, sums[i], false);
        } else if (plan_.traversal == Traversal::kAcrossRows) {
            write_across(chunk, sums);
        } else if constexpr (!kConverts) {
            if (plan_.traversal == Traversal::kAlongToAcross) {
                write_transposed<true>(chunk, sums);
            } else {
                write_transposed<false>(chunk, sums);
            }
        }
    }

  private:
    static constexpr bool kConverts = !std::is_same_v<T, U>;

    int length_of(int64_t chunk) const {
        return static_cast<int>(least(plan_.chunk, plan_.length - chunk * plan_.chunk));
    }
    char* address(int operand, int64_t row, int64_t element) const {
        return place_.address(operand, row, element);
    }
    const T* input(int operand, int row, int64_t chunk) const {
        return reinterpret_cast<const T*>(address(operand, row, chunk * plan_.chunk));
    }
    U* output(int row, int64_t chunk) const {
        return reinterpret_cast<U*>(address(2, row, chunk * plan_.chunk));
    }

    // --- elements of a row contiguous ---

    bool rows_follow_each_other() const {
        const int64_t bytes = plan_.length * static_cast<int64_t>(sizeof(T));
        return plan_.step == 1 && place_.row_stride(0) == bytes && place_.row_stride(1) == bytes &&
               place_.row_stride(2) == bytes;
    }

    void along_rows() {
        if constexpr (!kConverts) {
            if (plan_.length <= kLanes && count_ >= kLanes && rows_follow_each_other()) {
                sink_.move_to(output(0, 0));
                small_planes_.run(input(0, 0, 0), input(1, 0, 0), static_cast<int>(plan_.length), 1,
                                  count_, plan_.asks_into_second, sink_);
                return;
            }
        }
        if constexpr (std::is_same_v<T, float> && !kConverts) {
            const int64_t bytes = plan_.length * static_cast<int64_t>(sizeof(U));
            if (streaming_ && plan_.asks_for_rows &&
                streams_runs(output(0, 0), bytes, place_.row_stride(2))) {
                return stream_rows<T>(row_set(0, output(0, 0), count_),
                                      static_cast<int>(plan_.length));
            }
        }
        // While a row is written the next one is read, where that overlaps with conversions, with
        // stores past the caches or, on some processors, with loads of long rows from a cache. Of
        // shorter rows it costs a third and more (measured).
        constexpr bool kIsNarrow = sizeof(T) == 2;
        const bool reads_ahead =
            plan_.reads_next_row || ((kIsNarrow || streaming_) &&
                                     plan_.length >= Op::kShortRow / static_cast<int>(sizeof(T)));
        if (!reads_ahead && plan_.chunks == 1 && plan_.step == 1) {
            rows_by_themselves();
            return;
        }
        float sum = sum_along(0);
        for (int row = 0; row < count_; ++row) {
            if (row > 0 && !reads_ahead) sum = sum_along(row);
            const bool sums_next = reads_ahead && row + 1 < count_;
            double total = 0.0;
            float last = 0.0f;
            for (int64_t chunk = 0; chunk < plan_.chunks; ++chunk) {
                // What was summed last is in the nearest cache.
                const bool is_forwards = sums_next || streaming_;
                const int64_t place = is_forwards ? chunk : plan_.chunks - 1 - chunk;
                last = write_along(row, place, sum, sums_next);
                total += static_cast<double>(last);
            }
            sum = plan_.chunks == 1 ? last : static_cast<float>(total);
        }
    }

    RowSet row_set(int row, U* out, int count) const {
        return {address(0, row, 0),
                address(1, row, 0),
                reinterpret_cast<char*>(out),
                plan_.rows.stride[plan_.rows.count - 1],
                count,
                plan_.asks_for_stores};
    }

    // Several of them go past the caches at a time, short ones.
    void rows_by_themselves() {
        const int n = static_cast<int>(plan_.length);
        const int64_t bytes = n * static_cast<int64_t>(sizeof(U));
        int most = count_;
        if (streaming_) most = place_.row_stride(2) == bytes ? Sink<U>::kReserve / n : 1;
        for (int row = 0; row < count_; row += most) {
            const int together = static_cast<int>(least(most, count_ - row));
            sink_.move_to(output(row, 0));
            const RowSet rows = row_set(row, sink_.reserve(together * n), together);
            with_constant(plan_.asks, [&](auto asks) { write_rows<1, T, U>(rows, n, asks); });
            sink_.commit(together * n);
        }
    }

    // Of two chunks at a time, as an addition waits for the one before it; the last may be shorter.
    float sum_along(int row) const {
        if (plan_.chunks == 1) return sum_chunk_along(row, 0);
        double total = 0.0;
        int64_t chunk = 0;
        for (; chunk + 2 < plan_.chunks; chunk += 2) {
            float sums[2];
            sum_chunks_along<2>(row, chunk, sums);
            for (const float sum : sums) total += static_cast<double>(sum);
        }
        for (; chunk < plan_.chunks; ++chunk)
            total += static_cast<double>(sum_chunk_along(row, chunk));
        return static_cast<float>(total);
    }
    float sum_chunk_along(int row, int64_t chunk) const {
        float sum;
        sum_chunks_along<1>(row, chunk, &sum);
        return sum;
    }
    // Of equal lengths.
    template <int kCount>
    void sum_chunks_along(int row, int64_t chunk, float* sums) const {
        Inputs<T> in[kCount];
        for (int k = 0; k < kCount; ++k) in[k] = inputs(row, chunk + k);
        with_constant(plan_.asks, [&](auto asks) {
            if (kConverts || plan_.step == 1) {
                sum_products<1, kCount>(in, length_of(chunk), asks, sums);
            } else {
                sum_products<2, kCount>(in, length_of(chunk), asks, sums);
            }
        });
    }
    Inputs<T> inputs(int row, int64_t chunk) const {
        return {input(0, row, chunk), input(1, row, chunk)};
    }

    // Returns the same chunk's sum of the next row if `sums_next`.
    float write_along(int row, int64_t chunk, float sum, bool sums_next) {
        const int n = length_of(chunk);
        U* const out = output(row, chunk);
        const Inputs<T> in = inputs(row, chunk);
        const Inputs<T> next = sums_next ? inputs(row + 1, chunk) : in;
        // Past the caches, short rows go by way of a buffer, which joins the ends of their lines.
        const int64_t bytes = n * static_cast<int64_t>(sizeof(U));
        const bool is_direct = !streaming_ || streams_runs(out, bytes, 0);
        const int most = is_direct ? n : Sink<U>::kReserve;
        if (!is_direct) sink_.move_to(out);
        Lanes sums{};
        for (int i = 0; i < n; i += most) {
            const int count = static_cast<int>(least(most, n - i));
            const int at = i * plan_.step;
            const Inputs<T> these = {in.g + at, in.y + at}, those = {next.g + at, next.y + at};
            U* const to = is_direct ? out : sink_.reserve(count);
            const bool streams = streaming_ && is_direct;
            if constexpr (kConverts) {
                sums = write_along<1>(these, sum, to, streams, sums_next, those, count, sums);
            } else {
                sums = plan_.step == 1
                           ? write_along<1>(these, sum, to, streams, sums_next, those, count, sums)
                           : write_along<2>(these, sum, to, streams, sums_next, those, count, sums);
            }
            if (!is_direct) sink_.commit(count);
        }
        return sums_next ? tree_sum(sums) : 0.0f;
    }
    template <int kStep>
    AG_INLINE Lanes write_along(const Inputs<T>& in, float sum, U* out, bool streams,
                                bool sums_next, const Inputs<T>& next, int n, Lanes sums) const {
        if (!sums_next)
            return write_and_sum<kStep, false>(in, sum, out, streams, next, n, false, sums);
        return with_constant<!kConverts>(plan_.asks, [&](auto asks) AG_INLINE_LAMBDA {
            return write_and_sum<kStep, true>(in, sum, out, streams, next, n, asks, sums);
        });
    }

    // --- neighbouring rows contiguous ---

    // `columns` rows from one on, counted from the first of the group.
    AcrossRows<T> across(int64_t chunk, int64_t first, int columns) const {
        char* run[3];
        for (int k = 0; k < 3; ++k) run[k] = address(k, first, chunk * plan_.chunk);
        return {
            run, plan_.stride, columns, length_of(chunk), plan_.by_columns, plan_.asks_into_second};
    }
    void sum_across(int64_t chunk, float* sums) {
        if (plan_.is_plane) {
            sum_plane(input(0, 0, chunk), input(1, 0, chunk), count_, length_of(chunk),
                      plan_.by_columns, lanes_, sums);
            return;
        }
        // Of a split plan other tasks make the other sums.
        const int summed = plan_.split ? count_ : summed_;
        const auto left = static_cast<int>(least(summed, place_.rows_left()));
        across(chunk, 0, left).sum(lanes_);
        std::copy_n(lanes_, left, sums);
        if (left == summed) return;
        across(chunk, -place_.rows_before(), summed - left).sum(lanes_);
        std::copy_n(lanes_, summed - left, sums + left);
    }

    // Of the run of that element. Where rows begin and end no group has the line's other part.
    LineEnds line_ends(int64_t element) const {
        const bool is_last = place_.rows_left() == count_ && element == plan_.length - 1;
        const bool is_first = place_.rows_before() == 0 && (element == 0 || !plan_.wraps);
        return {plan_.rows_beyond > 0 && !is_first, is_last ? 0 : summed_ - count_};
    }
    void write_across(int64_t chunk, const float* sums) {
        const int n = length_of(chunk);
        float repeated[kMaxSums + kRepeats];
        std::copy_n(sums, summed_, repeated);
        if (!plan_.is_plane) {
            std::fill_n(repeated + summed_, kRepeats, 0.0f);
            across(chunk, 0, count_)
                .template write<U>(repeated, summed_, streaming_, plan_.rows_beyond > 0,
                                   [&](int i) { return line_ends(chunk * plan_.chunk + i); });
            return;
        }
        repeat_sums(repeated, count_);
        sink_.move_to(output(0, chunk));
        for (int i = 0; i < n * count_; i += Sink<U>::kReserve) {
            const int m = static_cast<int>(least(Sink<U>::kReserve, n * count_ - i));
            U* const to = sink_.reserve(m);
            with_constant(plan_.asks, [&](auto asks) {
                write_plane(input(0, 0, chunk) + i, input(1, 0, chunk) + i, to, m, count_,
                            i % count_, repeated, to_next_, asks, streaming_);
            });
            sink_.commit(m);
        }
    }

    // --- inputs contiguous along rows and out across them, or the reverse ---

    // Columns are those of the result.
    template <bool kAlong>
    void write_transposed(int64_t chunk, const float* sums) {
        constexpr auto kSize = static_cast<int64_t>(sizeof(T));
        constexpr int kRows = kAlong ? kBlockRows<T> : kLanes;
        constexpr int kElements = kAlong ? kLanes : kBlockRows<T>;
        // Of a run of the result, and of as many as are written together.
        constexpr int kRun = static_cast<int>(ColumnSinks::kRunBytes / kSize);
        constexpr int kMostRows = kAlong ? kRun : kRows;
        constexpr int kMostElements = kAlong ? kElements : kRun;
        TransposedBlock<T, kAlong> block;
        block.g_stride = kAlong ? place_.row_stride(0) : plan_.stride[0];
        block.y_stride = kAlong ? place_.row_stride(1) : plan_.stride[1];
        const int64_t out_stride = kAlong ? plan_.stride[2] : place_.row_stride(2);
        const int length = length_of(chunk), columns = kAlong ? length : count_;
        char* const start = address(2, 0, chunk * plan_.chunk);
        const bool collects = columns_ != nullptr;
        if (collects) columns_->move_to(start, out_stride, columns);
        block.streams = streaming_ && !collects;
        block.out_stride = collects ? columns_->pitch() : out_stride;
        for (int i = 0; i < length; i += kMostElements) {
            const int elements = static_cast<int>(least(kMostElements, length - i));
            for (int row = 0; row < count_; row += kMostRows) {
                const int rows = static_cast<int>(least(kMostRows, count_ - row));
                const int column = kAlong ? i : row, some = kAlong ? elements : rows;
                const int run = kAlong ? rows : elements;
                char* const to = address(2, row, chunk * plan_.chunk + i);
                block.out = collects ? columns_->reserve(column, some, to) : to;
                block.columns = some;
                for (int k = 0; k < run; k += kBlockRows<T>, block.out += kCacheLine) {
                    const int first_row = kAlong ? row + k : row, first = kAlong ? i : i + k;
                    block.g = address(0, first_row, chunk * plan_.chunk + first);
                    block.y = address(1, first_row, chunk * plan_.chunk + first);
                    block.sums = sums + first_row;
                    block.lines = static_cast<int>(least(kBlockRows<T>, run - k));
                    block.write();
                }
                if (collects) columns_->commit(column, some, to, run * kSize);
            }
        }
        if (collects) columns_->advance((kAlong ? count_ : length) * kSize);
    }

    static constexpr int kMaxGroups = 1024;              // so that their rows are an int
    static constexpr int kLaneSums = kLanes * kMaxSums;  // more than sum_plane() needs
    static_assert(kLaneSums >= AcrossRows<T>::kScratch);
    static_assert(ColumnSinks::kMost >= Op::kMostCollected);

    const Op::Plan& plan_;
    GroupPlace place_;
    const bool streaming_;
    Sink<U> sink_;
    ColumnSinks* const columns_;
    uintptr_t to_next_[Op::kOut] = {};  // bytes to the plane after this one, 0 where there is none
    int count_ = 0;
    int summed_ = 0;
    int planes_ = 1;  // that follow each other
    SmallPlanes small_planes_;
    alignas(64) float lanes_[kLaneSums];
};

}  // namespace
}  // namespace ascend_grad
