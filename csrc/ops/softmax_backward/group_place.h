// Where the rows of a group are.
#pragma once

#include "isa/lanes.h"
#include "ops/softmax_backward/op.h"

namespace ascend_grad {
namespace {

class GroupPlace {
    using Op = SoftmaxBackward;

  public:
    GroupPlace(const Op::Plan& plan, void* const* addresses) : plan_(plan), addresses_(addresses) {}

    // Groups from this one on, up to `end`, each as far from the one before: in a loop of rows, or
    // of planes that are groups.
    int64_t following(int64_t group, int64_t end) const {
        return following(group, end, plan_.groups_per_loop);
    }
    int64_t following_planes(int64_t group, int64_t end) const {
        const int inner = plan_.rows.count - 1;
        if (plan_.groups_per_loop > 1 || inner == 0) return 1;
        return following(group, end, plan_.rows.extent[inner - 1]);
    }

    void select(int64_t group) {
        const int inner = plan_.rows.count - 1;
        for (int k = 0; k < 3; ++k) row_stride_[k] = plan_.rows.stride[inner][k];
        start_ = group % plan_.groups_per_loop * plan_.rows_per_group;
        first_row_ = group / plan_.groups_per_loop * plan_.rows.extent[inner] + start_;
        int64_t offset[3];
        plan_.rows.offsets(first_row_, offset);
        for (int k = 0; k < 3; ++k) base_[k] = static_cast<char*>(addresses_[k]) + offset[k];
    }

    // Of the first selected row.
    int64_t first_row() const { return first_row_; }
    char* address(int operand, int64_t row, int64_t element) const {
        return base_[operand] + row * row_stride_[operand] + element * plan_.stride[operand];
    }
    // Rows of as many groups of the innermost loop, from the selected one on.
    int rows_of(int64_t groups) const {
        return static_cast<int>(least(plan_.rows_per_group * groups, rows_left()));
    }
    // Of the innermost loop: rows before the selected one, and those from it on.
    int64_t rows_before() const { return start_; }
    int64_t rows_left() const { return plan_.rows.extent[plan_.rows.count - 1] - start_; }
    int64_t row_stride(int operand) const { return row_stride_[operand]; }

  private:
    static int64_t following(int64_t group, int64_t end, int64_t loop) {
        return least(end - group, loop - group % loop);
    }

    const Op::Plan& plan_;
    void* const* addresses_;
    char* base_[3] = {};
    int64_t row_stride_[3] = {};
    int64_t start_ = 0;
    int64_t first_row_ = 0;
};

}  // namespace
}  // namespace ascend_grad
