// Builds the device plan of one call: workspace, copies of tensors that kernels cannot read as they
// lie, launches.
#pragma once

#include <initializer_list>

#include "core/operator.h"
#include "core/status.h"
#include "device/plan.h"

namespace ascend_grad::device {

// The axes of a tensor in the order in which a kernel walks memory, outermost first.
struct AxisOrder {
    int32_t count = 0;
    int32_t axis[kMaxRank] = {};
};
AxisOrder natural_order(int rank);
// The axes in the order in which they lie in memory, if that is dense; else as they are numbered.
AxisOrder memory_order(const TensorView& view);
// True when the elements of `view`, taken in that order, follow each other in memory.
bool is_dense(const TensorView& view, const AxisOrder& order);

class Planner {
  public:
    Planner(const OperatorInfo& info, const Arguments& args, const Product& product, Plan& plan)
        : info_(info), args_(args), product_(product), plan_(plan) {}

    // `bytes` of workspace, at a multiple of 512 bytes from its begin.
    Pointer reserve(uint64_t bytes);
    // The same, zero before the first kernel; only before any other request.
    Pointer reserve_zeroed(uint64_t bytes);

    // The input's elements as an array of `dtype` in that order: where they lie if they lie so and
    // may be read there, else in a copy that a launch before the kernels makes. `shape` broadcasts
    // the input; null for its own.
    Pointer input(int tensor, DataType dtype, const AxisOrder& order,
                  const TensorView* shape = nullptr);
    // Memory for the output's elements as such an array; finish() copies them to the output where
    // they do not lie there already.
    Pointer output(int tensor, DataType dtype, const AxisOrder& order);

    template <class Tiling>
    void launch(const char* kernel, uint32_t blocks, std::initializer_list<Pointer> pointers,
                const Tiling& tiling) {
        add_launch(kernel, blocks, pointers).set_tiling(tiling);
    }

    // The copies of outputs; what could not be planned, if anything.
    Status finish();

  private:
    static constexpr int kMaxOutputs = 4;
    struct Unfinished {
        int tensor;
        Pointer area;
        TensorView packed;
    };

    // Whether a result replaces that input and rows end inside blocks, which are loaded whole:
    // other cores may have stored their part of one by then. Some kernels never load such a block;
    // which one it will be is not known here.
    bool may_be_overwritten(const TensorView& input, const AxisOrder& order) const;
    Launch& add_launch(const char* kernel, uint32_t blocks,
                       std::initializer_list<Pointer> pointers);
    void add_copy(Pointer from, const TensorView& source, Pointer to, const TensorView& target);

    const OperatorInfo& info_;
    const Arguments& args_;
    const Product& product_;
    Plan& plan_;
    Status status_;
    Unfinished unfinished_[kMaxOutputs];
    int unfinished_count_ = 0;
};

}  // namespace ascend_grad::device
