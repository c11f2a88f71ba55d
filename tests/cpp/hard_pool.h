// Calls with which AvgPool2dBackward's tilings are tried: beyond 2^32 elements, next to powers of
// two, with extents of 1.
#pragma once

#include <cstdint>

#include "ops/avg_pool2d_backward/op.h"

namespace ascend_grad {

struct PoolShape {
    int64_t planes, height, width, kernel[2], stride[2], pad[2];
    bool ceil;
};

inline constexpr PoolShape kHardPool[] = {
    {1024, 56, 56, {5, 5}, {1, 1}, {2, 2}, false},
    {26624, 7, 7, {3, 3}, {1, 1}, {1, 1}, false},
    {10000, 13, 13, {5, 3}, {1, 1}, {2, 1}, false},
    {300, 5, 3, {3, 3}, {1, 1}, {1, 1}, true},
    {64, 1000, 700, {2, 5}, {1, 1}, {0, 2}, false},
    {1, 1, 1, {1, 1}, {1, 1}, {0, 0}, false},
    {1LL << 31, 1, 1, {1, 1}, {1, 1}, {0, 0}, false},
    {3000000019, 2, 3, {2, 2}, {2, 1}, {1, 0}, true},
    {1, 70001, 70001, {3, 3}, {1, 1}, {1, 1}, false},
    {2, 1, 4294967311, {1, 7}, {1, 3}, {0, 3}, false},
    {2, 4294967311, 1, {7, 1}, {3, 1}, {3, 0}, true},
    {5, 4, 5, {1LL << 31, 1LL << 31}, {1LL << 33, 1}, {1LL << 30, 1LL << 30}, false},
    {64, 500, 600, {499, 500}, {1, 1}, {249, 250}, false},
    {64, 112, 112, {3, 3}, {2, 2}, {1, 1}, true},
    {2048, 7, 7, {7, 7}, {7, 7}, {0, 0}, false},
    {3, 30000, 2, {20000, 1}, {1, 1}, {0, 0}, false},
    {1, 1500, 1500, {3, 3}, {1, 1}, {1, 1}, false},
    {3, 800, 801, {2, 2}, {2, 2}, {0, 0}, false},
    {32, 256, 256, {9, 9}, {9, 9}, {0, 0}, false},
    {1, 300, 2000, {40, 400}, {9, 33}, {20, 200}, true},
};

// A call of average pooling on three axes: its arguments, as far as the geometry gives them.
struct PoolCall {
    AvgPool2dBackward::Args args;

    PoolCall(const PoolShape& g, DataType dtype)
        : kernel_{g.kernel, 2}, stride_{g.stride, 2}, padding_{g.pad, 2} {
        const int64_t grad[] = {
            g.planes, pool_output_extent(g.height, g.kernel[0], g.stride[0], g.pad[0], g.ceil),
            pool_output_extent(g.width, g.kernel[1], g.stride[1], g.pad[1], g.ceil)};
        const int64_t shape[] = {g.planes, g.height, g.width};
        has_windows_ = grad[1] > 0 && grad[2] > 0;
        if (!has_windows_) return;
        views_[0].dtype = views_[1].dtype = dtype;
        set_contiguous(views_[0], 3, grad);
        set_contiguous(views_[1], 3, shape);
        args.tensors[AvgPool2dBackward::kGradOutput] = &views_[0];
        args.tensors[AvgPool2dBackward::kSelf] = &views_[1];
        args.tensors[AvgPool2dBackward::kGradInput] = &views_[1];
        args.kernel_size = &kernel_;
        args.stride = &stride_;
        args.padding = &padding_;
        args.ceil_mode = g.ceil;
    }
    PoolCall(const PoolCall&) = delete;
    bool has_windows() const { return has_windows_; }

  private:
    TensorView views_[2];
    IntArray kernel_, stride_, padding_;
    bool has_windows_;
};

}  // namespace ascend_grad
