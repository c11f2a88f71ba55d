#pragma once

#include "ops/softmax_backward/tiling.h"
#include "softmax_backward/arithmetic.h"

namespace kernels {

// A block's part of a strip: units [first, end) of `unit` rows or, packed, elements, from the last
// multiple of that in memory on; `lead` of these rows or elements lie before the strip.
struct Strip {
    uint64_t at;  // its first element
    uint32_t columns;
    uint32_t lead;
    uint64_t first, end, chunks;
};

struct Chunk {
    uint64_t at;       // its first element; packed, of the block that has it
    uint32_t count;    // rows or elements
    uint32_t phase;    // packed: where it begins in the period of columns and blocks
    uint32_t skipped;  // elements that another plane has of the first block
};

// Which chunks of which strips a block takes.
class StripChunks {
  public:
    __aicore__ StripChunks(const SoftmaxBackwardTiling& tiling)
        : t_(tiling),
          is_packed_(tiling.traversal == kSoftmaxPacked),
          plane_(static_cast<uint64_t>(tiling.length * tiling.inner)),
          period_(static_cast<uint32_t>(tiling.inner)) {
        while (is_packed_ && period_ % kFloatsPerBlock != 0) {
            period_ += static_cast<uint32_t>(tiling.inner);
        }
    }

    __aicore__ bool is_packed() const { return is_packed_; }
    // Packed: after how many elements the column and the place in a block are the same.
    __aicore__ uint32_t period() const { return period_; }
    __aicore__ Strip strip(int64_t index) const {
        const int64_t column = index % t_.strips_per_plane * t_.width;
        const int64_t left = t_.inner - column;
        Strip strip{};
        strip.at = static_cast<uint64_t>(index / t_.strips_per_plane) * plane_ +
                   static_cast<uint64_t>(column);
        strip.columns = left < t_.width ? static_cast<uint32_t>(left) : t_.width;
        if (is_packed_) {
            strip.lead = __CCE_AICORE__ == 220 ? static_cast<uint32_t>(strip.at % t_.unit) : 0;
        } else {
            const int64_t row =
                index / t_.strips_per_plane * t_.length + index % t_.strips_per_plane * t_.shift;
            strip.lead = static_cast<uint32_t>(row % t_.unit);
        }
        const uint64_t units = (strip.lead + all() + t_.unit - 1) / t_.unit;
        const auto part = static_cast<uint64_t>(GetBlockIdx() % t_.parts);
        strip.first = units * part / t_.parts;
        strip.end = units * (part + 1) / t_.parts;
        strip.chunks = (strip.end - strip.first + t_.tile - 1) / t_.tile;
        return strip;
    }

    __aicore__ Chunk chunk(const Strip& strip, uint64_t index) const {
        const uint64_t first = strip.first + index * t_.tile;
        const uint64_t end = strip.end - first < t_.tile ? strip.end : first + t_.tile;
        const uint64_t begin = first == 0 ? 0 : first * t_.unit - strip.lead;
        const uint64_t rest = end * t_.unit - strip.lead;
        const uint64_t stop = rest < all() ? rest : all();
        const auto count = static_cast<uint32_t>(stop - begin);
        if (!is_packed_) return {strip.at + begin * static_cast<uint64_t>(t_.inner), count, 0, 0};
        const uint32_t before = strip.lead % (t_.unit / 16);  // units have 512 bytes
        if (first == 0) return {strip.at - before, before + count, 0, before};
        // All elements of a row add up to one sum, wherever they are.
        const uint64_t phase = t_.inner == 1 ? 0 : (before + begin) % period_;
        return {strip.at + begin, count, static_cast<uint32_t>(phase), 0};
    }

    // Elements that a chunk takes in a buffer.
    __aicore__ uint32_t size(const Chunk& chunk) const {
        return is_packed_ ? chunk.count : chunk.count * t_.pitch;
    }

  private:
    // Rows or elements of a strip.
    __aicore__ uint64_t all() const {
        return is_packed_ ? plane_ : static_cast<uint64_t>(t_.length);
    }

    const SoftmaxBackwardTiling t_;
    const bool is_packed_;
    const uint64_t plane_;
    uint32_t period_;
};

}  // namespace kernels
