// Lane tiles: sixteen arrays of equal length, interleaved, so that elements of one index lie in one
// row of sixteen lanes. Neighbouring elements of an array are then whole blocks apart, and an
// instruction can combine them, which no instruction can inside a block.
#pragma once

#include "common/copy.h"

namespace kernels {

constexpr uint32_t kLanes = 16;
constexpr uint32_t kMaxRepeat = 255;

// Loads end with a block: zeros behind the data, where its last block has nothing of use, so that
// it does not reach instructions that transpose.
template <typename T>
__aicore__ inline void clear_rest(const LocalTensor<T>& data, uint32_t count) {
    const uint32_t rest = count % kBlock<T>;
    if (rest == 0) return;
    uint64_t mask[2] = {((1ull << kBlock<T>)-1) & ~((1ull << rest) - 1), 0};
    if constexpr (sizeof(T) == sizeof(half)) {
        Duplicate(data[count - rest].template ReinterpretCast<half>(), static_cast<half>(0.0f),
                  mask, 1, 1, 8);
    } else {
        Duplicate(data[count - rest], 0.0f, mask, 1, 1, 8);
    }
}

// Sixteen rows of one block each become rows of sixteen lanes; `repeats` times, with the steps
// given in blocks.
template <typename T>
__aicore__ inline void transpose_blocks(LocalTensor<T> (&to)[16], LocalTensor<T> (&from)[16],
                                        uint32_t repeats, uint32_t to_step, uint32_t from_step) {
    const bool once = repeats == 1;
    TransDataTo5HDParams params(false, false, static_cast<uint8_t>(repeats),
                                static_cast<uint16_t>(once ? 0 : to_step),
                                static_cast<uint16_t>(once ? 0 : from_step));
    TransDataTo5HD<T>(to, from, params);
}

// 16-bit elements: to[i * 16 + lane] = from[lane * pitch + i], i < length, a multiple of 16. With
// fewer than 16 lanes the others repeat lane 0.
__aicore__ inline void interleave_16bit(const LocalTensor<half>& to, const LocalTensor<half>& from,
                                        uint32_t length, uint32_t pitch, uint32_t lanes = kLanes) {
    for (uint32_t done = 0; done < length; done += kMaxRepeat * kLanes) {
        const uint32_t left = length - done;
        const uint32_t repeats = (left < kMaxRepeat * kLanes ? left : kMaxRepeat * kLanes) / kLanes;
        LocalTensor<half> target[16], source[16];
        for (uint32_t k = 0; k < 16; ++k) {
            source[k] = from[(k < lanes ? k : 0) * pitch + done];
            target[k] = to[(done + k) * kLanes];
        }
        transpose_blocks(target, source, repeats, kLanes, 1);
    }
}

// The reverse: to[lane * pitch + i] = from[i * 16 + lane].
__aicore__ inline void deinterleave_16bit(const LocalTensor<half>& to,
                                          const LocalTensor<half>& from, uint32_t length,
                                          uint32_t pitch) {
    for (uint32_t done = 0; done < length; done += kMaxRepeat * kLanes) {
        const uint32_t left = length - done;
        const uint32_t repeats = (left < kMaxRepeat * kLanes ? left : kMaxRepeat * kLanes) / kLanes;
        LocalTensor<half> target[16], source[16];
        for (uint32_t k = 0; k < 16; ++k) {
            source[k] = from[(done + k) * kLanes];
            target[k] = to[k * pitch + done];
        }
        transpose_blocks(target, source, repeats, 1, kLanes);
    }
}

// Of so many rows, by sixteens, those that one instruction takes; the last ones may be fewer.
__aicore__ inline uint32_t repeats_of_rows(uint32_t rows) {
    const uint32_t whole = rows / kLanes;
    return whole == 0 ? 1 : whole < kMaxRepeat ? whole : kMaxRepeat;
}

#if __CCE_AICORE__ != 100

// float: to[i * 16 + lane] = from[lane * pitch + i], i < length, a multiple of 8; a lane that
// begins inside a block is taken from that block's begin on. With fewer than 16 lanes the others
// repeat lane 0. `scratch` is not used.
__aicore__ inline void interleave(const LocalTensor<float>& to, const LocalTensor<float>& from,
                                  uint32_t length, uint32_t pitch, const LocalTensor<float>&,
                                  uint32_t lanes = kLanes) {
    constexpr uint32_t kStep = 8;
    for (uint32_t done = 0; done < length; done += kMaxRepeat * kStep) {
        const uint32_t left = length - done;
        const uint32_t repeats = (left < kMaxRepeat * kStep ? left : kMaxRepeat * kStep) / kStep;
        LocalTensor<float> target[16], source[16];
        for (uint32_t k = 0; k < 16; ++k) {
            source[k] = from[(k < lanes ? k : 0) * pitch / kStep * kStep + done];
            target[k] = to[done * kLanes + k * kStep];
        }
        transpose_blocks(target, source, repeats, kLanes, 1);
    }
}

// The same for lanes side * 8 to side * 8 + 7 alone, both halves of each at once; length is 16 to
// 4080.
__aicore__ inline void interleave_side(const LocalTensor<float>& to, const LocalTensor<float>& from,
                                       uint32_t length, uint32_t pitch, uint32_t side) {
    constexpr uint32_t kStep = 8;
    const uint32_t repeats = (length / kStep + 1) / 2, second = length - repeats * kStep;
    LocalTensor<float> target[16], source[16];
    for (uint32_t k = 0; k < 16; ++k) {
        source[k] = from[(side * kStep + k % kStep) * pitch + k / kStep * second];
        target[k] = to[(k / 2 + k % 2 * second) * kLanes + side * kStep];
    }
    transpose_blocks(target, source, repeats, kLanes, 1);
}

// The reverse: to[lane * pitch + i] = from[(i * step) * 16 + lane], i < length; up to a multiple of
// 8 the last element repeats. `scratch` is not used.
__aicore__ inline void deinterleave(const LocalTensor<float>& to, const LocalTensor<float>& from,
                                    uint32_t length, uint32_t pitch, const LocalTensor<float>&,
                                    uint32_t step = 1) {
    constexpr uint32_t kHalf = 8;
    LocalTensor<float> target[16], source[16];
    for (uint32_t done = 0, repeats; done < length; done += repeats * kLanes) {
        const uint32_t left = length - done;
        repeats = repeats_of_rows(left);
        for (uint32_t side = 0; left > kHalf && side < 2; ++side) {  // lanes 0 to 7, then 8 to 15
            for (uint32_t k = 0; k < 16; ++k) {
                const uint32_t row = done + (k < left ? k : left - 1);
                source[k] = from[row * step * kLanes + side * kHalf];
                target[k] = to[(side * kHalf + k / 2) * pitch + done + k % 2 * kHalf];
            }
            transpose_blocks(target, source, repeats, 2, 2 * kLanes * step);
        }
        if (left > kHalf) continue;
        for (uint32_t k = 0; k < 16; ++k) {  // all lanes at once
            const uint32_t row = done + (k % kHalf < left ? k % kHalf : left - 1);
            source[k] = from[row * step * kLanes + k / kHalf * kHalf];
            target[k] = to[(k % 2 * kHalf + k / 2) * pitch + done];
        }
        transpose_blocks(target, source, 1, 0, 0);
    }
}

#else

// This product transposes 16-bit elements only: floats go through their halves. A row of `scratch`
// (16 * length floats) holds the sixteen lanes' low or high halves of one element; from there two
// more transpositions bring halves together again.

// All of `to` up to a multiple of 16 elements must have been written before.
__aicore__ inline void interleave(const LocalTensor<float>& to, const LocalTensor<float>& from,
                                  uint32_t length, uint32_t pitch,
                                  const LocalTensor<float>& scratch, uint32_t lanes = kLanes) {
    const LocalTensor<half> rows = to.ReinterpretCast<half>();
    const LocalTensor<half> halves = scratch.ReinterpretCast<half>();
    interleave_16bit(rows, from.ReinterpretCast<half>(), 2 * length, 2 * pitch, lanes);
    length = round_up(length, kLanes);
    for (uint32_t i = 0, repeats; i < length; i += repeats * kLanes) {
        repeats = repeats_of_rows(length - i);
        // rows[2 * i + h][lane] -> halves[(lane * 2 + h) * length + i]
        for (uint32_t h = 0; h < 2; ++h) {
            LocalTensor<half> target[16], source[16];
            for (uint32_t k = 0; k < 16; ++k) {
                source[k] = rows[(2 * (i + k) + h) * kLanes];
                target[k] = halves[(k * 2 + h) * length + i];
            }
            transpose_blocks(target, source, repeats, 1, 2 * kLanes);
        }
    }
    for (uint32_t i = 0, repeats; i < length; i += repeats * kLanes) {
        repeats = repeats_of_rows(length - i);
        for (uint32_t side = 0; side < 2; ++side) {  // lanes 0 to 7, then 8 to 15
            LocalTensor<half> target[16], source[16];
            for (uint32_t k = 0; k < 16; ++k) {
                source[k] = halves[(side * 16 + k) * length + i];
                target[k] = rows[(i + k) * 2 * kLanes + side * 16];
            }
            transpose_blocks(target, source, repeats, 2 * kLanes, 1);
        }
    }
}

// Overwrites `from`.
__aicore__ inline void deinterleave(const LocalTensor<float>& to, const LocalTensor<float>& from,
                                    uint32_t length, uint32_t pitch,
                                    const LocalTensor<float>& scratch, uint32_t step = 1) {
    constexpr uint32_t kHalf = 8;
    const uint32_t all = round_up(length, kLanes);
    const LocalTensor<half> rows = from.ReinterpretCast<half>();
    const LocalTensor<half> halves = scratch.ReinterpretCast<half>();
    for (uint32_t i = 0, repeats; i < all; i += repeats * kLanes) {
        const uint32_t left = length - i;
        repeats = repeats_of_rows(left);
        for (uint32_t side = 0; side < 2; ++side) {  // lanes 0 to 7, then 8 to 15
            LocalTensor<half> target[16], source[16];
            for (uint32_t k = 0; k < 16; ++k) {
                const uint32_t row = i + (k < left ? k : left - 1);
                source[k] = rows[row * step * 2 * kLanes + side * 16];
                target[k] = halves[(side * 16 + k) * all + i];
            }
            transpose_blocks(target, source, repeats, 1, 2 * kLanes * step);
        }
    }
    for (uint32_t i = 0, repeats; i < all; i += repeats * kLanes) {
        repeats = repeats_of_rows(all - i);
        for (uint32_t h = 0; h < 2; ++h) {
            LocalTensor<half> target[16], source[16];
            for (uint32_t k = 0; k < 16; ++k) {
                source[k] = halves[(k * 2 + h) * all + i];
                target[k] = rows[(2 * (i + k) + h) * kLanes];
            }
            transpose_blocks(target, source, repeats, 2 * kLanes, 1);
        }
    }
    deinterleave_16bit(to.ReinterpretCast<half>(), rows, 2 * round_up(length, kHalf), 2 * pitch);
}

#endif

}  // namespace kernels
