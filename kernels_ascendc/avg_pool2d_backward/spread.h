// Planes of equal values, one after the other wherever they begin, from a block of each value. In
// words of 16 bits, which vector instructions may write any of.
#pragma once

#include "avg_pool2d_backward/place.h"

namespace kernels {

constexpr uint32_t kBlockWords = kBlockBytes / 2;
constexpr uint32_t kRepeatWords = kRepeatBlocks * kBlockWords;

// Blocks that are copied, bit by bit: where they come from and go to, and how many blocks further
// block by block and repeat by repeat.
struct BlockCopy {
    uint32_t to, to_step, to_repeat;
    uint32_t from, from_step, from_repeat;
    uint32_t repeats;
    uint64_t words[2];  // of a repeat that are copied

    __aicore__ inline void copy_words(uint32_t begin, uint32_t end) {
        words[0] = words[1] = 0;
        copy_more(begin, end);
    }
    __aicore__ inline void copy_more(uint32_t begin, uint32_t end) {
        for (uint32_t i = begin; i < end; ++i) words[i / 64] |= 1ull << (i % 64);
    }
    __aicore__ inline void run(const LocalTensor<uint16_t>& target,
                               const LocalTensor<uint16_t>& values) {
        const auto from_block = static_cast<uint8_t>(from_step);
        const auto from_rep = static_cast<uint8_t>(from_repeat);
        const BinaryRepeatParams params(static_cast<uint8_t>(to_step), from_block, from_block,
                                        static_cast<uint8_t>(to_repeat), from_rep, from_rep);
        for (uint32_t done = 0; done < repeats; done += kMaxRepeat) {
            const uint32_t left = repeats - done;
            const LocalTensor<uint16_t> source = values[(from + done * from_repeat) * kBlockWords];
            Or(target[(to + done * to_repeat) * kBlockWords], source, source, words,
               static_cast<uint8_t>(left < kMaxRepeat ? left : kMaxRepeat), params);
        }
    }
};

class Spread {
  public:
    // `values`: one every `pitch` blocks, the first of which it fills; `plane`: words.
    __aicore__ inline Spread(const LocalTensor<uint16_t>& values, uint32_t pitch, uint32_t plane)
        : values_(values), pitch_(pitch), plane_(plane) {}

    // `count` planes from that word of `to` on, of the values from block `from` on. Those that
    // begin in blocks alike are copied together, or else each by itself.
    __aicore__ inline void planes(const LocalTensor<uint16_t>& to, uint32_t begin, uint32_t from,
                                  uint32_t count) const {
        const uint32_t lowest = plane_ & (~plane_ + 1);
        const uint32_t alike = lowest < kBlockWords ? kBlockWords / lowest : 1;
        const uint32_t blocks = alike * plane_ / kBlockWords;
        const bool together = blocks <= kMaxRepeat && count / alike >= plane_ / kRepeatWords;
        const uint32_t copies = together && count > alike ? alike : count;
        for (uint32_t i = 0; i < copies; ++i) {
            const uint32_t repeats = together ? (count - 1 - i) / alike + 1 : 1;
            const uint32_t end = begin + (i + 1) * plane_;
            for (uint32_t at = begin + i * plane_; at < end;) {
                const uint32_t block = at / kBlockWords, skipped = at % kBlockWords;
                const uint32_t left = end - block * kBlockWords;
                BlockCopy copy{block, 1, blocks, from + i * pitch_, 0, alike * pitch_, repeats, {}};
                copy.copy_words(skipped, left < kRepeatWords ? left : kRepeatWords);
                if (!together) {
                    copy.to_repeat = kRepeatBlocks;
                    copy.from_repeat = 0;
                    if (skipped == 0 && left > kRepeatWords) copy.repeats = left / kRepeatWords;
                }
                copy.run(to, values_);
                at = (block + (together ? 1 : copy.repeats) * kRepeatBlocks) * kBlockWords;
            }
        }
    }

    // `count` units of so many planes from the begin of `to` on. Of a unit's planes, up to eight
    // that are `step` apart and begin as many blocks apart are copied together, a block of each at
    // a time.
    __aicore__ inline void units(const LocalTensor<uint16_t>& to, uint32_t from,
                                 uint32_t unit_planes, uint32_t step, uint32_t count) const {
        const auto block_of = [&](uint32_t i) { return i * plane_ / kBlockWords; };
        BlockCopy copy{
            0,     0, unit_planes * plane_ / kBlockWords, 0, step * pitch_, unit_planes * pitch_,
            count, {}};
        for (uint32_t first = 0; first < step; ++first) {
            for (uint32_t i = first, planes; i < unit_planes; i += planes * step) {
                const uint32_t begin = block_of(i);
                copy.from = from + i * pitch_;
                copy.to_step = block_of(i + step) - begin;
                for (planes = 1; planes < kRepeatBlocks && i + planes * step < unit_planes;
                     ++planes) {
                    if (block_of(i + planes * step) != begin + planes * copy.to_step) break;
                }
                for (uint32_t block = 0; set_block(copy, i, step, planes, block); ++block) {
                    copy.to = begin + block;
                    copy.run(to, values_);
                }
            }
        }
    }

  private:
    // The words of that block of each plane, from the one that it begins in; false without any.
    __aicore__ inline bool set_block(BlockCopy& copy, uint32_t first, uint32_t step,
                                     uint32_t planes, uint32_t block) const {
        copy.copy_words(0, 0);
        const uint32_t begin = block * kBlockWords, end = begin + kBlockWords;
        for (uint32_t k = 0; k < planes; ++k) {
            const uint32_t at = (first + k * step) * plane_ % kBlockWords, behind = at + plane_;
            const uint32_t from = at > begin ? at - begin : 0;
            const uint32_t to = behind < end ? behind : end;
            if (to > begin) copy.copy_more(k * kBlockWords + from, k * kBlockWords + to - begin);
        }
        return (copy.words[0] | copy.words[1]) != 0;
    }

    const LocalTensor<uint16_t> values_;
    const uint32_t pitch_, plane_;
};

}  // namespace kernels
