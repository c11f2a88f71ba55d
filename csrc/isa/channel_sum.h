// The loops of a ChannelSumPlan, for an operator's element function (isa/channel_sum_rows.h).
#pragma once

#include "core/channel_sum.h"
#include "isa/along_channels.h"
#include "isa/channel_sum_rows.h"
#include "isa/stage.h"
#include "isa/transpose.h"

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
               float* partials, bool streaming)
        : plan_(plan),
          element_(element),
          memory_{plan, addresses},
          partials_(partials),
          streaming_(streaming),
          sink_(streaming && !plan.transposes, nullptr),
          along_channels_(memory_, element, streaming, result_) {}

    int64_t first_channel(int64_t task) const {
        return task % plan_.channel_tiles * plan_.channel_tile;
    }
    int channel_count(int64_t task) const {
        return static_cast<int>(least(plan_.channel_tile, plan_.channels - first_channel(task)));
    }

    // `parameters`: one for each channel of the task, in an array of LaneSums<1>::kMaxChannels;
    // what is behind them is overwritten.
    void run(int64_t task, float* parameters) {
        const int64_t outer = task / plan_.channel_tiles;
        channel_ = first_channel(task);
        channels_ = channel_count(task);
        parameters_ = parameters;
        for (int i = channels_; i < plan_.lanes_together * channels_; ++i)
            parameters[i] = parameters[i - channels_];
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

  private:
    char* address(int operand, int64_t channel, int64_t row) const {
        return memory_.address(operand, channel, row);
    }
    float* partial(int64_t block) const {
        return partials_ + block * kSums * plan_.channels + channel_;
    }

    // One block made of whole rows.
    void run_rows(int64_t begin, int64_t end, int64_t block) {
        if (plan_.traversal == Traversal::kAlongChannels) {
            along_channels_.clear(channel_, channels_, parameters_);
            for (int64_t row = begin; row < end; ++row)
                along_channels_.add(row, 0, plan_.row_length);
            along_channels_.finish(partial(block));
            return;
        }
        Lanes sums[kMaxTile][kSums];
        clear(sums, channels_);
        if (plan_.traversal == Traversal::kStaged) {
            for (int64_t row = begin; row < end; ++row) staged(row, 0, plan_.row_length, sums);
        } else {
            for (int64_t row = begin; row < end; ++row) {
                positions_of_channels(row, 0, static_cast<int>(plan_.row_length), sums);
            }
        }
        for (int c = 0; c < channels_; ++c) finish_channel(block, c, sums[c]);
    }

    // Several blocks, each a chunk of one row.
    void run_chunks(int64_t row, int64_t begin, int64_t end) {
        const int64_t first_block = row * plan_.chunks_per_row;
        const auto length = [&](int64_t chunk) {
            return least(plan_.chunk, plan_.row_length - chunk * plan_.chunk);
        };
        if (plan_.traversal == Traversal::kAlongPositions && !plan_.transposes) {
            for (int c = 0; c < channels_; ++c) chunks_of_channel(row, c, begin, end);
            return;
        }
        for (int64_t chunk = begin; chunk < end; ++chunk) {
            if (plan_.traversal == Traversal::kAlongChannels) {
                along_channels_.clear(channel_, channels_, parameters_);
                along_channels_.add(row, chunk * plan_.chunk, length(chunk));
                along_channels_.finish(partial(first_block + chunk));
            } else {
                Lanes sums[kMaxTile][kSums];
                clear(sums, channels_);
                if (plan_.traversal == Traversal::kStaged) {
                    staged(row, chunk * plan_.chunk, length(chunk), sums);
                } else {
                    positions_of_channels(row, chunk * plan_.chunk, static_cast<int>(length(chunk)),
                                          sums);
                }
                for (int c = 0; c < channels_; ++c) finish_channel(first_block + chunk, c, sums[c]);
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
        along_positions(row, c, begin * plan_.chunk, to_next, whole, static_cast<int>(plan_.chunk),
                        parameters, sums);
        if (whole < count) {
            along_positions(row, c, (end - 1) * plan_.chunk, to_next, 1, static_cast<int>(last),
                            parameters, sums + whole);
        }
        for (int i = 0; i < count; ++i) {
            finish_channel(row * plan_.chunks_per_row + begin + i, c, sums[i]);
        }
    }

    // The first `count`: all of them are more than a small call reads.
    static void clear(Lanes (*sums)[kSums], int count) {
        for (int i = 0; i < count; ++i)
            for (int k = 0; k < kSums; ++k) sums[i][k] = splat(0.0f);
    }
    void finish_channel(int64_t block, int c, const Lanes* sums) {
        for (int k = 0; k < kSums; ++k) partial(block)[k * plan_.channels + c] = tree_sum(sums[k]);
    }

    // n positions of each channel.
    void positions_of_channels(int64_t row, int64_t position, int n, Lanes (*sums)[kSums]) {
        if (!plan_.transposes) {
            along_positions(row, 0, position, plan_.channel_stride, channels_, n, parameters_,
                            sums);
            return;
        }
        if constexpr (Element::kWrites) {
            const int64_t stride = plan_.positions.stride[0][2];
            int64_t to_next[] = {plan_.channel_stride[0], plan_.channel_stride[1],
                                 kResultPitch * static_cast<int64_t>(sizeof(T))};
            for (int done = 0; done < n; done += kResultColumns) {
                const int m = n - done < kResultColumns ? n - done : kResultColumns;
                Rows rows = rows_at(row, 0, position + done, to_next);
                rows.at[2] = reinterpret_cast<char*>(result_);
                add_rows(rows, channels_, m, parameters_, sums);
                store_columns(address(2, channel_, row) + (position + done) * stride, stride,
                              result_, kResultPitch, channels_, m, streaming_);
            }
        }
    }

    // n positions of each of `count` channels or blocks; to_next is the distance between these.
    void along_positions(int64_t row, int c, int64_t position, const int64_t* to_next, int count,
                         int n, const float* parameters, Lanes (*sums)[kSums]) {
        const Rows rows = rows_at(row, c, position, to_next);
        if (Element::kWrites && streaming_) {
            stream_rows(rows, count, n, parameters, sums);
        } else {
            add_rows(rows, count, n, parameters, sums);
        }
    }
    Rows rows_at(int64_t row, int c, int64_t position, const int64_t* to_next) const {
        Rows rows;
        for (int k = 0; k < kOperands; ++k) {
            const int64_t elements = k < 2 ? position * plan_.position_step : position;
            rows.at[k] = address(k, channel_ + c, row) + elements * static_cast<int64_t>(sizeof(T));
            rows.step[k] = to_next[k];
        }
        return rows;
    }
    void add_rows(const Rows& rows, int count, int n, const float* parameters,
                  Lanes (*sums)[kSums]) {
        if (plan_.position_step == 1) {
            add_rows<1, false, T>(rows, count, n, parameters, sums);
        } else {
            add_rows<2, false, T>(rows, count, n, parameters, sums);
        }
    }
    template <int kStep, bool kStreams, class U>
    void add_rows(const Rows& rows, int count, int n, const float* parameters,
                  Lanes (*sums)[kSums]) {
        with_constant(plan_.asks, [&](auto asks) {
            ascend_grad::add_rows<kStep, kStreams, U>(element_, rows, count, n, parameters, asks,
                                                      sums);
        });
    }
    void stream_rows(Rows rows, int count, int n, const float* parameters, Lanes (*sums)[kSums]) {
        const int64_t bytes = n * static_cast<int64_t>(sizeof(T));
        if (plan_.position_step == 1 && is_whole_lines(rows.at[2], rows.step[2] | bytes)) {
            add_rows<1, true, T>(rows, count, n, parameters, sums);
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
                const int64_t at = i * plan_.position_step * static_cast<int64_t>(sizeof(T));
                T* const to = sink_.reserve(together * length);
                const Rows some = {
                    {rows.at[0] + r * rows.step[0] + at, rows.at[1] + r * rows.step[1] + at,
                     reinterpret_cast<char*>(to)},
                    {rows.step[0], rows.step[1], rows.step[2]}};
                add_rows(some, together, length, parameters + r, sums + r);
                sink_.commit(together * length);
            }
        }
    }

    // --- staged: tiles of 64 channels by 64 positions, or of one channel by 1024 where channels
    // are far apart in memory ---

    void staged(int64_t row, int64_t begin, int64_t length, Lanes (*sums)[kSums]) {
        alignas(64) float stage[kOperands][kStage];
        const int step = plan_.channel_tile == 1 ? 1024 : kStagePositions;
        const int pitch = step + kLanes;
        for (int64_t done = 0; done < length; done += step) {
            const int n = static_cast<int>(least(step, length - done));
            for (int k = 0; k < 2; ++k) {
                for_each_run(row, begin + done, n, k, [&](char* at, int column, const Tile& tile) {
                    load_tile<T>(stage[k] + column, pitch, at, tile);
                });
            }
            Rows rows;
            for (int k = 0; k < kOperands; ++k) {
                rows.at[k] = reinterpret_cast<char*>(stage[k]);
                rows.step[k] = pitch * static_cast<int64_t>(sizeof(float));
            }
            ascend_grad::add_rows<1, false, float>(element_, rows, channels_, n, parameters_,
                                                   std::false_type{}, sums);
            if (Element::kWrites) {
                for_each_run(row, begin + done, n, kOperands - 1,
                             [&](char* at, int column, const Tile& tile) {
                                 store_tile<T>(at, stage[kOperands - 1] + column, pitch, tile);
                             });
            }
        }
    }

    // Cuts n positions into runs that one stride walks.
    template <class Function>
    void for_each_run(int64_t row, int64_t begin, int n, int operand,
                      const Function& function) const {
        const int inner = plan_.positions.count - 1;
        const int64_t extent = inner >= 0 ? plan_.positions.extent[inner] : 1;
        const int64_t stride = inner >= 0 ? plan_.positions.stride[inner][operand] : 0;
        const int64_t next = inner > 0 ? plan_.positions.stride[inner - 1][operand] : 0;
        const int64_t bytes = channels_ * extent * static_cast<int64_t>(sizeof(T));
        const auto ahead =
            static_cast<uintptr_t>((static_cast<int64_t>(kAhead) / bytes + 1) * next);
        for (int column = 0; column < n;) {
            const int64_t position = begin + column;
            const int run = static_cast<int>(least(n - column, extent - position % extent));
            int64_t offset[Loops::kMaxOperands];
            memory_.position_offsets(position, offset);
            function(address(operand, channel_, row) + offset[operand], column,
                     Tile{plan_.channel_stride[operand], stride, channels_, run, ahead});
            column += run;
        }
    }

    static constexpr int kMaxTile = static_cast<int>(kRowChannels);
    static constexpr int kMaxChunks = static_cast<int>(kChunksPerTask);
    static constexpr int kResultColumns = static_cast<int>(kTransposed);
    static constexpr int kResultLines = AlongChannels<Element>::kResultLines;
    static constexpr int kResultPitch = AlongChannels<Element>::kResultPitch;
    static_assert(kFewChannels <= kResultLines);
    static constexpr int kStagePositions = 64;
    static constexpr int kStage = static_cast<int>(kFewChannels) * (kStagePositions + kLanes);

    const ChannelSumPlan& plan_;
    const Element& element_;
    const ChannelMemory memory_;
    float* partials_;
    const bool streaming_;
    Sink<T> sink_;
    int64_t channel_ = 0;
    int channels_ = 0;
    const float* parameters_ = nullptr;
    // Outputs of channels by positions, or of positions by channels, on their way to be transposed.
    alignas(64) T result_[Element::kWrites ? kResultLines * kResultPitch : 1];
    AlongChannels<Element> along_channels_;
};

// totals[c - begin] = sum over blocks of one of the sums, for channels [begin, end) of at most 64.
inline void add_blocks(const ChannelSumPlan& plan, const float* partials, int sum, int64_t begin,
                       int64_t end, float* totals) {
    double total[64] = {};
    const int n = static_cast<int>(end - begin);
    for (int64_t block = 0; block < plan.blocks; ++block) {
        const float* from = partials + (block * plan.sums + sum) * plan.channels + begin;
        for (int i = 0; i < n; ++i) total[i] += static_cast<double>(from[i]);
    }
    for (int i = 0; i < n; ++i) totals[i] = static_cast<float>(total[i]);
}

}  // namespace
}  // namespace ascend_grad
