// Channels in a stretch of memory that begins and ends anywhere in them (CHANNEL_SUM_FLAT).
// Instructions begin at blocks: what shares one with the channel before is masked. Where planes
// (S elements of a channel) are short, repeats run over those eight apart, which begin at the same
// place in a block; else within a plane. Few channels count as more: those of several rows.
#pragma once

#include "common/channel_tiles.h"

namespace kernels {

class ChannelFlat {
  public:
    __aicore__ inline explicit ChannelFlat(const ChannelSumTiling& tiling)
        : group_(tiling.group),
          channels_(tiling.rows * tiling.group),
          spatial_(tiling.spatial),
          is_short_(tiling.spatial <= kMaxRepeat),
          row_(kFloatsPerRepeat) {
        while (row_ > kFloatsPerBlock && row_ > spatial_) row_ /= 2;
    }

    // eights[c * 8 ... + 8) = vector[c]; writes whole groups of sixteen channels. `rows`, `turned`
    // and `scratch` have 256 floats.
    __aicore__ inline void repeat(const LocalTensor<float>& eights,
                                  const LocalTensor<float>& vector, const LocalTensor<float>& rows,
                                  const LocalTensor<float>& turned,
                                  const LocalTensor<float>& scratch) const {
        for (uint32_t first = 0; first < group_; first += kLanes) {
            repeat_sixteen(turned, vector[first], rows, scratch);
            Muls(eights[first * kFloatsPerBlock], turned, 1.0f, kFloatsPerBlock, kLanes,
                 UnaryRepeatParams(1, 1, 1, kLanes / kFloatsPerBlock));
        }
        repeat_floats(eights, group_ * kFloatsPerBlock, channels_ * kFloatsPerBlock);
    }

    // tile[0..count) = the values of the channels of elements from `offset` on; writes up to 63
    // more.
    __aicore__ inline void expand(const LocalTensor<float>& tile, const LocalTensor<float>& eights,
                                  uint64_t offset, uint32_t count) const {
        for (Span span = first_span(offset, count); span.begin < count; next(span, count)) {
            for (uint32_t i = 0; i < parts_of(span); ++i)
                expand_part(tile, eights[(span.channel + i) * kFloatsPerBlock], part_of(span, i));
        }
    }

    // Floats that add() needs of scratch.
    __aicore__ inline uint32_t scratch_floats(uint32_t count) const {
        return (count / spatial_ + 2) * row_;
    }

    // sums[c * 8 ... + 8) += sums of elements of channel c, which are tile[0..count).
    __aicore__ inline void add(const LocalTensor<float>& sums, const LocalTensor<float>& tile,
                               const LocalTensor<float>& scratch, uint64_t offset,
                               uint32_t count) const {
        const auto head = static_cast<uint32_t>(offset % spatial_);
        const uint32_t planes = (head + count + spatial_ - 1) / spatial_;
        Duplicate(scratch, 0.0f, static_cast<int32_t>(planes * row_));
        LocalTensor<float> rows = scratch;
        for (Span span = first_span(offset, count); span.begin < count; next(span, count)) {
            for (uint32_t i = 0; i < parts_of(span); ++i)
                add_part(rows[i * row_], tile, part_of(span, i));
            rows = rows[span.planes * row_];
        }
        uint32_t channel = first_span(offset, count).channel;
        for (uint32_t done = 0, taken; done < planes; done += taken) {
            taken =
                static_cast<uint32_t>(least(least(planes - done, channels_ - channel), kMaxRepeat));
            add_rows(sums[channel * kFloatsPerBlock], scratch[done * row_], taken);
            channel = channel + taken < channels_ ? channel + taken : 0;
        }
    }

    // What add() summed up, added up over rows; overwrites those of others than the first.
    __aicore__ inline void join_rows(const LocalTensor<float>& sums) const {
        fold(sums, channels_ * kFloatsPerBlock, group_ * kFloatsPerBlock);
    }

  private:
    // Neighbouring planes of equally many elements of the tile: whole ones of ascending channels,
    // or a part of one.
    struct Span {
        uint32_t begin, length, planes, channel;
    };
    // Elements of a plane, and of those eight apart from it: `repeats` planes.
    struct Part {
        uint32_t begin, end, repeats;

        __aicore__ inline uint32_t block() const {
            return begin / kFloatsPerBlock * kFloatsPerBlock;
        }
        __aicore__ inline uint32_t even() const { return round_up(begin, kFloatsPerBlock); }
        __aicore__ inline uint32_t rest() const { return end > even() ? end - even() : 0; }
        // Those before even(), of their block.
        __aicore__ inline uint64_t shared_lanes() const {
            const uint32_t last = end < even() ? end - block() : kFloatsPerBlock;
            return begin == even() ? 0 : (1ull << last) - (1ull << (begin - block()));
        }
    };

    __aicore__ inline Span first_span(uint64_t offset, uint32_t count) const {
        const uint64_t plane = offset / spatial_;
        const auto head = static_cast<uint32_t>(offset - plane * spatial_);
        const auto channel = static_cast<uint32_t>(plane % channels_);
        if (head == 0) return span_at(0, channel, count);
        const uint32_t left = spatial_ - head;
        return {0, left < count ? left : count, 1, channel};
    }
    __aicore__ inline void next(Span& span, uint32_t count) const {
        const uint32_t channel = span.channel + span.planes;
        span = span_at(span.begin + span.length * span.planes, channel < channels_ ? channel : 0,
                       count);
    }
    __aicore__ inline Span span_at(uint32_t begin, uint32_t channel, uint32_t count) const {
        const uint32_t whole = (count - begin) / spatial_, left = channels_ - channel;
        if (whole == 0) return {begin, count - begin, 1, channel};
        return {begin, spatial_, whole < left ? whole : left, channel};
    }

    __aicore__ inline uint32_t parts_of(const Span& span) const {
        return is_short_ && span.planes > kFloatsPerBlock ? kFloatsPerBlock : span.planes;
    }
    __aicore__ inline Part part_of(const Span& span, uint32_t i) const {
        const uint32_t begin = span.begin + i * span.length;
        const uint32_t left = span.planes - i + kFloatsPerBlock - 1;
        return {begin, begin + span.length, is_short_ ? left / kFloatsPerBlock : 1};
    }

    __aicore__ inline void expand_part(const LocalTensor<float>& tile,
                                       const LocalTensor<float>& value, const Part& part) const {
        const auto repeats = static_cast<uint8_t>(part.repeats);
        const UnaryRepeatParams params(1, 0, static_cast<uint8_t>(is_short_ ? spatial_ : 0),
                                       kFloatsPerBlock);
        uint64_t mask[2] = {part.shared_lanes(), 0};
        if (mask[0] != 0) Muls(tile[part.block()], value, 1.0f, mask, repeats, params);
        const LocalTensor<float> to = tile[part.even()];
        if (!is_short_) {
            fill(to, value, part.rest());
            return;
        }
        for (uint32_t done = 0; done < part.rest(); done += kFloatsPerRepeat) {
            const auto lanes = static_cast<uint64_t>(least(part.rest() - done, kFloatsPerRepeat));
            Muls(to[done], value, 1.0f, lanes, repeats, params);
        }
    }

    // row[0..row_) += sums of the part's elements; rows of planes eight apart are as many apart.
    __aicore__ inline void add_part(const LocalTensor<float>& row, const LocalTensor<float>& tile,
                                    const Part& part) const {
        const auto repeats = static_cast<uint8_t>(part.repeats);
        const auto step = static_cast<uint8_t>(row_);
        const BinaryRepeatParams params(1, 1, 1, step,
                                        static_cast<uint8_t>(is_short_ ? spatial_ : 0), step);
        uint64_t mask[2] = {part.shared_lanes(), 0};
        if (mask[0] != 0) Add(row, tile[part.block()], row, mask, repeats, params);
        const LocalTensor<float> from = tile[part.even()];
        uint32_t done = 0;
        if (!is_short_) {
            while (part.rest() - done >= kFloatsPerRepeat) {
                const uint32_t whole = (part.rest() - done) / kFloatsPerRepeat;
                const uint32_t taken = whole < kMaxRepeat ? whole : kMaxRepeat;
                Add(row, from[done], row, kFloatsPerRepeat, static_cast<uint8_t>(taken),
                    BinaryRepeatParams(1, 1, 1, 0, 8, 0));
                done += taken * kFloatsPerRepeat;
            }
        }
        for (; done < part.rest(); done += row_) {
            const auto lanes = static_cast<uint64_t>(least(part.rest() - done, row_));
            Add(row, from[done], row, lanes, repeats, params);
        }
    }

    // sums[i * 8 ... + 8) += rows[i * row_ ... + row_), whose eights are added up.
    __aicore__ inline void add_rows(const LocalTensor<float>& sums, const LocalTensor<float>& rows,
                                    uint32_t count) const {
        const auto repeats = static_cast<uint8_t>(count);
        const auto step = static_cast<uint8_t>(row_ / kFloatsPerBlock);
        for (uint32_t half = row_ / 2; half >= kFloatsPerBlock; half /= 2)
            Add(rows, rows, rows[half], half, repeats,
                BinaryRepeatParams(1, 1, 1, step, step, step));
        Add(sums, sums, rows, kFloatsPerBlock, repeats, BinaryRepeatParams(1, 1, 1, 1, 1, step));
    }

    uint32_t group_, channels_, spatial_;
    bool is_short_;
    uint32_t row_;  // floats of a plane's sums, before they are added up to eight
};

}  // namespace kernels
