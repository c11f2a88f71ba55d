#pragma once

#include <algorithm>

#include "isa/interleave.h"
#include "ops/avg_pool2d_backward/plane_quotients.h"

namespace ascend_grad {
namespace {

// Windows of 3 x 3 elements, two apart, in rows of at most 64 columns: quotients stay in registers
// until both rows that need them are written.
template <class T>
class PoolHeldRows : public PlaneQuotients<T> {
    using Base = PlaneQuotients<T>;
    using Base::plan_;
    using Base::row_windows_;
    using Base::windows_;

  public:
    PoolHeldRows(const AvgPool2dBackward::Plan& plan, void* const* addresses, bool streaming)
        : Base(plan, addresses, streaming), columns_(static_cast<int>(plan.width.extent)) {
        const int beside = plan.width.pad == 0 ? -1 : 1;
        for (int j = 0; j < kMostWindows; ++j) {
            masks_[0][j] = j < row_windows_ ? ~0u : 0u;
            masks_[1][j] = j + beside >= 0 && j + beside < row_windows_ ? ~0u : 0u;
        }
        // Windows of rows that do not exist, before the plane's and behind.
        std::fill_n(quotients_, kMargin, 0.0f);
        std::fill_n(quotients_ + kMargin + windows_, kMargin, 0.0f);
    }

    void run() {
        this->each_plane([&](const T* from, Sink<T>& sink, int64_t writable) {
            this->divide(from, quotients_ + kMargin);
            const bool pads = plan_.width.pad == 1, is_pair = columns_ <= kPairLanes;
            if (pads && is_pair) return write<1, 1>(writable, sink);
            if (pads) return write<1, 2>(writable, sink);
            if (is_pair) return write<0, 1>(writable, sink);
            write<0, 2>(writable, sink);
        });
    }

  private:
    static constexpr int kMostWindows = static_cast<int>(pool_scratch::kHeldRow) / 2;
    static_assert(kMostWindows == 2 * kLanes);
    // A row, and a vector in which its neighbours lie.
    static constexpr int kMargin = kMostWindows + kLanes;

    // Of each window of a row, in `low`, the one in `high` that shares a column with it: kPad 0:
    // the window before, in column 2 j; else the next, in column 2 j + 1. Where there is none, 0.
    template <int kVectors>
    struct Row {
        LanePair windows[kVectors];
    };
    template <int kPad, int kVectors>
    AG_INLINE Row<kVectors> load_row(const float* p) const {
        Row<kVectors> row;
        AG_EACH (i, kVectors) {
            const int j = i * kLanes;
            row.windows[i] = {keep(load(p + j), masks_[0] + j),
                              keep(load(p + j + (kPad == 0 ? -1 : 1)), masks_[1] + j)};
        }
        return row;
    }
    template <int kVectors>
    static AG_INLINE Row<kVectors> add(const Row<kVectors>& a, const Row<kVectors>& b) {
        Row<kVectors> sum;
        AG_EACH (i, kVectors) sum.windows[i] = a.windows[i] + b.windows[i];
        return sum;
    }
    template <int kPad>
    static AG_INLINE typename Packed<T>::Type columns_of(LanePair sums) {
        const Lanes alone = sums.low, shared = sums.low + sums.high;
        if constexpr (kPad == 0) return pack_interleaved<T>({shared, alone});
        return pack_interleaved<T>({alone, shared});
    }
    // The plane's results, row 2 i from windows as column 2 j.
    template <int kPad, int kVectors>
    AG_NOINLINE void write(int64_t writable, Sink<T>& sink) const {
        const int columns = columns_, row_windows = row_windows_;
        const float* from = quotients_ + kMargin - (kPad == 0 ? row_windows : 0);
        auto before = load_row<kPad, kVectors>(from);
        this->each_piece(writable, sink, kVectors * kPairLanes, 2,
                         [&](T* out, const T* end, int rows) AG_INLINE_LAMBDA {
                             const auto set = [&](const Row<kVectors>& sums) AG_INLINE_LAMBDA {
                                 const bool is_whole = out + kVectors * kPairLanes <= end;
                                 AG_EACH (i, kVectors) {
                                     this->store_part(
                                         out + i * kPairLanes, columns_of<kPad>(sums.windows[i]),
                                         i + 1 < kVectors || is_whole, columns - i * kPairLanes);
                                 }
                                 out += columns;
                             };
                             for (int r = 0; r < rows; r += 2) {
                                 from += row_windows;
                                 const auto row = load_row<kPad, kVectors>(from);
                                 set(kPad == 0 ? add(before, row) : before);
                                 if (r + 1 < rows) set(kPad == 0 ? row : add(before, row));
                                 before = row;
                             }
                         });
    }

    const int columns_;
    alignas(64) uint32_t masks_[2][kMostWindows];
    alignas(64) float quotients_[kMargin + Base::kMost + kMargin];
};

}  // namespace
}  // namespace ascend_grad
