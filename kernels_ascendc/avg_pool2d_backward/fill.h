// Gradients where one window covers whole planes: its quotient everywhere. Planes follow each other
// in memory, so cores and stores meet at multiples of 512 bytes, wherever planes begin.
#pragma once

#include "avg_pool2d_backward/divisors.h"
#include "avg_pool2d_backward/spread.h"

namespace kernels {

template <typename T>
class PoolFill {
  public:
    __aicore__ inline PoolFill(GM_ADDR grad_output, GM_ADDR grad_input,
                               const AvgPool2dBackwardTiling& tiling, TPipe& pipe)
        : t_(tiling), plane_(tiling.height * tiling.width), divisors_(tiling, 1, pipe) {
        grad_output_.SetGlobalBuffer((__gm__ T*)grad_output);
        grad_input_.SetGlobalBuffer((__gm__ T*)grad_input);
        pipe.InitBuffer(loads_, kPoolFillLoads, t_.load_elements * sizeof(T));
        pipe.InitBuffer(stores_, static_cast<uint8_t>(t_.store_buffers),
                        t_.tile_elements * sizeof(T));
        pipe.InitBuffer(rows_buffer_, t_.tile_positions * kLanes * sizeof(T));
        rows_ = rows_buffer_.template Get<T>();
        if constexpr (kIsNarrow) pipe.InitBuffer(wide_buffer_, t_.load_elements * sizeof(float));
        if (t_.mode == kPoolFloat16)
            pipe.InitBuffer(rounding_buffer_, t_.load_elements * sizeof(half));
        if (t_.mode == kPoolHf32) pipe.InitBuffer(rounding_buffer_, kHf32Bytes);
        pipe.InitBuffer(tail_buffer_, kBlockBytes);
#if __CCE_AICORE__ == 100
        if (!kIsNarrow) {
            pipe.InitBuffer(scratch_buffer_, t_.tile_positions * kLanes * sizeof(float));
            scratch_ = scratch_buffer_.template Get<float>();
            // Transposing floats reads these.
            Duplicate(rows_, static_cast<T>(0.0f),
                      static_cast<int32_t>(t_.tile_positions * kLanes));
        }
#endif
        const int64_t core = GetBlockIdx(), cores = GetBlockNum();
        next_ = core * t_.units / cores * kEven;
        most_ = t_.first_load;
        end_ = least((core + 1) * t_.units / cores * kEven, t_.planes * plane_);
    }

    __aicore__ inline void run() {
        load_ahead();
        while (tiles_ahead_ > 0) {
            const Tile tile = ahead_[0];
            const LocalTensor<T> quotients = divide(tile.windows());
            make_rows(quotients[static_cast<uint32_t>(tile.first_row - tile.first_window)],
                      static_cast<uint32_t>(tile.last - tile.first_row),
                      static_cast<uint32_t>(tile.last_window - tile.first_row));
            LocalTensor<T> done = quotients;
            loads_.FreeTensor(done);
            --tiles_ahead_;
            for (uint32_t i = 0; i < tiles_ahead_; ++i) ahead_[i] = ahead_[i + 1];
            load_ahead();
            fill(tile);
        }
    }

  private:
    static constexpr bool kIsNarrow = sizeof(T) == 2;
    static constexpr uint32_t kWords = sizeof(T) / sizeof(uint16_t);          // of an element
    static constexpr uint32_t kEven = 512 / sizeof(T);                        // elements
    static constexpr uint32_t kRowBlocks = kLanes * sizeof(T) / kBlockBytes;  // of rows_

    // --- From grad_output to quotients.

    // Elements [begin, end), of planes [first, last): they and, where planes are made together,
    // units of them are made as a whole, from the element `origin` on.
    struct Tile {
        int64_t begin, end, origin;
        int64_t first, last;
        int64_t first_row;                  // of the planes in rows_
        int64_t first_window, last_window;  // that are loaded
        __aicore__ inline uint32_t windows() const {
            return static_cast<uint32_t>(last_window - first_window);
        }
    };
    __aicore__ inline void load_ahead() {
        while (tiles_ahead_ < kPoolFillLoads && next_ < end_) load_next();
    }
    // The windows of the next tile, which ends where buffers still hold its planes as a whole.
    __aicore__ inline void load_next() {
        const int64_t unit = t_.unit_planes;
        Tile& tile = ahead_[tiles_ahead_++];
        tile.begin = next_;
        tile.first = next_ / plane_ / unit * unit;
        tile.origin = tile.first * plane_ / kBlock<T> * kBlock<T>;
        tile.first_row = tile.first / kLanes * kLanes;
        const int64_t room = least(tile.origin + t_.tile_elements - unit * plane_,
                                   (tile.first_row + t_.tile_positions - unit) * plane_);
        tile.end = least(least(next_ + most_, room) / kEven * kEven, end_);
        tile.last = (tile.end - 1) / plane_ / unit * unit + unit;
        tile.last_window = least(tile.last, t_.planes);
        // Many begin at a multiple of 512 bytes, which takes more of them.
        const bool is_long = tile.last_window - tile.first_row > 2 * kEven;
        tile.first_window = is_long ? tile.first_row / kEven * kEven : tile.first_row;
        const LocalTensor<T> to = loads_.template AllocTensor<T>();
        load(to, grad_output_[static_cast<uint64_t>(tile.first_window)], tile.windows());
        loads_.EnQue(to);
        next_ = tile.end;
        most_ = least(2 * most_, t_.tile_elements);
    }
    // What was loaded first becomes its quotients.
    __aicore__ inline LocalTensor<T> divide(uint32_t count) {
        const LocalTensor<T> loaded = loads_.template DeQue<T>();
        clear_rest(loaded, count);
        PipeBarrier<PIPE_V>();
        const uint32_t whole = round_up(count, kLanes);
        if constexpr (kIsNarrow) {
            const LocalTensor<float> wide = wide_buffer_.template Get<float>();
            Cast(wide, loaded, RoundMode::CAST_NONE, whole);
            PipeBarrier<PIPE_V>();
            divisors_.divide_all(wide, whole / kLanes);
            PipeBarrier<PIPE_V>();
            Cast(loaded, wide, kNearest, whole);
        } else {
            if (t_.mode == kPoolFloat16)
                round_to_float16(loaded, rounding_buffer_.template Get<half>(), whole);
#if __CCE_AICORE__ == 220
            if (t_.mode == kPoolHf32)
                round_to_hf32(loaded, rounding_buffer_.template Get<int32_t>(), whole);
#endif
            PipeBarrier<PIPE_V>();
            divisors_.divide_all(loaded, whole / kLanes);
            if (t_.mode == kPoolFloat16)
                round_to_float16(loaded, rounding_buffer_.template Get<half>(), whole);
        }
        PipeBarrier<PIPE_V>();
        return loaded;
    }

    // --- From quotients to grad_input.

    __aicore__ inline void fill(const Tile& tile) {
        const LocalTensor<T> to = stores_.template AllocTensor<T>();
        const LocalTensor<uint16_t> words = to.template ReinterpretCast<uint16_t>();
        const uint32_t from = static_cast<uint32_t>(tile.first - tile.first_row) * kRowBlocks;
        const uint32_t planes = static_cast<uint32_t>(tile.last - tile.first);
        const Spread spread(rows_.template ReinterpretCast<uint16_t>(), kRowBlocks,
                            static_cast<uint32_t>(plane_) * kWords);
        PipeBarrier<PIPE_V>();
        if (t_.unit_planes > 1) {
            spread.units(words, from, static_cast<uint32_t>(t_.unit_planes), t_.unit_step,
                         planes / static_cast<uint32_t>(t_.unit_planes));
        } else {
            const auto begin = static_cast<uint32_t>(tile.first * plane_ - tile.origin);
            spread.planes(words, begin * kWords, from, planes);
        }
        stores_.EnQue(to);
        LocalTensor<T> done = stores_.template DeQue<T>();
        store(grad_input_[static_cast<uint64_t>(tile.begin)],
              done[static_cast<uint32_t>(tile.begin - tile.origin)],
              static_cast<uint32_t>(tile.end - tile.begin), tail_buffer_.template Get<T>());
        stores_.FreeTensor(done);
    }

    // Each of the first `count` quotients, of those that exist, as a row of sixteen in rows_.
    __aicore__ inline void make_rows(const LocalTensor<T>& quotients, uint32_t count,
                                     uint32_t existing) {
        const uint32_t all = round_up(count < existing ? count : existing, kBlock<T>);
        if constexpr (kIsNarrow) {
            interleave_16bit(rows_.template ReinterpretCast<half>(),
                             quotients.template ReinterpretCast<half>(), all, 0, 1);
        } else {
            interleave(rows_, quotients, all, 0, scratch_, 1);
        }
        if (count > all) {
            const LocalTensor<half> rest = rows_[all * kLanes].template ReinterpretCast<half>();
            Duplicate(rest, static_cast<half>(0.0f),
                      static_cast<int32_t>((count - all) * kRowBlocks * kBlockWords));
        }
    }

    using Buffer = TBuf<TPosition::VECCALC>;
    const AvgPool2dBackwardTiling& t_;
    const int64_t plane_;
    PoolDivisors<kIsNarrow> divisors_;
    GlobalTensor<T> grad_output_, grad_input_;
    TQue<TPosition::VECIN, kPoolFillLoads> loads_;
    TQue<TPosition::VECOUT, 1> stores_;
    Buffer rows_buffer_, wide_buffer_, rounding_buffer_, tail_buffer_, scratch_buffer_;
    LocalTensor<T> rows_;
    LocalTensor<float> scratch_;
    int64_t next_, end_;  // elements of grad_input that are left of the core's
    int64_t most_;        // elements of a tile: few at first, as nothing overlaps with its load
    Tile ahead_[kPoolFillLoads];
    uint32_t tiles_ahead_ = 0;
};

}  // namespace kernels
