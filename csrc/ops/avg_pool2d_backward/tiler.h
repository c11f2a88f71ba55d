// Chooses the tiling of AvgPool2dBackward's device kernel.
#pragma once

#include <algorithm>

#include "device/costs.h"
#include "device/product.h"
#include "ops/avg_pool2d_backward/op.h"
#include "ops/avg_pool2d_backward/tiling.h"

namespace ascend_grad {

class PoolTiler {
  public:
    // `tiling` holds the geometry, mode and divisors; the rest is set by choose().
    PoolTiler(const AvgPool2dBackward::Plan& plan, AvgPool2dBackwardTiling& tiling,
              int64_t element_bytes, const device::Product& product);

    // Returns a rough count of its cycles.
    double choose();
    // The number of cores.
    uint32_t blocks() const;

  private:
    static constexpr int64_t kLanes = 16;
    static constexpr int64_t kDirectColumns = 128;  // windows of a load
    static constexpr int64_t kHf32Bytes = 8320;     // for rounding to HF32
    static constexpr int64_t kMostDivisors = 400;   // of a plane, that are held where they vary

    // The size of loads and tiles.
    struct Choice {
        AvgPool2dBackwardTraversal traversal;
        int64_t lane_planes, load, height, width;  // load: elements, of kPoolParts rows
        uint32_t store_buffers;
        int64_t unit = 0;  // rows that a core takes at least; 0: whole windows
        bool dense = false;
        int64_t lanes = kLanes;
    };

    int64_t even() const {
        return device::kEvenBytes / bytes_;
    }  // elements between places where copies begin best
    // Whether the planes of a lane are one below the other, as one.
    static bool is_tall(const Choice& c) { return c.traversal == kPoolRows && c.lane_planes > 1; }
    // Whether rows of windows and of gradients lie alike, which is what dense tilings need.
    bool has_alike_rows() const;
    bool has_one_divisor() const { return t_.factor != 0.0f || t_.divisor != 0.0f; }
    int64_t narrower(int64_t columns) const;
    int64_t unit_height(const Choice& choice) const;
    template <class Consider>
    void for_each_height(int64_t rows, const Consider& consider_rows) const;
    void choose_direct();
    void consider_tall();
    // For one window that covers whole planes: false where buffers hold too little of these.
    bool choose_fill();
    // Keeps the choice if it is the fastest so far; with fewer rows to a unit and fewer lanes as
    // well.
    void consider(Choice choice);
    void consider_unit(Choice choice);
    void consider_lanes(const Choice& choice);

    void set(const Choice& choice);
    void set_buffers(const Choice& choice);
    void set_columns();
    void set_dense(const Choice& choice, int64_t wide);
    int64_t pairs_begin() const { return std::max(t_.scratch, t_.apart_end); }
    int64_t pair_positions() const;
    bool fits() const;  // what set() set

    // A rough count of a core's cycles with what set() set.
    double cycles(const Choice& choice) const;
    double vector_cycles() const;
    double plane_instructions(double loads) const;
    double dense_cycles(const Choice& choice, double loads, double stores) const;
    double cycles_by_columns(const Choice& choice) const;

    const AvgPool2dBackward::Plan& plan_;
    AvgPool2dBackwardTiling& t_;
    const int64_t bytes_;
    const device::Product& product_;
    int64_t useful_cores_;
    Choice best_{};
    double best_cycles_;
};

}  // namespace ascend_grad
