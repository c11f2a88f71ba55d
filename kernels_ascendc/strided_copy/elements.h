// Strided copy on products without DataCopyPad: elements in the order of the loops, one by one
// where they are no neighbours. Right on any strides, not fast.
#pragma once

#include "strided_copy/tile.h"

namespace kernels {

template <typename From, typename To>
class ElementCopy {
  public:
    __aicore__ inline ElementCopy(TPipe* pipe, GM_ADDR source, GM_ADDR target,
                                  const StridedCopyTiling& tiling)
        : source_(source + tiling.source_begin), target_(target + tiling.target_begin), t_(tiling) {
        pipe->InitBuffer(in_, kElements * sizeof(From));
        pipe->InitBuffer(out_, kElements * sizeof(To));
        pipe->InitBuffer(tail_, kBlockBytes);
        const bool neighbours = t_.source_stride[7] == static_cast<int64_t>(sizeof(From));
        reads_bytes_ = is_odd(source_, t_.source_stride, sizeof(From));
        writes_bytes_ = is_odd(target_, t_.target_stride, sizeof(To));
        reads_rows_ = neighbours && !reads_bytes_;
        writes_rows_ = t_.target_is_dense != 0 && !writes_bytes_;
    }

    __aicore__ inline void run() {
        int64_t begin = 0, end = 0;
        if (t_.read == STRIDED_COPY_SINGLE) {
            begin = GetBlockIdx() * t_.items_per_block;
            end = least(begin + t_.items_per_block, t_.items);
        } else if (GetBlockIdx() == 0) {  // cut into tiles, which odd addresses do not allow
            end = 1;
            for (int32_t i = 0; i < 8; ++i) end *= t_.extent[i];
        }
        for (int64_t first = begin; first < end; first += kElements) {
            const uint32_t count =
                static_cast<uint32_t>(end - first < kElements ? end - first : kElements);
            read(first, count);
            convert(count);
            write(first, count);
        }
#if __CCE_AICORE__ == 200
        if (!writes_rows_) {
            GlobalTensor<uint8_t> all;
            all.SetGlobalBuffer((__gm__ uint8_t*)target_);
            flush_scalar_stores(all);
        }
#endif
    }

  private:
    static constexpr int64_t kElements = 4096;

    __aicore__ inline int64_t offset_of(int64_t element, const int64_t* strides) const {
        int64_t offset = 0;
        for (int32_t i = 7; i >= 0; --i) {
            offset += element % t_.extent[i] * strides[i];
            element /= t_.extent[i];
        }
        return offset;
    }

    __aicore__ inline void read(int64_t first, uint32_t count) {
        const LocalTensor<From> in = in_.template Get<From>();
        const int64_t column = first % t_.extent[7];
        if (reads_rows_ && column + count <= t_.extent[7]) {
            // What was computed from the buffer before must be done.
            wait_for<HardEvent::V_MTE2>();
            wait_for<HardEvent::S_MTE2>();
            GlobalTensor<From> from;
            from.SetGlobalBuffer((__gm__ From*)(source_ + offset_of(first, t_.source_stride)));
            load(in, from, count);
            wait_for<HardEvent::MTE2_V>();
            return;
        }
        wait_for<HardEvent::V_S>();
        wait_for<HardEvent::MTE2_S>();
        for (uint32_t i = 0; i < count; ++i)
            read_element(in, i, source_ + offset_of(first + i, t_.source_stride));
        wait_for<HardEvent::S_V>();
    }

    __aicore__ inline void read_element(const LocalTensor<From>& to, uint32_t index, GM_ADDR from) {
        if (!reads_bytes_) {
            GlobalTensor<From> element;
            element.SetGlobalBuffer((__gm__ From*)from);
            to.SetValue(index, element.GetValue(0));
            return;
        }
        GlobalTensor<uint8_t> bytes;
        bytes.SetGlobalBuffer((__gm__ uint8_t*)from);
        const LocalTensor<uint8_t> target = to.template ReinterpretCast<uint8_t>();
        for (uint32_t k = 0; k < sizeof(From); ++k)
            target.SetValue(index * sizeof(From) + k, bytes.GetValue(k));
    }

    __aicore__ inline void convert(uint32_t count) {
        const LocalTensor<From> in = in_.template Get<From>();
        const LocalTensor<To> out = out_.template Get<To>();
        // What was written from the buffer before must be done.
        wait_for<HardEvent::MTE3_V>();
        wait_for<HardEvent::S_V>();
        if constexpr (sizeof(From) == sizeof(To)) {
            DataCopy(out, in, round_up(count, kBlock<From>));
        } else {
            Cast(out, in, RoundMode::CAST_NONE, count);
        }
    }

    __aicore__ inline void write(int64_t first, uint32_t count) {
        const LocalTensor<To> out = out_.template Get<To>();
        const GM_ADDR target = target_ + offset_of(first, t_.target_stride);
        if (writes_rows_) {
            GlobalTensor<To> to;
            to.SetGlobalBuffer((__gm__ To*)target);
            wait_for<HardEvent::V_MTE3>();
            store(to, out, count, tail_.template Get<To>());
            return;
        }
        wait_for<HardEvent::V_S>();
        for (uint32_t i = 0; i < count; ++i)
            write_element(target_ + offset_of(first + i, t_.target_stride), out, i);
    }

    __aicore__ inline void write_element(GM_ADDR to, const LocalTensor<To>& from, uint32_t index) {
        if (!writes_bytes_) {
            GlobalTensor<To> element;
            element.SetGlobalBuffer((__gm__ To*)to);
            element.SetValue(0, from.GetValue(index));
            return;
        }
        GlobalTensor<uint8_t> bytes;
        bytes.SetGlobalBuffer((__gm__ uint8_t*)to);
        const LocalTensor<uint8_t> source = from.template ReinterpretCast<uint8_t>();
        for (uint32_t k = 0; k < sizeof(To); ++k)
            bytes.SetValue(k, source.GetValue(index * sizeof(To) + k));
    }

    GM_ADDR source_;
    GM_ADDR target_;
    const StridedCopyTiling& t_;
    TBuf<TPosition::VECCALC> in_, out_, tail_;
    bool reads_rows_, writes_rows_;    // by whole blocks
    bool reads_bytes_, writes_bytes_;  // one by one
};

}  // namespace kernels
