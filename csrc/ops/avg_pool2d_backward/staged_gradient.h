#pragma once

#include "isa/transpose.h"
#include "ops/avg_pool2d_backward/tile.h"

namespace ascend_grad {
namespace {

// Planes of a grad_output whose channels are last, made dense.
template <class T>
class StagedGradient {
    using Op = AvgPool2dBackward;

  public:
    StagedGradient(const Op::Plan& plan, void* const* addresses)
        : plan_(plan), grad_(static_cast<const char*>(addresses[Op::kGradOutput])) {}

    // Copies the windows that reach the tile's rows, and has it read the copy.
    void stage(PoolTile& tile) {
        const int64_t first = covering(plan_.height, tile.first_row()).first;
        const int64_t rows = covering(plan_.height, tile.last_row() - 1).last + 1 - first;
        const int64_t channels = plan_.staged_channels;
        const int64_t plane_step = plan_.planes.stride[plan_.planes.count - 1][0];
        char* const to = reinterpret_cast<char*>(planes_);
        for (int64_t plane = tile.first_plane(); rows > 0 && plane < tile.last_plane();) {
            const int64_t channel = plane % channels;
            const int64_t count = least(channels - channel, tile.last_plane() - plane);
            copy(to + (plane - tile.first_plane()) * plane_step, plane_step,
                 grad_ + plane / channels * plan_.staged_item + first * plan_.staged_row, rows,
                 channel, static_cast<int>(count));
            plane += count;
        }
        // Where such a gradient would begin, which is outside the copy.
        const int64_t skipped = tile.first_plane() * plane_step + first * plan_.height_stride[0];
        tile.read_from(reinterpret_cast<const char*>(reinterpret_cast<uintptr_t>(to) -
                                                     static_cast<uintptr_t>(skipped)));
    }

  private:
    static constexpr auto kSize = static_cast<int64_t>(sizeof(T));

    // Rows of `count` channels from such a one on.
    void copy(char* to, int64_t plane_step, const char* from, int64_t rows, int64_t channel,
              int count) const {
        const int64_t windows = plan_.width.windows, pitch = plan_.staged_channels;
        const bool follow = plan_.staged_row == windows * pitch * kSize;
        const int64_t pixels = follow ? rows * windows : windows;
        // Vectors of a pixel's last channels reach into the pixels behind it, which the last ones
        // do not have.
        const int64_t beyond = channel + round_up(count, kLanes) - pitch;
        const int64_t whole = greatest(0, pixels - greatest(0, divide_up(beyond, pitch)));
        for (int64_t row = 0; row < rows; row += pixels / windows) {
            const T* const first =
                reinterpret_cast<const T*>(from + row * plan_.staged_row) + channel;
            char* const first_to = to + row * windows * kSize;
            store_columns(first_to, plane_step, first, pitch, static_cast<int>(whole), count,
                          false);
            for (int64_t i = whole; i < pixels; ++i) {
                for (int k = 0; k < count; ++k)
                    std::memcpy(first_to + k * plane_step + i * kSize, first + i * pitch + k,
                                kSize);
            }
        }
    }

    const Op::Plan& plan_;
    const char* const grad_;
    // Vectors of a plane's last elements reach beyond.
    alignas(64) T planes_[pool_scratch::kStaged / sizeof(T) + kPairLanes];
};

}  // namespace
}  // namespace ascend_grad
