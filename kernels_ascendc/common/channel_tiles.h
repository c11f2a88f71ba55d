// Between vectors with a value per channel and tiles of lanes (device/channel_sum.h).
#pragma once

#include "common/channel_walk.h"
#include "common/joined_rows.h"
#include "device/channel_sum.h"

namespace kernels {

// data[0..width) = the sums of data[k], k = i modulo width; the rest is overwritten. `width` is a
// multiple of 8, count at least `width`.
__aicore__ inline void fold(const LocalTensor<float>& data, uint32_t count, uint32_t width) {
    while (count > width) {
        const uint32_t half = round_up((count + 1) / 2, width);
        Add(data, data, data[half], static_cast<int32_t>(count - half));
        count = half;
    }
}

// to[0..width) = the same; overwrites the data.
__aicore__ inline void fold_to(const LocalTensor<float>& to, const LocalTensor<float>& data,
                               uint32_t count, uint32_t width) {
    if (count <= width) {
        copy_floats(to, data, width);
        return;
    }
    if (count > 2 * width) fold(data, count, 2 * width);
    Add(to, data, data[width], static_cast<int32_t>(width));
}

// tile[0..count) = the first block of `from`, over and over; may write up to 63 more.
__aicore__ inline void fill(const LocalTensor<float>& tile, const LocalTensor<float>& from,
                            uint32_t count) {
    const uint32_t repeats = (count + kFloatsPerRepeat - 1) / kFloatsPerRepeat;
    for (uint32_t done = 0; done < repeats; done += kMaxRepeat) {
        const uint32_t left = repeats - done;
        Muls(tile[done * kFloatsPerRepeat], from, 1.0f, kFloatsPerRepeat,
             static_cast<uint8_t>(left < kMaxRepeat ? left : kMaxRepeat),
             UnaryRepeatParams(1, 0, 8, 0));
    }
}

// to[c * 16 ... + 16) = values[c], c < 16: sixteen equal rows, turned. `rows` and `scratch` have
// 256 floats.
__aicore__ inline void repeat_sixteen(const LocalTensor<float>& to,
                                      const LocalTensor<float>& values,
                                      const LocalTensor<float>& rows,
                                      const LocalTensor<float>& scratch) {
    Muls(rows, values, 1.0f, kLanes, kLanes, UnaryRepeatParams(1, 1, 2, 0));
    deinterleave(to, rows, kLanes, kLanes, scratch);
}

// Rows of sixteen lanes, [groups][spatial]: row (g, i) of `to` = row g of `from`.
__aicore__ inline void repeat_lane_rows(const LocalTensor<float>& to,
                                        const LocalTensor<float>& from, uint32_t groups,
                                        uint32_t spatial) {
    const uint32_t pitch = spatial * kLanes;
    const uint32_t step = pitch / kFloatsPerBlock;
    if (step > kMaxRepeat) {
        for (uint32_t g = 0; g < groups; ++g) {
            const LocalTensor<float> target = to[g * pitch];
            copy_floats(target, from[g * kLanes], kLanes);
            repeat_floats(target, kLanes, pitch);
        }
        return;
    }
    const auto stride = static_cast<uint8_t>(step);
    const auto repeats = static_cast<uint8_t>(groups);
    Muls(to, from, 1.0f, kLanes, repeats,
         UnaryRepeatParams(1, 1, stride, kLanes / kFloatsPerBlock));
    const UnaryRepeatParams params(1, 1, stride, stride);
    for (uint32_t done = kLanes; done < pitch;) {
        uint32_t count = done < kFloatsPerRepeat ? done : kFloatsPerRepeat;
        if (count > pitch - done) count = pitch - done;
        Muls(to[done], to, 1.0f, count, repeats, params);
        done += count;
    }
}

// Repeats that take as long as the start of an instruction.
constexpr uint32_t kStartRepeats = 14;

// The reverse: row (g, 0) = the sum of rows (g, i) of `data`, the others are overwritten.
__aicore__ inline void sum_lane_rows(const LocalTensor<float>& data, uint32_t groups,
                                     uint32_t spatial) {
    const uint32_t pitch = spatial * kLanes;
    const uint32_t step = pitch / kFloatsPerBlock;
    if (step > kMaxRepeat) {
        for (uint32_t g = 0; g < groups; ++g) fold(data[g * pitch], pitch, kLanes);
        return;
    }
    const auto stride = static_cast<uint8_t>(step);
    const auto repeats = static_cast<uint8_t>(groups);
    const BinaryRepeatParams params(1, 1, 1, stride, stride, stride);
    for (uint32_t left = spatial; left > 1;) {
        const uint32_t half = (left + 1) / 2;
        const uint32_t rows = left - half, count = rows * kLanes;
        // Repeats run over groups or, where that is less work, over rows.
        const uint32_t down_cost = (groups + 7) / 8 * (kStartRepeats + 2 * rows);
        const uint32_t across = (count + kFloatsPerRepeat - 1) / kFloatsPerRepeat;
        if (down_cost < across * (kStartRepeats + groups)) {
            const BinaryRepeatParams down(stride, stride, stride, 1, 1, 1);
            for (uint32_t g = 0; g < groups; g += 8) {
                const LocalTensor<float> sums = data[g * pitch];
                const uint64_t mask = (groups - g < 8 ? groups - g : 8) * kFloatsPerBlock;
                Add(sums, sums, sums[half * kLanes], mask, static_cast<uint8_t>(2 * rows), down);
            }
        } else {
            for (uint32_t i = 0; i < count; i += kFloatsPerRepeat) {
                const uint64_t mask = count - i < kFloatsPerRepeat ? count - i : kFloatsPerRepeat;
                Add(data[i], data[i], data[half * kLanes + i], mask, repeats, params);
            }
        }
        left = half;
    }
}

// The same for lanes side * 8 to side * 8 + 7 alone; at most eight groups and 127 rows of each.
__aicore__ inline void sum_side_rows(const LocalTensor<float>& data, uint32_t groups,
                                     uint32_t spatial, uint32_t side) {
    const auto stride = static_cast<uint8_t>(spatial * kLanes / kFloatsPerBlock);
    const BinaryRepeatParams down(stride, stride, stride, 2, 2, 2);
    const LocalTensor<float> sums = data[side * kFloatsPerBlock];
    for (uint32_t left = spatial; left > 1;) {
        const uint32_t half = (left + 1) / 2;
        Add(sums, sums, sums[half * kLanes], groups * kFloatsPerBlock,
            static_cast<uint8_t>(left - half), down);
        left = half;
    }
}

class ChannelTiles {
    static constexpr uint32_t kLengthStep = 8;  // of interleave()

  public:
    // With CHANNEL_SUM_SPREAD lanes of a vector of sums are multiples of that apart, and those of a
    // vector of channels' values.
    static constexpr uint32_t kSumStep = kLengthStep;
    template <typename Vector>
    static constexpr uint32_t kVectorStep =
        kLengthStep > kBlock<Vector> ? kLengthStep : kBlock<Vector>;

    __aicore__ inline explicit ChannelTiles(const ChannelSumTiling& tiling)
        : tiling_(tiling),
          lane_floats_(tiling.rows * tiling.group * tiling.spatial),
          row_(tiling.layout == CHANNEL_SUM_EVEN_ROWS ? lane_floats_ : tiling.pitch),
          channel_(tiling.layout == CHANNEL_SUM_EVEN_ROWS ? tiling.spatial : tiling.pitch),
          group_pitch_(round_up(tiling.group, kSumStep)) {}

    // whole[margin + k] = the value of element k's channel, for a block's channels, which with
    // CHANNEL_SUM_SPREAD are `vector_pitch` from lane to lane. The contents of the tiles `free` and
    // `scratch` are lost.
    __aicore__ inline void expand(const LocalTensor<float>& whole, const LocalTensor<float>& vector,
                                  uint32_t vector_pitch, uint32_t lanes,
                                  const LocalTensor<float>& free,
                                  const LocalTensor<float>& scratch) const {
        const LocalTensor<float> tile = whole[tiling_.margin];
        switch (tiling_.layout) {
            case CHANNEL_SUM_ROWS:
            case CHANNEL_SUM_EVEN_ROWS:
                expand_row(tile, vector, free, scratch);
                repeat_floats(tile, row_, tiling_.period);
                if (tiling_.margin > 0) copy_floats(whole, whole[tiling_.period], tiling_.margin);
                break;
            case CHANNEL_SUM_CHANNELS:
                expand_channels(tile, vector, lanes, free, scratch);
                break;
            case CHANNEL_SUM_PIECES:
                // Lanes of the row are the first channel of each source.
                interleave(scratch, vector, kLanes, 0, free);
                fill(tile, scratch, tiling_.period);
                break;
            default:
                expand_lanes(tile, vector, vector_pitch, free, scratch);
        }
    }

    // sums[i][...] = the sums of each channel over tiles[i], i < count, which are overwritten:
    // [channel][tiling.width], with CHANNEL_SUM_SPREAD [lane][round_up(group, kSumStep)]. The
    // contents of `scratch` are lost, and of `transposing` on Ascend 910.
    __aicore__ inline void reduce(const LocalTensor<float>* sums, const LocalTensor<float>* tiles,
                                  uint32_t count, uint32_t lanes, const LocalTensor<float>& scratch,
                                  const LocalTensor<float>& transposing) const {
        if (tiling_.layout == CHANNEL_SUM_CHANNELS) {
            for (uint32_t i = 0; tiling_.turns && i < count; ++i)
                turn_channels(sums[i], tiles[i], lanes, scratch, transposing);
            // As many at a time as an instruction can take.
            const uint32_t together = count * lanes > CHANNEL_SUM_MAX_CHANNELS ? 1 : count;
            for (uint32_t i = 0; !tiling_.turns && i < count; i += together)
                reduce_channels(sums + i, tiles + i, together, lanes, scratch, transposing);
            return;
        }
        for (uint32_t i = 0; i < count; ++i) {
            const LocalTensor<float> tile = tiles[i][tiling_.margin];
            if (tiling_.margin > 0) {
                const LocalTensor<float> last = tiles[i][tiling_.period];
                Add(last, last, tiles[i], static_cast<int32_t>(tiling_.margin));
            }
            switch (tiling_.layout) {
                case CHANNEL_SUM_ROWS:
                case CHANNEL_SUM_EVEN_ROWS:
                    reduce_rows(sums[i], tile, scratch, transposing);
                    break;
                case CHANNEL_SUM_PIECES:
                    fold(tile, tiling_.period, kFloatsPerBlock);
                    keep_eights(sums[i], tile, 1, scratch, transposing);
                    break;
                default:
                    reduce_lanes(sums[i], tile, scratch, transposing);
            }
        }
    }

    // Whether a tile that has this run alone may be reduced by eight lanes, and that pays.
    __aicore__ inline bool has_sides(const LaneRun& run) const {
        return tiling_.layout == CHANNEL_SUM_SPREAD && run.count == kLanes * tiling_.length &&
               tiling_.length >= kLeastSide && tiling_.group <= kFloatsPerBlock &&
               tiling_.spatial < kMaxRepeat / 2;
    }
#if __CCE_AICORE__ != 100
    // Of both sides in turn, then join_sides(): the same as reduce() of one tile.
    __aicore__ inline void reduce_side(const LocalTensor<float>& rows,
                                       const LocalTensor<float>& tile, uint32_t side) const {
        interleave_side(rows, tile, lane_floats_, tiling_.pitch, side);
        sum_side_rows(rows, tiling_.group, tiling_.spatial, side);
    }
    __aicore__ inline void join_sides(const LocalTensor<float>& sums,
                                      const LocalTensor<float>& rows) const {
        deinterleave(sums, rows, tiling_.group, group_pitch_, rows, tiling_.spatial);
    }
#endif

    // sums[c] = the sum of the eight floats values[c * 8 ...], c < count. Writes whole groups of
    // sixteen channels; `sums` may be `values`.
    __aicore__ inline void sum_eights(const LocalTensor<float>& sums,
                                      const LocalTensor<float>& values, uint32_t count,
                                      const LocalTensor<float>& scratch,
                                      const LocalTensor<float>& transposing) const {
        for (uint32_t c = 0; c < count; c += kLanes) {
            interleave(scratch, values[c * kFloatsPerBlock], kEights, kFloatsPerBlock, transposing,
                       count - c);
            fold(scratch, kFloatsPerBlock * kLanes, 2 * kLanes);
            Add(sums[c], scratch, scratch[kLanes], static_cast<int32_t>(kLanes));
        }
    }

  private:
    static constexpr uint32_t kEights = kLengthStep;
    static constexpr uint32_t kLeastSide = 192;  // elements of a lane; of fewer instructions start

    __aicore__ inline void reduce_channels(const LocalTensor<float>* sums,
                                           const LocalTensor<float>* tiles, uint32_t count,
                                           uint32_t lanes, const LocalTensor<float>& scratch,
                                           const LocalTensor<float>& transposing) const {
        const uint32_t step = tiling_.pitch / kFloatsPerBlock, even = halved_floats();
        const bool at_once = tiling_.pitch % kFloatsPerBlock == 0 && step <= kMaxRepeat;
        // What halves leave over, of all lanes.
        const uint32_t rest = at_once ? tiling_.length - even : 0;
        for (uint32_t i = 0; rest > 0 && i < count; ++i) {
            const auto stride = static_cast<uint8_t>(step);
            Add(tiles[i], tiles[i], tiles[i][even], static_cast<uint64_t>(rest),
                static_cast<uint8_t>(lanes), BinaryRepeatParams(1, 1, 1, stride, stride, stride));
        }
        // Blocks of the halves of all lanes of all sums, side by side.
        const uint32_t rows = count * lanes;
        for (uint32_t row = 0; row < rows; ++row)
            halve(scratch[row * kFloatsPerBlock], tiles[row / lanes], row % lanes * tiling_.pitch,
                  rows, !at_once);
        fold(scratch, halved_floats() / 2 * rows, kFloatsPerBlock * rows);
        for (uint32_t i = 0; i < count; ++i)
            keep_eights(sums[i], scratch[i * lanes * kFloatsPerBlock], lanes, tiles[i],
                        transposing);
    }

    // Whether whole rows have channels of several elements.
    __aicore__ inline bool has_positions() const {
        return tiling_.layout == CHANNEL_SUM_EVEN_ROWS && tiling_.spatial > 1;
    }
    // Elements of a channel of those, or of lanes of one.
    __aicore__ inline uint32_t channel_length() const {
        return has_positions() ? tiling_.spatial : tiling_.length;
    }
    __aicore__ inline JoinedRows joined_rows() const {
        return JoinedRows(lane_floats_ / tiling_.rows, tiling_.rows);
    }
    __aicore__ inline void expand_row(const LocalTensor<float>& row,
                                      const LocalTensor<float>& vector,
                                      const LocalTensor<float>& free,
                                      const LocalTensor<float>& scratch) const {
        const bool joins = tiling_.rows > 1;
        if (has_positions()) {
            expand_channels(joins ? scratch : row, vector, tiling_.group, free,
                            joins ? row : scratch);
        } else if (!joins) {
            copy_floats(row, vector, row_);
        }
        if (joins) joined_rows().repeat(row, has_positions() ? scratch : vector, free, scratch);
    }
    __aicore__ inline void reduce_rows(const LocalTensor<float>& sums,
                                       const LocalTensor<float>& tile,
                                       const LocalTensor<float>& scratch,
                                       const LocalTensor<float>& transposing) const {
        const bool joins = tiling_.rows > 1;
        if (joins || has_positions()) {
            fold(tile, tiling_.period, row_);
        } else {
            fold_to(sums, tile, tiling_.period, row_);
        }
        if (joins) joined_rows().sum(has_positions() ? tile : sums, tile, scratch);
        if (has_positions()) turn_channels(sums, tile, tiling_.group, scratch, transposing);
    }

    // Sums of channels without gaps between them, sixteen at a time as columns of `rows`.
    __aicore__ inline void turn_channels(const LocalTensor<float>& sums,
                                         const LocalTensor<float>& tile, uint32_t lanes,
                                         const LocalTensor<float>& rows,
                                         const LocalTensor<float>& transposing) const {
        const bool odd = channel_ % kFloatsPerBlock > 0;
        const uint32_t length = channel_length();
        const uint32_t count = length + (odd ? kFloatsPerBlock - 1 : 0);
        for (uint32_t first = 0; first < lanes; first += kLanes) {
            interleave(rows, tile[first * channel_], round_up(count, kLengthStep), channel_,
                       transposing, lanes - first);
            for (uint32_t i = 0; odd && i < 2; ++i) {
                const uint32_t at = i * kFloatsPerRepeat;
                clear(rows[at], tiling_.before[i]);
                clear(rows[length * kLanes + at], ~tiling_.before[i]);
            }
            fold_to(sums[first], rows, count * kLanes, kLanes);
        }
    }
    __aicore__ inline void clear(const LocalTensor<float>& floats, uint64_t bits) const {
        uint64_t mask[2] = {bits, 0};
        if (bits != 0) Duplicate(floats, 0.0f, mask, 1, 1, 8);
    }

    // sums[...] = the sums of `count` channels as eights of floats, as tiling.width has them.
    __aicore__ inline void keep_eights(const LocalTensor<float>& sums,
                                       const LocalTensor<float>& values, uint32_t count,
                                       const LocalTensor<float>& scratch,
                                       const LocalTensor<float>& transposing) const {
        if (tiling_.width == 1) {
            sum_eights(sums, values, count, scratch, transposing);
        } else {
            copy_floats(sums, values, kFloatsPerBlock * count);
        }
    }

    // Of a lane, from its first whole block on: whole repeats if one more takes the rest.
    __aicore__ inline uint32_t halved_floats() const {
        const uint32_t before = tiling_.pitch % kFloatsPerBlock > 0 ? kFloatsPerBlock - 1 : 0;
        const uint32_t length = tiling_.length, most = (length - before) / kLanes * kLanes;
        const uint32_t whole = most / (2 * kFloatsPerRepeat) * 2 * kFloatsPerRepeat;
        return whole > 0 && length - whole <= kFloatsPerRepeat ? whole : most;
    }

    // The halves of the lane from tile[at] on, which is overwritten, added; blocks of the result
    // are `step` apart, at most CHANNEL_SUM_MAX_CHANNELS. Without `has_rest` what they leave over
    // has been added.
    __aicore__ inline void halve(const LocalTensor<float>& to, const LocalTensor<float>& tile,
                                 uint32_t at, uint32_t step, bool has_rest) const {
        const uint32_t odd = at % kFloatsPerBlock, even = halved_floats();
        const uint32_t begin = round_up(at, kFloatsPerBlock);
        const LocalTensor<float> lane = tile[begin];
        if (odd > 0) {  // what shares a block with the lane before
            uint64_t mask[2] = {0xffu & ~((1ull << odd) - 1), 0};
            Add(lane, lane, tile[begin - kFloatsPerBlock], mask, 1, BinaryRepeatParams());
        }
        const uint32_t rest = at + tiling_.length - begin - even;
        if (has_rest && rest > 0) Add(lane, lane, lane[even], static_cast<int32_t>(rest));
        const BinaryRepeatParams params(static_cast<uint8_t>(step), 1, 1,
                                        static_cast<uint8_t>(8 * step), 8, 8);
        const uint32_t half = even / 2, whole = half / kFloatsPerRepeat * kFloatsPerRepeat;
        Add(to, lane, lane[half], kFloatsPerRepeat, static_cast<uint8_t>(whole / kFloatsPerRepeat),
            params);
        if (whole < half)
            Add(to[whole * step], lane[whole], lane[half + whole], half - whole, 1, params);
    }

    __aicore__ inline void expand_channels(const LocalTensor<float>& tile,
                                           const LocalTensor<float>& vector, uint32_t lanes,
                                           const LocalTensor<float>& free,
                                           const LocalTensor<float>& scratch) const {
        for (uint32_t first = 0; first < lanes; first += kLanes) {
            repeat_sixteen(scratch[first * kLanes], vector[first], free, tile);
        }
        const uint32_t length = channel_length();
        for (uint32_t lane = 0; lane < lanes; ++lane) {
            const uint32_t odd = lane * channel_ % kFloatsPerBlock;
            const LocalTensor<float> to = tile[lane * channel_ - odd];
            fill(to, scratch[lane * kLanes], odd + length);
            // The end of the lane before is in the same block.
            if (odd > 0) copy_floats(to, scratch[(lane - 1) * kLanes], odd);
        }
    }

    __aicore__ inline void expand_lanes(const LocalTensor<float>& tile,
                                        const LocalTensor<float>& vector, uint32_t vector_pitch,
                                        const LocalTensor<float>& free,
                                        const LocalTensor<float>& scratch) const {
        const bool spread = tiling_.layout == CHANNEL_SUM_SPREAD;
        interleave(scratch, vector, group_pitch_, spread ? vector_pitch : 0, free);
        repeat_lane_rows(free, scratch, tiling_.group, tiling_.spatial);
        const uint32_t row = tiling_.group * tiling_.spatial * kLanes;
        repeat_floats(free, row, tiling_.rows * row);
        deinterleave(tile, free, lane_floats_, tiling_.pitch, scratch);
    }

    __aicore__ inline void reduce_lanes(const LocalTensor<float>& sums,
                                        const LocalTensor<float>& tile,
                                        const LocalTensor<float>& scratch,
                                        const LocalTensor<float>& transposing) const {
        interleave(scratch, tile, round_up(lane_floats_, kLengthStep), tiling_.pitch, transposing);
        const uint32_t row = tiling_.group * tiling_.spatial * kLanes;
        fold(scratch, tiling_.rows * row, row);
        sum_lane_rows(scratch, tiling_.group, tiling_.spatial);
#if __CCE_AICORE__ != 100
        const LocalTensor<float> rest = tile[kLanes * group_pitch_];
#else
        const LocalTensor<float>& rest = transposing;
#endif
        if (tiling_.layout == CHANNEL_SUM_SPREAD) {
            deinterleave(sums, scratch, tiling_.group, group_pitch_, rest, tiling_.spatial);
            return;
        }
        // Here all lanes have the same channels.
        deinterleave(tile, scratch, tiling_.group, group_pitch_, rest, tiling_.spatial);
        fold(tile, kLanes * group_pitch_, group_pitch_);
        copy_floats(sums, tile, group_pitch_);
    }

    const ChannelSumTiling& tiling_;
    uint32_t lane_floats_;
    uint32_t row_;          // floats of the tile's rows, where it has whole ones
    uint32_t channel_;      // floats from channel to channel, of lanes of one or of rows
    uint32_t group_pitch_;  // floats from lane to lane of a vector of channels
};

}  // namespace kernels
