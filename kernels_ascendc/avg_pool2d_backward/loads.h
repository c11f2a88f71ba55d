// What a core loads of grad_output, in order.
#pragma once

#include "avg_pool2d_backward/geometry.h"

namespace kernels {

template <typename T>
class PoolLoads : PoolGeometry<T> {
    using Base = PoolGeometry<T>;
    using Base::planes_;
    using Base::t_;
    using Base::windows_;

  public:
    __aicore__ inline explicit PoolLoads(const AvgPool2dBackwardTiling& tiling) : Base(tiling) {}

    // The first or next load; false when there is none.
    __aicore__ inline bool next(LanesShape& shape) {
        while (at_ >= end_) {
            if (!this->next_run()) return false;
            begin_run();
        }
        const int64_t begin = at_;
        if (takes_rows()) {
            at_ = least(at_ + t_.load_rows, end_);
            shape = t_.traversal == kPoolParts ? this->grad_part({begin, at_}, windows_)
                                               : this->grad_rows(begin, at_);
        } else {
            at_ = t_.traversal == kPoolRows ? end_of_stretch() : end_;
            shape = this->grad_stretch(begin, at_ - begin);
        }
        is_first_ = false;
        return true;
    }

  private:
    __aicore__ inline bool takes_rows() const {
        return t_.traversal == kPoolParts || t_.traversal == kPoolColumns;
    }
    // at_, end_: rows, or elements of a lane.
    __aicore__ inline void begin_run() {
        const int64_t width = takes_rows() ? 1 : t_.grad_width;
        const PoolRange rows = this->window_rows();
        at_ = greatest(rows.begin, 0) * width;
        end_ = windows_.begin < windows_.end ? least(rows.end, planes_ * t_.windows_height) * width
                                             : 0;
        if (!takes_rows() && t_.traversal != kPoolRows)
            end_ = planes_ * t_.grad_height * t_.grad_width;
        is_first_ = true;
    }
    // Ends at a multiple of 512 bytes of lane 0, if it holds one, where the next one begins.
    __aicore__ inline int64_t end_of_stretch() {
        constexpr int64_t kEven = 512 / sizeof(T);
        const int64_t most = is_first_ ? t_.first_load : t_.load_elements;
        if (end_ - at_ <= most) return end_;
        const int64_t end = at_ + most;
        const int64_t odd = (this->first_plane_ * t_.grad_height * t_.grad_width + end) % kEven;
        return end - odd > at_ ? end - odd : end;
    }

    int64_t at_ = 0, end_ = 0;
    bool is_first_ = true;
};

}  // namespace kernels
