// The loops of a ChannelSumPlan, for an operator's element function (isa/channel_sum_rows.h).
#pragma once

#include "core/channel_sum.h"
#include "isa/along_channels.h"
#include "isa/channel_sum_rows.h"
#include "isa/transpose.h"
#include "isa/tree_sums.h"

namespace ascend_grad {
namespace {

template <class Element>
class ChannelSum {
    using T = typename Element::T;
    static constexpr int kSums = Element::kSums;
    static constexpr int kOperands = Element::kWrites ? 3 : 2;

  public:
    // `addresses` of the operands.
    ChannelSum(const ChannelSumPlan& plan, const Element& element, char* const* addresses,
               bool streaming)
        : plan_(plan),
          element_(element),
          memory_{plan, addresses},
          streaming_(streaming),
          sink_(streaming, nullptr),
          stage_(memory_),
          along_channels_(memory_, stage_, element, streaming, result_) {}

    // Runs tasks. load(parameters, first, n) sets the parameters of n channels. `partials` get
    // every block's sums; where they are null, a channel has one block, and what a task has summed
    // goes to finish(partials, begin, end).
    template <class Load, class Finish>
    void run(int64_t begin, int64_t end, float* partials, const Load& load, const Finish& finish) {
        for (int64_t task = begin; task < end; ++task) {
            channel_ = task % plan_.channel_tiles * plan_.channel_tile;
            channels_ = static_cast<int>(least(plan_.channel_tile, plan_.channels - channel_));
            partials_ = partials == nullptr ? Partials{kept_, kChannelTile, channel_}
                                            : Partials{partials, plan_.call_channels, 0};
            load_parameters(load, task / plan_.channel_tiles);
            repeat_parameters(plan_.lanes_together * channels_);
            run(task);
            if (partials == nullptr) finish(partials_, channel_, channel_ + channels_);
        }
    }

  private:
    // Of all that is walked as channels, by a task with the number `outer`.
    template <class Load>
    void load_parameters(const Load& load, int64_t outer) {
        if (plan_.rows_as_channels == RowsAsChannels::kNot)
            return load(parameters_, plan_.first_channel + channel_, channels_);
        const bool are_alike = plan_.rows_as_channels == RowsAsChannels::kInner;
        const int64_t row = outer / plan_.chunks_per_row;
        for (int done = 0, n; done < channels_; done += n) {
            const int64_t left = plan_.inner - (channel_ + done) % plan_.inner;
            n = static_cast<int>(least(left, channels_ - done));
            const int64_t channel = plan_.walked(channel_ + done, row).channel;
            load(parameters_ + done, plan_.first_channel + channel, are_alike ? 1 : n);
            if (are_alike) std::fill_n(parameters_ + done, n, parameters_[done]);
        }
    }
    // Those of the channels again and again, `count` in all, for runs of several positions.
    void repeat_parameters(int count) {
        for (int n = channels_; n < count; n *= 2) {
            const int more = n < count - n ? n : count - n;
            std::memcpy(parameters_ + n, parameters_, sizeof(float) * static_cast<size_t>(more));
        }
    }
    void run(int64_t task) {
        const int64_t outer = task / plan_.channel_tiles;
        if (plan_.chunks_per_row == 1) {
            const int64_t row = outer * plan_.rows_per_block;
            run_rows(row, least(row + plan_.rows_per_block, plan_.rows), outer);
            return;
        }
        const int64_t tasks_per_row =
            (plan_.chunks_per_row + plan_.chunks_per_task - 1) / plan_.chunks_per_task;
        const int64_t row = outer / tasks_per_row;
        const int64_t chunk = outer % tasks_per_row * plan_.chunks_per_task;
        run_chunks(row, chunk, least(chunk + plan_.chunks_per_task, plan_.chunks_per_row));
    }

    char* address(int operand, int64_t channel, int64_t row) const {
        return memory_.address(operand, channel, row);
    }
    float* partial(int64_t block, int sum, int c) const {
        return partials_.of(plan_, block, sum, channel_ + c);
    }

    // One block made of whole rows.
    void run_rows(int64_t begin, int64_t end, int64_t block) {
        if (plan_.traversal == Traversal::kAlongChannels) {
            const int taken =
                along_channels_.sum_few(channel_, channels_, parameters_, partials_, block);
            if (taken == channels_) return;
            along_channels_.begin(channel_ + taken, channels_ - taken, parameters_ + taken);
            for (int64_t row = begin; row < end; ++row)
                along_channels_.add(row, 0, plan_.row_length);
            finish_along_channels(block, begin, taken);
            return;
        }
        Lanes sums[kMaxTile][kSums];
        clear(sums, channels_);
        const int n = static_cast<int>(plan_.row_length);
        if (channels_ == 1 && plan_.has_whole_rows()) {
            Rows rows = rows_at(begin, 0, 0, plan_.row_stride);
            rows.to_sums = 0;
            add(rows, static_cast<int>(end - begin), n, parameters_, sums);
        } else {
            for (int64_t row = begin; row < end; ++row) positions_of_channels(row, 0, n, sums);
        }
        finish_channels(block, sums);
    }

    // What the block's channels from the `first` one on have summed, of walked row `row`.
    void finish_along_channels(int64_t block, int64_t row, int first) {
        float* to[kSums];
        if (plan_.rows_as_channels == RowsAsChannels::kNot) {
            for (int k = 0; k < kSums; ++k) to[k] = partial(block, k, first);
            return along_channels_.finish(to);
        }
        float sums[kSums][kChannelTile];
        for (int k = 0; k < kSums; ++k) to[k] = sums[k];
        along_channels_.finish(to);
        const int64_t chunk = block % plan_.chunks_per_row;
        for (int c = 0; c < channels_; ++c) {
            const ChannelRow of = plan_.walked(channel_ + c, row);
            for (int k = 0; k < kSums; ++k) {
                *partials_.of(plan_, of.row * plan_.chunks_per_row + chunk, k, of.channel) =
                    sums[k][c];
            }
        }
    }

    // Several blocks, each a chunk of one row.
    void run_chunks(int64_t row, int64_t begin, int64_t end) {
        const int64_t first_block = row * plan_.chunks_per_row;
        const auto length = [&](int64_t chunk) {
            return least(plan_.chunk, plan_.row_length - chunk * plan_.chunk);
        };
        if (plan_.traversal == Traversal::kAlongPositions && plan_.has_whole_rows()) {
            if constexpr (Element::kWrites) {
                if (plan_.joins_rows && joined_chunks(row)) return;
            }
            for (int c = 0; c < channels_; ++c) chunks_of_channel(row, c, begin, end);
            return;
        }
        for (int64_t chunk = begin; chunk < end; ++chunk) {
            if (plan_.traversal == Traversal::kAlongChannels) {
                along_channels_.begin(channel_, channels_, parameters_);
                along_channels_.add(row, chunk * plan_.chunk, length(chunk));
                finish_along_channels(first_block + chunk, row, 0);
            } else {
                Lanes sums[kMaxTile][kSums];
                clear(sums, channels_);
                positions_of_channels(row, chunk * plan_.chunk, static_cast<int>(length(chunk)),
                                      sums);
                finish_channels(first_block + chunk, sums);
            }
        }
    }

    // Blocks that are chunks [begin, end) of one channel's row.
    void chunks_of_channel(int64_t row, int c, int64_t begin, int64_t end) {
        const int count = static_cast<int>(end - begin);
        Lanes sums[kMaxChunks][kSums];
        clear(sums, count);
        float parameters[kMaxChunks];
        int64_t to_next[kOperands];
        const int64_t bytes = plan_.chunk * static_cast<int64_t>(sizeof(T));
        for (int i = 0; i < count; ++i) parameters[i] = parameters_[c];
        for (int k = 0; k < kOperands; ++k)
            to_next[k] = k < 2 ? bytes * plan_.position_step : bytes;
        const int64_t last = least(plan_.chunk, plan_.row_length - (end - 1) * plan_.chunk);
        const int whole = last == plan_.chunk ? count : count - 1;
        add(rows_at(row, c, begin * plan_.chunk, to_next), whole, static_cast<int>(plan_.chunk),
            parameters, sums);
        if (whole < count) {
            add(rows_at(row, c, (end - 1) * plan_.chunk, to_next), 1, static_cast<int>(last),
                parameters, sums + whole);
        }
        for (int i = 0; i < count; ++i) {
            finish_channel(row * plan_.chunks_per_row + begin + i, c, sums[i]);
        }
    }

    // All chunks of all channels, as one run. False, with nothing done, where that does not pay.
    bool joined_chunks(int64_t row) {
        static_assert(kMaxChunks <= kMaxTile);
        const auto parts = static_cast<int>(plan_.chunks_per_row);
        Rows rows = rows_at(row, 0, 0, plan_.channel_stride);
        rows.parts = parts;
        rows.last_part = static_cast<int>(plan_.row_length - (parts - 1) * plan_.chunk);
        if (!joins(rows)) return false;
        Lanes sums[kMaxTile][kSums];
        const int most = kMaxTile / parts;
        for (int first = 0; first < channels_; first += most) {
            const int count = (channels_ - first < most ? channels_ - first : most) * parts;
            for (int k = 0; k < kOperands; ++k) rows.at[k] = address(k, channel_ + first, row);
            clear(sums, count);
            add(rows, count, static_cast<int>(plan_.chunk), parameters_ + first, sums);
            for (int i = 0; i < count; ++i)
                finish_channel(row * parts + i % parts, first + i / parts, sums[i]);
        }
        return true;
    }

    // The first `count`: all of them are more than a small call reads.
    static void clear(Lanes (*sums)[kSums], int count) {
        for (int i = 0; i < count; ++i)
            AG_EACH (k, kSums) sums[i][k] = splat(0.0f);
    }
    void finish_channel(int64_t block, int c, const Lanes* sums) {
        AG_EACH (k, kSums) *partial(block, k, c) = tree_sum(sums[k]);
    }
    // All of the task. A -0 becomes 0, which is what it is added to.
    void finish_channels(int64_t block, const Lanes (*sums)[kSums]) {
        int c = 0;
        for (; c + kFoldedRows <= channels_; c += kFoldedRows) {
            AG_EACH (k, kSums) {
                Folded folded[kFoldedRows];
                AG_EACH (i, kFoldedRows) folded[i] = fold(sums[c + i][k]);
                tree_sums(folded, partial(block, k, c));
            }
        }
        for (; c < channels_; ++c) finish_channel(block, c, sums[c]);
    }

    // n positions of each channel.
    void positions_of_channels(int64_t row, int64_t position, int n, Lanes (*sums)[kSums]) {
        if (plan_.stages) {
            staged(row, position, n, sums);
        } else if (plan_.transposes) {
            transposed(row, position, n, sums);
        } else if (plan_.piece > 0) {
            pieces(row, position, n, sums);
        } else {
            add(rows_at(row, 0, position, plan_.channel_stride), channels_, n, parameters_, sums);
        }
    }
    // Positions [begin, begin + length), run by run: first what is left of a piece.
    void pieces(int64_t row, int64_t begin, int length, Lanes (*sums)[kSums]) {
        const Loops& loops = plan_.positions;
        const int outer = loops.count - 2;
        int64_t index = begin / plan_.piece, first = begin % plan_.piece;
        for (int done = 0; done < length; first = 0) {
            // Those that are equally far apart.
            const int64_t left = loops.extent[outer] - index % loops.extent[outer];
            int64_t offset[Loops::kMaxOperands];
            loops.offsets(index * plan_.piece + first, offset);
            Rows rows = rows_at(row, 0, 0, plan_.channel_stride);
            for (int k = 0; k < kOperands; ++k) rows.at[k] += offset[k];
            const auto whole = static_cast<int>(least(left, (length - done) / plan_.piece));
            if (first > 0 || whole == 0 || !plan_.by_channel) {
                const int64_t last = first == 0 && whole > 0 ? index + whole : index + 1;
                for (; index < last; ++index) {
                    const auto n = static_cast<int>(least(plan_.piece - first, length - done));
                    rows.lane = done;
                    add(rows, channels_, n, parameters_, sums);
                    for (int k = 0; k < kOperands; ++k) rows.at[k] += loops.stride[outer][k];
                    done += n;
                }
                continue;
            }
            const auto n = static_cast<int>(plan_.piece);
            rows.lane = done;
            rows.lanes_to_next = n;
            rows.to_sums = 0;
            for (int k = 0; k < kOperands; ++k) rows.step[k] = loops.stride[outer][k];
            for (int c = 0; c < channels_; ++c) {
                add(rows, whole, n, parameters_ + c, sums + c);
                for (int k = 0; k < kOperands; ++k) rows.at[k] += plan_.channel_stride[k];
            }
            index += whole;
            done += n * whole;
        }
    }
    void staged(int64_t row, int64_t begin, int length, Lanes (*sums)[kSums]) {
        const auto most = static_cast<int>(least(kStagedElements / channels_, kLongestRun));
        const int step = most / kSumLanes * kSumLanes;
        for (int done = 0; done < length; done += step) {
            const int n = length - done < step ? length - done : step;
            stage_.load(channel_, channels_, row, begin + done, n);
            Rows rows = rows_at(row, 0, begin + done, plan_.channel_stride);
            rows.ahead = static_cast<uintptr_t>(step) * sizeof(T);  // as far as the next tile
            for (int k = 0; k < kOperands; ++k) {
                if (!plan_.staged[k]) continue;
                rows.at[k] = stage_.line(k, 0);
                rows.step[k] = stage_.pitch();
            }
            add(rows, channels_, n, parameters_, sums);
            stage_.store(channel_, channels_, row, begin + done, n);
        }
    }
    void transposed(int64_t row, int64_t position, int n, Lanes (*sums)[kSums]) {
        if constexpr (Element::kWrites) {
            const int64_t stride = plan_.positions.stride[0][2];
            int64_t to_next[] = {plan_.channel_stride[0], plan_.channel_stride[1],
                                 kResultPitch * static_cast<int64_t>(sizeof(T))};
            const auto to_next_columns =
                static_cast<uintptr_t>(plan_.position_step) * kResultColumns * sizeof(T);
            for (int done = 0; done < n; done += kResultColumns) {
                const int m = n - done < kResultColumns ? n - done : kResultColumns;
                Rows rows = rows_at(row, 0, position + done, to_next);
                rows.at[2] = reinterpret_cast<char*>(result_);
                rows.ahead = to_next_columns;
                add_rows(rows, channels_, m, parameters_, sums);
                store_columns(address(2, channel_, row) + (position + done) * stride, stride,
                              result_, kResultPitch, channels_, m, streaming_);
            }
        }
    }

    // From a position of a row of channel_ + c on; to_next is the distance between rows.
    Rows rows_at(int64_t row, int c, int64_t position, const int64_t* to_next) const {
        Rows rows;
        rows.aligned_bytes = plan_.aligned_bytes;
        for (int k = 0; k < kOperands; ++k) {
            const int64_t elements = k < 2 ? position * plan_.position_step : position;
            rows.at[k] = address(k, channel_ + c, row) + elements * static_cast<int64_t>(sizeof(T));
            rows.step[k] = to_next[k];
        }
        return rows;
    }
    // n positions of each of `count` channels, blocks or rows.
    void add(const Rows& rows, int count, int n, const float* parameters, Lanes (*sums)[kSums]) {
        if constexpr (Element::kWrites) {
            if (joins(rows)) {
                if constexpr (sizeof(T) == 4) {
                    if (!streaming_)
                        return add_joined_rows<false>(element_, rows, count, n, parameters,
                                                      plan_.asks, sums);
                }
                return add_joined_rows<true>(element_, rows, count, n, parameters, plan_.asks,
                                             sums);
            }
            if (streaming_) return stream_rows(rows, count, n, parameters, sums);
        }
        add_rows(rows, count, n, parameters, sums);
    }
    // Whether rows that lie one behind the other have parts or are no whole cache lines; but of 16
    // bit joining them gains nothing in a cache (measured).
    bool joins(const Rows& rows) const {
        constexpr int64_t kSize = sizeof(T);
        return !kIsCompact && plan_.joins_rows && rows.to_sums == 1 && (kSize == 4 || streaming_) &&
               bytes_to_line(rows.at[2]) % kSize == 0 &&
               (rows.parts > 1 || !is_whole_lines(rows.at[2], rows.step[2]));
    }
    void add_rows(const Rows& rows, int count, int n, const float* parameters,
                  Lanes (*sums)[kSums]) {
        if (plan_.position_step == 1) {
            add_rows<1, false>(rows, count, n, parameters, sums);
        } else {
            add_rows<2, false>(rows, count, n, parameters, sums);
        }
    }
    template <int kStep, bool kStreams>
    void add_rows(const Rows& rows, int count, int n, const float* parameters,
                  Lanes (*sums)[kSums]) {
        if constexpr (kStep == 1) {
            if (rows.turns() && n <= kLanes)
                return add_turned_rows(element_, rows, count, n, parameters, plan_.asks, sums);
            if (n <= kUnrolledRow && !rows.turns())
                return add_short_rows<kStreams>(element_, rows, count, n, parameters, plan_.asks,
                                                sums);
        }
        with_constant(plan_.asks, [&](auto asks) {
            ascend_grad::add_rows<kStep, kStreams>(element_, rows, count, n, parameters, asks,
                                                   sums);
        });
    }
    void stream_rows(Rows rows, int count, int n, const float* parameters, Lanes (*sums)[kSums]) {
        constexpr int64_t kSize = sizeof(T);
        const int64_t bytes = n * kSize;
        if (plan_.position_step == 1 &&
            streams_runs(reinterpret_cast<const T*>(rows.at[2]), bytes, rows.step[2])) {
            add_rows<1, true>(rows, count, n, parameters, sums);
            return;
        }
        // Rows whose outputs follow each other, several at a time, or a long one piece by piece.
        constexpr int kMost = Sink<T>::kReserve;
        static_assert(kMost % kSumLanes == 0);
        const int most = rows.step[2] == bytes && n < kMost ? kMost / n : 1;
        for (int r = 0; r < count; r += most) {
            const int together = static_cast<int>(least(most, count - r));
            sink_.move_to(rows.at[2] + r * rows.step[2]);
            for (int i = 0; i < n; i += kMost) {
                const int length = static_cast<int>(least(kMost, n - i));
                const int64_t at = i * plan_.position_step * kSize;
                T* const to = sink_.reserve(together * length);
                Rows some = rows;
                for (int k = 0; k < 2; ++k) some.at[k] += r * rows.step[k] + at;
                some.at[2] = reinterpret_cast<char*>(to);
                some.lane += r * rows.lanes_to_next;
                add_rows(some, together, length, parameters + r * rows.to_sums,
                         sums + r * rows.to_sums);
                sink_.commit(together * length);
            }
        }
    }

    static constexpr int kMaxTile = static_cast<int>(kRowChannels);
    static constexpr int kMaxChunks = static_cast<int>(kChunksPerTask);
    static constexpr int kResultColumns = static_cast<int>(kTransposed);
    static constexpr int kResultLines = AlongChannels<Element>::kResultLines;
    static constexpr int kResultPitch = AlongChannels<Element>::kResultPitch;
    static_assert(kFewChannels <= kResultLines);
    static constexpr int64_t kLongestRun = 1024;
    static_assert(kFewChannels <= kStagedLines);

    const ChannelSumPlan& plan_;
    const Element& element_;
    const ChannelMemory memory_;
    Partials partials_{};
    const bool streaming_;
    Sink<T> sink_;
    int64_t channel_ = 0;
    int channels_ = 0;
    alignas(64) float parameters_[kRunElements];
    float kept_[kSums * kChannelTile];  // sums of a task that finishes its channels
    // Outputs of channels by positions, or of positions by channels, on their way to be transposed.
    alignas(64) T result_[Element::kWrites ? kResultLines * kResultPitch : 1];
    ChannelStage<T, kOperands> stage_;
    AlongChannels<Element> along_channels_;
};

// totals[c - begin] = sum over blocks of one of the sums, for channels [begin, end), at most
// kFinishTile.
inline void add_blocks(const ChannelSumPlan& plan, const Partials& partials, int sum, int64_t begin,
                       int64_t end, float* totals) {
    const int n = static_cast<int>(end - begin);
    if (plan.blocks == 1) {
        const float* from = partials.of(plan, 0, sum, begin);
        for (int i = 0; i < n; ++i) totals[i] = from[i] + 0.0f;  // -0 becomes 0, as below
        return;
    }
    double total[kFinishTile] = {};
    for (int64_t block = 0; block < plan.blocks; ++block) {
        const float* from = partials.of(plan, block, sum, begin);
        for (int i = 0; i < n; ++i) total[i] += static_cast<double>(from[i]);
    }
    for (int i = 0; i < n; ++i) totals[i] = static_cast<float>(total[i]);
}

}  // namespace
}  // namespace ascend_grad
