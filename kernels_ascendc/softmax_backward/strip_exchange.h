#pragma once

#include "common/copy.h"
#include "ops/softmax_backward/tiling.h"
#include "softmax_backward/arithmetic.h"

namespace kernels {

// The partial sums of a team's blocks become one through the workspace: each block sends its own,
// then receives the total; where has_slices(), each calls add_slice() once between the two, or the
// barriers do not match. Loads of other data go on meanwhile.
class StripExchange {
  public:
    // `count`: floats that every block sends.
    __aicore__ StripExchange(TPipe& pipe, GM_ADDR workspace, const SoftmaxBackwardTiling& tiling,
                             uint32_t count)
        : parts_(tiling.parts),
          count_(count),
          apart_(round_up(count, kSoftmaxSlotFloats)),
          slice_(tiling.slice) {
        if (parts_ == 1) return;
        const uint32_t partials = slice_ > 0 ? parts_ * slice_ : parts_at_once() * count_;
        pipe.InitBuffer(partials_, partials * sizeof(float));
        const auto blocks = static_cast<uint32_t>(GetBlockNum());
        sync_.SetGlobalBuffer((__gm__ int32_t*)workspace, blocks * kBlock<int32_t>);
        workspace_.SetGlobalBuffer((__gm__ float*)workspace);
#if __CCE_AICORE__ != 220
        pipe.InitBuffer(sync_buffer_, blocks * kBlockBytes);
        workspace_ = workspace_[round_up(blocks * kBlock<float>, kSoftmaxSlotFloats)];
#endif
    }

    __aicore__ void send(const LocalTensor<float>& sums) {
        area_ = 1 - area_;
        send(area(area_, GetBlockIdx()), sums, count_);
    }

    // Whether add_slice() comes between.
    __aicore__ bool has_slices() const {
        return slice_ > 0;
    }
    __aicore__ void add_slice() {
        const uint32_t first =
            at_most(static_cast<uint32_t>(GetBlockIdx() % parts_) * slice_, count_);
        const uint32_t count = at_most(slice_, count_ - first);
        const LocalTensor<float> partials = partials_.Get<float>();
        meet();
        if (count > 0) {
            load_rows(partials, area(area_, team() * parts_)[first], parts_, count, apart_);
            wait_for<HardEvent::MTE2_V>();
            fold_rows(partials, 1, parts_ * count, count, 0);
        }
        send(area(kTotals, team())[first], partials, count);
    }

    // The sum of all parts, in the order of blocks.
    __aicore__ void receive(const LocalTensor<float>& total) {
        meet();
        if (slice_ == 0) {
            add_all(total, area(area_, team() * parts_));
        } else {
            load(total, area(kTotals, team()), count_);
            wait_for<HardEvent::MTE2_V>();
        }
    }

    // A block without sums takes part in the barriers of the others.
    __aicore__ void pass() {
        for (uint32_t step = 0; step < (slice_ > 0 ? 2 : 1); ++step) {
            arrive();
            meet();
        }
    }

  private:
    static constexpr uint16_t kArrived = 0;  // flag between cores
    static constexpr uint64_t kTotals = 2;   // behind both areas of partial sums

    __aicore__ int64_t team() const {
        return GetBlockIdx() / parts_;
    }

    // Partial sums of the strip before may still be read by others: strips take turns between two
    // areas.
    __aicore__ GlobalTensor<float> area(uint64_t index, int64_t slot) const {
        const auto blocks = static_cast<uint64_t>(GetBlockNum());
        return workspace_[(index * blocks + static_cast<uint64_t>(slot)) * apart_];
    }

    // From vector instructions, to those that load after meet().
    __aicore__ void send(const GlobalTensor<float>& to, const LocalTensor<float>& from,
                         uint32_t count) {
        wait_for<HardEvent::V_MTE3>();
        if (count > 0) DataCopy(to, from, count);
        sent_ = new_event<HardEvent::MTE3_MTE2>();
        SetFlag<HardEvent::MTE3_MTE2>(sent_);
        is_sent_ = true;
        arrive();
    }

    // Together a barrier of all blocks, for what they have stored.
    __aicore__ void arrive() {
#if __CCE_AICORE__ == 220
        CrossCoreSetFlag<0, PIPE_MTE3>(kArrived);
#endif
    }
    __aicore__ void meet() {
#if __CCE_AICORE__ == 220
        CrossCoreWaitFlag(kArrived);
#else
        SyncAll(sync_, sync_buffer_.Get<int32_t>());
#endif
        if (is_sent_) end_event<HardEvent::MTE3_MTE2>(sent_);
        is_sent_ = false;
    }

    __aicore__ uint32_t parts_at_once() const {
        return count_ >= kSoftmaxPartialFloats ? 1
                                               : at_most(parts_, kSoftmaxPartialFloats / count_);
    }

    __aicore__ void add_all(const LocalTensor<float>& total, const GlobalTensor<float>& from) {
        const LocalTensor<float> partials = partials_.Get<float>();
        const auto count = static_cast<int32_t>(count_);
        const uint32_t step = parts_at_once();
        for (uint32_t part = 0; part < parts_; part += step) {
            const uint32_t parts = at_most(parts_ - part, step);
            if (part > 0) wait_for<HardEvent::V_MTE2>();
            load_rows(partials, from[part * apart_], parts, count_, apart_);
            wait_for<HardEvent::MTE2_V>();
            fold_rows(partials, 1, parts * count_, count_, 0);
            if (part == 0) {
                Adds(total, partials, 0.0f, count);
            } else {
                Add(total, total, partials, count);
            }
        }
    }

    const uint32_t parts_;
    const uint32_t count_, apart_;  // floats that are sent, and from block to block
    const uint32_t slice_;
    uint64_t area_ = 0;
    event_t sent_ = EVENT_ID0;
    bool is_sent_ = false;
    GlobalTensor<float> workspace_;
    GlobalTensor<int32_t> sync_;
    TBuf<TPosition::VECCALC> partials_, sync_buffer_;
};

}  // namespace kernels
