// The loops of a ChannelSumPlan, for an operator's element function.
//
// `Element` has: types T (of all tensors); constants kSums (sums per channel), kWrites (the last
// operand is an output) and kZeroPads (whether lanes padded with zeros contribute 0 to every sum);
//   Lanes operator()(Lanes a, Lanes b, Lanes parameter, Lanes* terms) const
// which returns the output of 16 elements and their terms of the sums; `parameter` is that of their
// channels.
#pragma once

#include "core/channel_sum.h"
#include "isa/lane_sums.h"
#include "isa/stage.h"
#include "isa/stream.h"

namespace ascend_grad {
namespace {

template <class Element>
class ChannelSum {
    using T = typename Element::T;
    static constexpr int kSums = Element::kSums;
    static constexpr int kOperands = Element::kWrites ? 3 : 2;

  public:
    // `addresses` of the operands; `parameters` one per channel of the tile that starts at the
    // task's first channel.
    ChannelSum(const ChannelSumPlan& plan, const Element& element, char* const* addresses,
               float* partials, bool streaming)
        : plan_(plan),
          element_(element),
          addresses_(addresses),
          partials_(partials),
          streaming_(streaming) {}

    int64_t first_channel(int64_t task) const {
        return task % plan_.channel_tiles * plan_.channel_tile;
    }
    int channel_count(int64_t task) const {
        return static_cast<int>(least(plan_.channel_tile, plan_.channels - first_channel(task)));
    }

    void run(int64_t task, const float* parameters) {
        const int64_t outer = task / plan_.channel_tiles;
        channel_ = first_channel(task);
        channels_ = channel_count(task);
        parameters_ = parameters;
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
        return addresses_[operand] + channel * plan_.channel_stride[operand] +
               row * plan_.row_stride[operand];
    }
    float* partial(int64_t block) const {
        return partials_ + block * kSums * plan_.channels + channel_;
    }

    // One block made of whole rows.
    void run_rows(int64_t begin, int64_t end, int64_t block) {
        if (plan_.traversal == Traversal::kAlongChannels) {
            clear_lanes();
            for (int64_t row = begin; row < end; ++row) along_channels(row, 0, plan_.row_length);
            finish_lanes(block);
            return;
        }
        Lanes sums[kMaxTile][kSums] = {};
        if (plan_.traversal == Traversal::kStaged) {
            for (int64_t row = begin; row < end; ++row) staged(row, 0, plan_.row_length, sums);
        } else {
            Sink<T> sink(streaming_ && Element::kWrites, output(channel_, begin, 0));
            for (int64_t row = begin; row < end; ++row) {
                for (int c = 0; c < channels_; ++c)
                    along_positions(row, c, 0, plan_.row_length, sums[c], sink);
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
        if (plan_.traversal == Traversal::kAlongPositions) {
            Sink<T> sink(streaming_ && Element::kWrites,
                         output(channel_, row, begin * plan_.chunk));
            for (int c = 0; c < channels_; ++c) {
                for (int64_t chunk = begin; chunk < end; ++chunk) {
                    Lanes sums[kSums] = {};
                    along_positions(row, c, chunk * plan_.chunk, length(chunk), sums, sink);
                    finish_channel(first_block + chunk, c, sums);
                }
            }
            return;
        }
        for (int64_t chunk = begin; chunk < end; ++chunk) {
            if (plan_.traversal == Traversal::kAlongChannels) {
                clear_lanes();
                along_channels(row, chunk * plan_.chunk, length(chunk));
                finish_lanes(first_block + chunk);
            } else {
                Lanes sums[kMaxTile][kSums] = {};
                staged(row, chunk * plan_.chunk, length(chunk), sums);
                for (int c = 0; c < channels_; ++c) finish_channel(first_block + chunk, c, sums[c]);
            }
        }
    }

    char* output(int64_t channel, int64_t row, int64_t position) const {
        if (!Element::kWrites) return nullptr;
        return address(kOperands - 1, channel, row) + position * static_cast<int64_t>(sizeof(T));
    }

    void finish_channel(int64_t block, int c, const Lanes* sums) {
        for (int k = 0; k < kSums; ++k) partial(block)[k * plan_.channels + c] = tree_sum(sums[k]);
    }

    // n contiguous elements of a and b, n <= Sink::kReserve.
    template <class U>
    AG_INLINE void contiguous(const U* a, const U* b, U* out, int n, float parameter,
                              Lanes* sums) const {
        const Lanes p = splat(parameter);
        Lanes terms[kSums];
        Lanes s[kSums];
        for (int k = 0; k < kSums; ++k) s[k] = sums[k];
        int i = 0;
        for (; i + kLanes <= n; i += kLanes) {
            const Lanes value = element_(load(a + i), load(b + i), p, terms);
            if (Element::kWrites) store(out + i, value);
            for (int k = 0; k < kSums; ++k) s[k] = s[k] + terms[k];
        }
        if (i < n) {
            const Lanes value =
                element_(load_first(a + i, n - i), load_first(b + i, n - i), p, terms);
            if (Element::kWrites) store_first(out + i, value, n - i);
            for (int k = 0; k < kSums; ++k) {
                s[k] = s[k] + (Element::kZeroPads ? terms[k] : keep_first(terms[k], n - i));
            }
        }
        for (int k = 0; k < kSums; ++k) sums[k] = s[k];
    }

    void along_positions(int64_t row, int c, int64_t position, int64_t length, Lanes* sums,
                         Sink<T>& sink) {
        const T* a = reinterpret_cast<const T*>(address(0, channel_ + c, row)) + position;
        const T* b = reinterpret_cast<const T*>(address(1, channel_ + c, row)) + position;
        if (Element::kWrites) sink.move_to(output(channel_ + c, row, position));
        const int n = static_cast<int>(length);  // at most kSumBlock
        T* out = Element::kWrites ? sink.reserve(n) : nullptr;
        contiguous(a, b, out, n, parameters_[c], sums);
        if (Element::kWrites) sink.commit(n);
    }

    // --- channels contiguous ---

    void clear_lanes() { lanes_.clear(channels_, plan_.row_length); }

    void finish_lanes(int64_t block) {
        lanes_.add_lanes();
        for (int k = 0; k < kSums; ++k) {
            std::memcpy(partial(block) + k * plan_.channels, lanes_.at(k, 0, 0),
                        sizeof(float) * static_cast<size_t>(channels_));
        }
    }

    // Positions [begin, begin + length) of a row; begin is a multiple of 16. Groups of 64
    // positions, so that a lane's sum is loaded and stored once for four of them.
    void along_channels(int64_t row, int64_t begin, int64_t length) {
        int64_t offset[kGroup][Loops::kMaxOperands];
        for (int64_t done = 0; done < length; done += kGroup) {
            const int n = static_cast<int>(least(kGroup, length - done));
            position_offsets(begin + done, n, offset);
            for (int lane = 0; lane < kSumLanes && lane < n; ++lane) {
                const char* a[kGroup / kLanes];
                const char* b[kGroup / kLanes];
                char* out[kGroup / kLanes] = {};
                int m = 0;
                for (int p = lane; p < n; p += kSumLanes, ++m) {
                    a[m] = address(0, channel_, row) + offset[p][0];
                    b[m] = address(1, channel_, row) + offset[p][1];
                    if (Element::kWrites)
                        out[m] = address(kOperands - 1, channel_, row) + offset[p][kOperands - 1];
                }
                if (m == kGroup / kLanes) {
                    add_positions<kGroup / kLanes>(a, b, out, lane, kGroup / kLanes);
                } else {
                    add_positions<0>(a, b, out, lane, m);
                }
            }
        }
    }

    // Adds `count` positions (kCount of them, where that is not 0) to one lane of every channel.
    template <int kCount>
    AG_INLINE void add_positions(const char* const* a, const char* const* b, char* const* out,
                                 int lane, int count) {
        int c = 0;
        for (; c + kLanes <= channels_; c += kLanes)
            add_to_lane<kCount, true>(a, b, out, lane, count, c);
        if (c < channels_) add_to_lane<kCount, false>(a, b, out, lane, count, c);
    }
    template <int kCount, bool kWhole>
    AG_INLINE void add_to_lane(const char* const* a, const char* const* b, char* const* out,
                               int lane, int count, int c) {
        const int m = kCount > 0 ? kCount : count;
        const int n = channels_ - c;
        const Lanes p = kWhole ? load(parameters_ + c) : load_first(parameters_ + c, n);
        Lanes terms[kSums];
        Lanes s[kSums];
        for (int k = 0; k < kSums; ++k) s[k] = load(lanes_.at(k, lane, c));
        for (int i = 0; i < m; ++i) {
            const T* pa = reinterpret_cast<const T*>(a[i]) + c;
            const T* pb = reinterpret_cast<const T*>(b[i]) + c;
            prefetch(pa, plan_.prefetch[0]);
            prefetch(pb, plan_.prefetch[1]);
            const Lanes value = element_(kWhole ? load(pa) : load_first(pa, n),
                                         kWhole ? load(pb) : load_first(pb, n), p, terms);
            if (Element::kWrites) {
                T* po = reinterpret_cast<T*>(out[i]) + c;
                if (!kWhole) {
                    store_first(po, value, n);
                } else if (streaming_) {
                    stream_store(po, value);
                } else {
                    store(po, value);
                }
            }
            for (int k = 0; k < kSums; ++k) s[k] = s[k] + terms[k];
        }
        for (int k = 0; k < kSums; ++k) store_raw(lanes_.at(k, lane, c), s[k]);
    }
    // The same element of the next group of positions; an address that does not exist does no harm.
    static AG_INLINE void prefetch(const void* p, int64_t distance) {
        __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<intptr_t>(p) + distance));
    }

    void position_offsets(int64_t position, int n, int64_t (*offset)[Loops::kMaxOperands]) const {
        if (plan_.positions.count <= 1) {
            for (int p = 0; p < n; ++p) {
                for (int k = 0; k < kOperands; ++k)
                    offset[p][k] = (position + p) * plan_.positions.stride[0][k];
            }
            return;
        }
        for (int p = 0; p < n; ++p) loop_offsets(position + p, offset[p]);
    }
    void loop_offsets(int64_t position, int64_t* offset) const {
        for (int k = 0; k < kOperands; ++k) offset[k] = 0;
        for (int d = plan_.positions.count - 1; d >= 0; --d) {
            const int64_t index = position % plan_.positions.extent[d];
            position /= plan_.positions.extent[d];
            for (int k = 0; k < kOperands; ++k) offset[k] += index * plan_.positions.stride[d][k];
        }
    }

    // --- staged: tiles of 16 channels by 128 positions, or of one channel by 1024 where channels
    // are not neighbours in memory ---

    void staged(int64_t row, int64_t begin, int64_t length, Lanes (*sums)[kSums]) {
        alignas(64) float stage[kOperands][kStage];
        const int step = plan_.channel_tile == 1 ? kStage / 2 : kStage / kStageChannels;
        for (int64_t done = 0; done < length; done += step) {
            const int n = static_cast<int>(least(step, length - done));
            for (int k = 0; k < 2; ++k) {
                for_each_run(row, begin + done, n, k, [&](char* at, int column, const Tile& tile) {
                    load_tile<T>(stage[k] + column, step, at, tile);
                });
            }
            for (int c = 0; c < channels_; ++c) {
                float* out = Element::kWrites ? stage[kOperands - 1] + c * step : nullptr;
                contiguous(stage[0] + c * step, stage[1] + c * step, out, n, parameters_[c],
                           sums[c]);
            }
            if (Element::kWrites) {
                for_each_run(row, begin + done, n, kOperands - 1,
                             [&](char* at, int column, const Tile& tile) {
                                 store_tile<T>(at, stage[kOperands - 1] + column, step, tile);
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
        for (int column = 0; column < n;) {
            const int64_t position = begin + column;
            const int run = static_cast<int>(least(n - column, extent - position % extent));
            int64_t offset[Loops::kMaxOperands];
            loop_offsets(position, offset);
            function(address(operand, channel_, row) + offset[operand], column,
                     Tile{plan_.channel_stride[operand], stride, channels_, run});
            column += run;
        }
    }

    static constexpr int kMaxTile = 64;
    static constexpr int kGroup = kPositionGroup;
    static constexpr int kStage = 2048;
    static constexpr int kStageChannels = 16;

    const ChannelSumPlan& plan_;
    const Element& element_;
    char* const* addresses_;
    float* partials_;
    const bool streaming_;
    int64_t channel_ = 0;
    int channels_ = 0;
    const float* parameters_ = nullptr;
    LaneSums<kSums> lanes_;
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
