// Where the operands of a ChannelSumPlan are, and dense tiles of those that kernels cannot walk.
#pragma once

#include "core/channel_sum.h"
#include "isa/copy_block.h"

namespace ascend_grad {
namespace {

// Where the elements of a plan's operands are.
struct ChannelMemory {
    const ChannelSumPlan& plan;
    char* const* addresses;

    char* address(int operand, int64_t channel, int64_t row) const {
        return addresses[operand] + channel * plan.channel_stride[operand] +
               row * plan.row_stride[operand];
    }
};

// Tiles of the operands that a plan stages, of T as in memory, but with neighbours that are
// channels or positions, as the plan's traversal has it.
template <class T, int kOperands>
class ChannelStage {
  public:
    explicit ChannelStage(const ChannelMemory& memory) : memory_(memory), plan_(memory.plan) {}

    // Positions [begin, begin + n) of `channels` channels from `channel` on: at most
    // kStagedElements in kStagedLines lines. A line is a channel or, along channels, a position.
    void load(int64_t channel, int channels, int64_t row, int64_t begin, int n) {
        pitch_ = pitch_of(plan_.traversal == Traversal::kAlongChannels ? channels : n);
        for (int k = 0; k < 2; ++k)
            if (plan_.staged[k]) copy(k, channel, channels, row, begin, n, false);
    }
    // The output, of the positions and channels that load() was given.
    void store(int64_t channel, int channels, int64_t row, int64_t begin, int n) {
        if (kOperands > 2 && plan_.staged[kOperands - 1])
            copy(kOperands - 1, channel, channels, row, begin, n, true);
    }
    char* line(int operand, int64_t number) {
        return reinterpret_cast<char*>(tiles_[operand]) + number * pitch();
    }
    int64_t pitch() const { return pitch_ * kSize; }

  private:
    static constexpr int64_t kSize = sizeof(T);
    static constexpr int64_t pitch_of(int64_t run) {
        return (run + kPairLanes - 1) / kPairLanes * kPairLanes + kPairLanes;
    }

    void copy(int operand, int64_t channel, int channels, int64_t row, int64_t begin, int n,
              bool stores) {
        const bool along_channels = plan_.traversal == Traversal::kAlongChannels;
        const int64_t to_channel = along_channels ? kSize : pitch();
        const int64_t to_position = along_channels ? pitch() : kSize;
        const Loops& loops = plan_.positions;
        const int inner = loops.count - 1;
        const int64_t extent = inner >= 0 ? loops.extent[inner] : 1;
        const int64_t stride = inner >= 0 ? loops.stride[inner][operand] : 0;
        const int64_t items = inner > 0 ? loops.extent[inner - 1] : 1;
        const int64_t item_stride = inner > 0 ? loops.stride[inner - 1][operand] : 0;
        char* const memory = memory_.address(operand, channel, row);
        char* const tile = line(operand, 0);
        // Parts of an item, or as many whole ones as follow each other.
        for (int64_t done = 0; done < n;) {
            const int64_t position = begin + done, first = position % extent;
            const bool is_whole = first == 0 && n - done >= extent;
            const int64_t count =
                is_whole ? least((n - done) / extent, items - position / extent % items) : 1;
            const int64_t length = is_whole ? extent : least(extent - first, n - done);
            int64_t offset[Loops::kMaxOperands];
            plan_.positions.offsets(position, offset);
            CopyAxis axes[] = {{channels, plan_.channel_stride[operand], to_channel},
                               {count, item_stride, extent * to_position},
                               {length, stride, to_position}};
            char* from = memory + offset[operand];
            char* to = tile + done * to_position;
            if (!stores && plan_.asks_for_tiles) ask_for_next(from, axes[0], axes[1]);
            if (stores) {
                std::swap(from, to);
                for (CopyAxis& axis : axes) std::swap(axis.from, axis.to);
            }
            copy_block<T>(to, from, axes, spare_);
            done += count * length;
        }
    }

    // The same positions of the next channels, unless they are far apart: hardware finds the few
    // lines of an item too late (measured on Zen 4: up to 1.5 times the time).
    static void ask_for_next(const char* from, CopyAxis channels, CopyAxis items) {
        constexpr int64_t kFar = 8192;
        const int64_t bytes = channels.count * channels.from;
        if (bytes <= 0 || bytes > kFar) return;
        for (int64_t i = 0; i < items.count; ++i) {
            prefetch<Cache::kSecond>(from + i * items.from, static_cast<uintptr_t>(bytes),
                                     static_cast<int>(bytes));
        }
    }

    static constexpr int64_t kElements = kStagedElements + kStagedLines * 2 * kPairLanes;

    const ChannelMemory& memory_;
    const ChannelSumPlan& plan_;
    int64_t pitch_ = 0;  // elements
    alignas(64) T tiles_[kOperands][kElements];
    alignas(64) char spare_[kStagedElements * kSize];
};

}  // namespace
}  // namespace ascend_grad
