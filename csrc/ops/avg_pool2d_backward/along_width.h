#pragma once

#include "isa/picked_line.h"
#include "ops/avg_pool2d_backward/sliding_rows.h"
#include "ops/avg_pool2d_backward/write_rows.h"

namespace ascend_grad {
namespace {

// One plane at a time, several rows of grad_input at once: first the quotients that they need, then
// their sums over rows, then those over columns, so that no load waits for a store just made.
template <class T>
class PoolAlongWidth : public SlidingRows<T> {
    using Op = AvgPool2dBackward;
    using Base = SlidingRows<T>;
    using Base::column_;
    using Base::columns_;
    using Base::first_plane_;
    using Base::first_row_;
    using Base::grad_;
    using Base::grad_input_;
    using Base::groups_;
    using Base::kMaxPitch;
    using Base::kMostSlots;
    using Base::kSumRows;
    using Base::last_plane_;
    using Base::last_row_;
    using Base::lowest_;
    using Base::margin_;
    using Base::pitch_;
    using Base::pixel_;
    using Base::plan_;
    using Base::plane_offset;
    using Base::row;
    using Base::slots_count_;
    using Base::streaming_;

  public:
    using Base::Base;

    void run() {
        prepare();
        Sink<T> sink(streaming_, address_of_row(first_plane_, first_row_));
        for (int64_t plane = first_plane_; plane < last_plane_; ++plane) {
            this->start_plane(grad_ + plane_offset(plane, 0));
            char* to = address_of_row(plane, first_row_);
            if (slides_) {
                slide_down(to, sink);
                continue;
            }
            for (int64_t r = first_row_; r < last_row_; r = chunks_end_) {
                if (r != chunks_begin_) select_chunks(r);
                for (int c = 0; c < chunk_count_; ++c) {
                    const Chunk& chunk = chunks_[c];
                    this->make_rows(chunk.first, chunk.last);
                    for (int s = chunk.sums_begin; s < chunk.sums_end; ++s)
                        add_rows(list_of_sums_[s]);
                    write(to, chunk, sink);
                    to += chunk.rows * plan_.height_stride[1];
                }
            }
        }
    }

  private:
    static constexpr int kMaxBands = 320, kMaxChunks = 24, kMaxSums = 160;
    static constexpr int kChunkBands = 36;
    static constexpr int kLine = Line<T>::kElements, kSpreads = 4;
    static constexpr int kSpread = pool_scratch::kMaxColumns + 2 * kPairLanes;

    // Rows of grad_input that are made together, out of new rows [first, last] of quotients.
    struct Chunk {
        int64_t first, last;
        int bands_begin, bands_end, sums_begin, sums_end;
        int rows;
        int64_t left;  // rows that the tile has from here on
    };
    struct Sum {
        int64_t first;
        int count;
        float* to;
    };

    char* address_of_row(int64_t plane, int64_t r) const {
        return grad_input_ + plane_offset(plane, 1) + r * plan_.height_stride[1] +
               column_ * plan_.width_stride[1];
    }
    void prepare() {
        if (first_row_ != tile_row_) chunks_begin_ = -1;
        tile_row_ = first_row_;
        // Of other rows only what is made anew differs: margins stay zero, columns are the same.
        if (column_ == tile_column_) return;
        tile_column_ = column_;
        chunks_begin_ = -1;
        this->select_columns();
        const auto size = static_cast<int64_t>(sizeof(T));
        overlap_ = static_cast<int>(pool_scratch::overlap(plan_.width));
        shape_ = {columns_, overlap_,
                  static_cast<int>(plan_.width.stride == 2 ? plan_.width.kernel / 2 : 0), pixel_};
        phase_ = column_ + plan_.width.pad - lowest_ * plan_.width.stride;
        const bool rounds = plan_.dtype == DataType::kFloat32 && plan_.mode == Op::Mode::kFloat16;
        writer_ = this->template element_stride<T>(1) == size && !rounds
                      ? pool_writer<T>(plan_.width, pixel_, phase_, columns_)
                      : nullptr;
        covered_ = plan_.width.kernel - (overlap_ - 1) * plan_.width.stride;
        looks_up_ = Line<T>::kLooksUp && writer_ == nullptr && select_places();
        are_packed_ = plan_.height_stride[1] == columns_ * size;
        fused_rows_ = writer_ != nullptr && overlap_ <= 2 ? 2 : 1;
        // So many that the ring holds their windows and the sink their elements.
        const int64_t overlap = pool_scratch::row_overlap(plan_);
        slides_ = this->can_slide();
        rows_at_once_ = 1024;
        if (!slides_) {
            const int64_t windows = greatest(0, slots_count_ - 1 - overlap);
            rows_at_once_ = least(rows_at_once_, windows * plan_.height.stride + 1);
        }
        if (streaming_) {
            const int64_t fitting = (Sink<T>::kReserve - 2 * kPairLanes) / columns_;
            rows_at_once_ = greatest(1, least(rows_at_once_, fitting));
        }
        constexpr int64_t kNearFloats = 2048;  // of sums over rows (measured)
        rows_summed_ = greatest(3, least(kSumRows, kNearFloats / pitch_));
        const int sums = slides_ || overlap > fused_rows_ ? kSumRows : 0;
        std::memset(sums_, 0, sizeof(float) * static_cast<size_t>((sums + 1) * pitch_));
        for (int b = 0; slides_ && b < kSumRows; ++b)
            bands_[b] = {sums_ + (b + 1) * pitch_ + margin_, nullptr, 1};
    }

    // The tile's rows of a plane whose windows are one row apart.
    void slide_down(char* to, Sink<T>& sink) {
        this->start_sliding(first_row_);
        for (int64_t r = first_row_; r < last_row_;) {
            const int rows = static_cast<int>(least(rows_summed_, last_row_ - r));
            this->slide(r, rows, sums_ + pitch_);
            Chunk chunk{};
            for (const int64_t end = r + rows; r < end; r += chunk.rows) {
                chunk.rows = static_cast<int>(least(rows_at_once_, end - r));
                chunk.bands_begin = chunk.bands_end;
                chunk.bands_end += chunk.rows;
                chunk.left = last_row_ - r;
                write(to, chunk, sink);
                to += chunk.rows * plan_.height_stride[1];
            }
        }
    }

    // The chunks from row r on, as many as there is space for: usually all of the tile's, which are
    // the same in every plane.
    void select_chunks(int64_t r) {
        RowWindows windows(plan_.height, r);
        int64_t next =
            r == first_row_ ? windows.covering().first : covering(plan_.height, r - 1).last + 1;
        int bands = 0, sums = 0;
        chunks_begin_ = r;
        for (chunk_count_ = 0; r < last_row_ && chunk_count_ < kMaxChunks; ++chunk_count_) {
            if (bands + kChunkBands > kMaxBands || sums + kSumRows > kMaxSums) break;
            Chunk& chunk = chunks_[chunk_count_];
            chunk = {next, next - 1, bands, bands, sums, sums, 0, last_row_ - r};
            const int64_t limit = least(rows_at_once_, last_row_ - r);
            while (chunk.rows < limit && bands < chunk.bands_begin + kChunkBands &&
                   sums < chunk.sums_begin + kSumRows) {
                const int rows = static_cast<int>(windows.count(limit - chunk.rows));
                const Covering& covering = windows.covering();
                const int64_t n = covering.last - covering.first + 1;
                bands_[bands] = {n > 0 ? row(covering.first) : sums_ + margin_, nullptr, rows};
                if (n > fused_rows_) {
                    float* sum = sums_ + (sums - chunk.sums_begin + 1) * pitch_;
                    bands_[bands].first = sum + margin_;
                    list_of_sums_[sums++] = {covering.first, static_cast<int>(n), sum};
                } else if (n == 2) {
                    bands_[bands].second = row(covering.first + 1);
                }
                ++bands;
                chunk.last = covering.last;
                chunk.rows += rows;
                windows.advance(rows);
            }
            chunk.bands_end = bands;
            chunk.sums_end = sums;
            next = chunk.last + 1;
            r += chunk.rows;
        }
        chunks_end_ = r;
    }

    void add_rows(const Sum& sum) const {
        const float* from[kMostSlots];
        for (int k = 0; k < sum.count; ++k) from[k] = row(sum.first + k) - margin_;
        sum_rows(sum.to, from, sum.count, margin_ + groups_);
    }

    void write(char* to, const Chunk& chunk, Sink<T>& sink) {
        if (writer_ != nullptr && are_packed_) {
            return write_packed(to, chunk.bands_begin, chunk.bands_end, chunk.rows, chunk.left,
                                sink);
        }
        if (writer_ == nullptr) return write_spread(to, chunk, sink);
        for (int b = chunk.bands_begin; b < chunk.bands_end; ++b) {
            PoolBand& band = bands_[b];
            const int rows = band.rows;
            band.rows = 1;
            for (int i = 0; i < rows; ++i, to += plan_.height_stride[1])
                write_packed(to, b, b + 1, 1, 1, sink);
            band.rows = rows;
        }
    }
    // `left` rows, these included, are still to be written one behind the other.
    void write_packed(char* to, int begin, int end, int rows, int64_t left, Sink<T>& sink) {
        sink.move_to(to);
        const int elements = rows * columns_;
        T* out = sink.reserve(elements + kPairLanes);
        const T* limit = out + (streaming_ ? elements + kPairLanes : left * columns_);
        writer_(bands_ + begin, end - begin, out, limit, shape_);
        sink.commit(elements);
    }

    // --- windows of any stride ---

    // A group begins with the columns that all its windows cover; the others lie behind the first
    // window.
    struct Spread {
        T all[kSpread], fewer[kSpread];
        T row[kSpread];  // the columns, where they are not looked up
    };

    // What each element is: the place of its sum, counted from that of its line's first pixel,
    // among sums of all windows or, from a line on, of fewer. Whether each line's sums fit a line.
    bool select_places() {
        int64_t at = phase_;
        int group = 0, of_pixel = 0;
        const int end = (columns_ + kPairLanes - 1) / kPairLanes * kPairLanes;
        for (int c = 0; c < end; ++c) {
            int& first = first_groups_[c / kLine];
            if (c % kLine == 0) first = group;
            const int place = group + of_pixel - first;
            if (place >= kLine) return false;
            places_[c] = static_cast<typename Line<T>::Bits>(place + (at < covered_ ? 0 : kLine));
            if (++of_pixel < pixel_) continue;
            of_pixel = 0;
            if (++at == plan_.width.stride) {
                at = 0;
                group += pixel_;
            }
        }
        return true;
    }
    // A few bands at a time, so that no load waits for a store just made.
    void write_spread(char* to, const Chunk& chunk, Sink<T>& sink) {
        int64_t left = chunk.left;
        for (int b = chunk.bands_begin; b < chunk.bands_end; b += kSpreads) {
            const int n = static_cast<int>(least(kSpreads, chunk.bands_end - b));
            for (int i = 0; i < n; ++i) spread(bands_[b + i].first, spreads_[i]);
            for (int i = 0; i < n; ++i) {
                const int rows = bands_[b + i].rows;
                repeat(spreads_[i], rows, to, left, sink);
                to += rows * plan_.height_stride[1];
                left -= rows;
            }
        }
    }
    void spread(const float* own, Spread& to) const {
        const int overlap = overlap_, pixel = pixel_, groups = groups_;
        for (int u = 0; u < groups; u += kPairLanes) {
            store_packed(to.all + u, sum_of(own + u, overlap, pixel));
            store_packed(to.fewer + u, sum_of(own + u, overlap - 1, pixel));
        }
        if (looks_up_) return;
        if (pixel > 1) return spread_pixels(to);
        const int64_t stride = plan_.width.stride;
        int64_t start = -phase_;
        for (int u = 0; u < groups; ++u, start += stride) {
            if (start >= 0 && stride <= kLine) {
                store_line(to.row + start, to.all[u]);
                if (covered_ < stride) store_line(to.row + start + covered_, to.fewer[u]);
            } else {
                fill(to.row, start, start + covered_, to.all[u]);
                fill(to.row, start + covered_, start + stride, to.fewer[u]);
            }
        }
    }
    void spread_pixels(Spread& to) const {
        const int pixel = pixel_, pixels = columns_ / pixel, windows = groups_ / pixel;
        int64_t start = -phase_;
        for (int u = 0; u < windows; ++u, start += plan_.width.stride) {
            const int end = static_cast<int>(least(start + plan_.width.stride, pixels));
            for (int x = static_cast<int>(greatest(start, 0)); x < end; ++x) {
                const T* from = (x - start < covered_ ? to.all : to.fewer) + u * pixel;
                for (int k = 0; k < pixel; k += kLine) {
                    typename Line<T>::Type line;
                    std::memcpy(&line, from + k, sizeof(line));
                    std::memcpy(to.row + x * pixel + k, &line, sizeof(line));
                }
            }
        }
    }
    static AG_INLINE void store_line(T* to, T value) {
        const auto line = Line<T>::of(value);
        std::memcpy(to, &line, sizeof(line));
    }
    // Of the last `windows` windows up to each.
    AG_INLINE typename Packed<T>::Type sum_of(const float* own, int windows, int pixel) const {
        LanePair x{};
        for (int t = windows - 1; t >= 0; --t) x = x + load_pair(own - t * pixel);
        return pack<T>(
            {this->template result_by_mode<T>(x.low), this->template result_by_mode<T>(x.high)});
    }
    // Columns [begin, end) and some behind them.
    AG_INLINE void fill(T* row, int64_t begin, int64_t end, T value) const {
        end = least(end, columns_);
        for (int64_t c = greatest(begin, 0); c < end; c += kLine) store_line(row + c, value);
    }
    AG_INLINE typename Packed<T>::Type looked_up(const Spread& from, int c) const {
        typename Packed<T>::Type x{};
        if constexpr (Line<T>::kLooksUp) {
            typename Line<T>::Type lines[kPairLanes / kLine];
            for (int i = 0; i < kPairLanes / kLine; ++i, c += kLine) {
                const int group = first_groups_[c / kLine];
                lines[i] =
                    Line<T>::looked_up(Line<T>::load(places_ + c), Line<T>::load(from.all + group),
                                       Line<T>::load(from.fewer + group));
            }
            std::memcpy(&x, lines, sizeof(x));
        }
        return x;
    }
    // So many rows, of `left` that are still to be written one behind the other.
    void repeat(const Spread& from, int rows, char* to, int64_t left, Sink<T>& sink) const {
        if (looks_up_) {
            repeat(rows, to, left, sink,
                   [&](int c) AG_INLINE_LAMBDA { return looked_up(from, c); });
        } else {
            repeat(rows, to, left, sink, [&](int c) AG_INLINE_LAMBDA {
                typename Packed<T>::Type x;
                std::memcpy(&x, from.row + c, sizeof(x));
                return x;
            });
        }
    }
    template <class Columns>
    void repeat(int rows, char* to, int64_t left, Sink<T>& sink, const Columns& columns) const {
        if (this->template element_stride<T>(1) != static_cast<int64_t>(sizeof(T))) {
            T row[kSpread];
            store_equal_rows<false>(row, 1, columns_, row + kSpread, columns);
            for (int i = 0; i < rows; ++i, to += plan_.height_stride[1]) {
                for (int c = 0; c < columns_; ++c)
                    std::memcpy(to + c * plan_.width_stride[1], row + c, sizeof(T));
            }
            return;
        }
        const int n = are_packed_ ? rows : 1;
        for (int done = 0; done < rows; done += n) {
            const int elements = n * columns_;
            sink.move_to(to);
            T* out = sink.reserve(elements + kPairLanes);
            const int64_t writable = streaming_    ? elements + kPairLanes
                                     : are_packed_ ? left * columns_
                                                   : elements;
            store_equal_rows<false>(out, n, columns_, out + writable, columns);
            sink.commit(elements);
            to += plan_.height_stride[1];
        }
    }

    int64_t phase_ = 0, rows_at_once_ = 1, rows_summed_ = 1;
    int64_t tile_column_ = -1, tile_row_ = -1, chunks_begin_ = -1, chunks_end_ = -1;
    int overlap_ = 0, fused_rows_ = 1, chunk_count_ = 0;
    bool are_packed_ = false, slides_ = false, looks_up_ = false;
    PoolWriter<T> writer_ = nullptr;
    PoolRowShape shape_{};
    Chunk chunks_[kMaxChunks];
    PoolBand bands_[kMaxBands];
    Sum list_of_sums_[kMaxSums];
    alignas(64) float sums_[(kSumRows + 1) * kMaxPitch];
    int64_t covered_ = 0;  // of a group's columns, by all windows
    int first_groups_[kSpread / kLine];
    alignas(64) typename Line<T>::Bits places_[kSpread] = {};
    alignas(64) Spread spreads_[kSpreads];
};

}  // namespace
}  // namespace ascend_grad
