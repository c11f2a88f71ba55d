// Rows that no kernel reads as they lie: a tile of them is copied, worked on where it is dense, and
// the result copied back. A tile is whole planes, or chunks of rows, or some elements of
// neighbouring rows, whose sums by lanes go on from tile to tile.
#pragma once

#include "isa/copy_block.h"
#include "ops/softmax_backward/rows.h"

namespace ascend_grad {
namespace {

template <class T, class U>
class StagedRows {
    using Op = SoftmaxBackward;

  public:
    StagedRows(const Op::Plan& plan, void* const* addresses)
        : plan_(plan),
          place_(plan, addresses),
          dense_(dense_plan(plan)),
          stage_addresses_{inputs_[0], inputs_[1], out_},
          rows_(dense_, stage_addresses_, false) {
        static_assert(sizeof(U) == 8 || sizeof(inputs_) >= sizeof(U) * kStagedElements);
    }
    StagedRows(const StagedRows&) = delete;
    StagedRows& operator=(const StagedRows&) = delete;

    // Goes to a group of rows or, of whole planes, to as many of those up to `end` that follow as
    // fit a tile. Returns the next group.
    int64_t select(int64_t group, int64_t end) {
        planes_ =
            static_cast<int>(least(place_.following_planes(group, end), plan_.groups_per_tile));
        place_.select(group);
        count_ = place_.rows_of(1);
        return group + planes_;
    }
    int count() const { return count_; }
    int64_t first_row() const { return place_.first_row(); }

    void run() {
        if (plan_.chunks == 1 && lines() == plan_.length) {
            load(0, 0);
            for (int64_t group = 0; group < dense_.groups;) {
                group = rows_.select(group, dense_.groups);
                rows_.run();
            }
            store(0, 0);
            return;
        }
        float sums[SoftmaxRows<T, U>::kMaxColumns + kLanes] = {};
        sum_all_chunks(*this, plan_.chunks, sums);
        for (int64_t chunk = 0; chunk < plan_.chunks; ++chunk) write_chunk(chunk, sums);
    }
    // Of one plane.
    void sum_chunk(int64_t chunk, float* sums) {
        const int64_t length = length_of(chunk);
        if (lines() >= length) {
            load(chunk, 0);
            rows_.select(0, 1);
            rows_.sum_chunk(0, sums);
            return;
        }
        clear_lanes(count_, lanes_);
        for (int64_t begin = 0; begin < length; begin += lines()) {
            load(chunk, begin);
            add_to_lanes(inputs_[0], inputs_[1], count_, static_cast<int>(dense_.length), lanes_);
        }
        add_lanes(count_, lanes_, sums);
    }
    void write_chunk(int64_t chunk, const float* sums) {
        for (int64_t begin = 0; begin < length_of(chunk); begin += lines()) {
            load(chunk, begin);
            rows_.select(0, 1);
            rows_.write_chunk(0, sums);
            store(chunk, begin);
        }
    }

  private:
    // The stage of what is not at hand is what copies need spare.
    static constexpr size_t kLargest = sizeof(T) > sizeof(U) ? sizeof(T) : sizeof(U);

    static Op::Plan dense_plan(const Op::Plan& plan) {
        Op::Plan dense{};
        dense.traversal =
            plan.stages_along ? Op::Traversal::kAlongRows : Op::Traversal::kAcrossRows;
        dense.step = 1;
        dense.is_plane = !plan.stages_along;
        dense.rows.operands = 3;
        dense.chunks = dense.groups_per_loop = 1;
        return dense;
    }

    int64_t length_of(int64_t chunk) const {
        return least(plan_.chunk, plan_.length - chunk * plan_.chunk);
    }
    // Elements of each selected row that a tile holds: a chunk, else a multiple of sixteen.
    int64_t lines() const {
        if (plan_.chunk * count_ <= kStagedElements) return plan_.chunk;
        return kStagedElements / (count_ * kLanes) * kLanes;
    }
    // Copies an operand's staged elements, or takes them back.
    template <class E>
    void copy(int operand, char* memory, char* stage, char* spare, bool takes_back) const {
        const int inner = plan_.rows.count - 1;
        const Loops& dense = dense_.rows;
        const int64_t plane = inner > 0 ? plan_.rows.stride[inner - 1][operand] : 0;
        const int64_t staged_plane = count_ * dense_.length * static_cast<int64_t>(sizeof(E));
        Axis axes[] = {
            {planes_, plane, staged_plane},
            {count_, place_.row_stride(operand), dense.stride[dense.count - 1][operand]},
            {dense_.length, plan_.stride[operand], dense_.stride[operand]},
        };
        if (!takes_back) return copy_block<E>(stage, memory, axes, spare);
        for (Axis& axis : axes) std::swap(axis.from, axis.to);
        copy_block<E>(memory, stage, axes, spare);
    }
    char* address(int operand, int64_t chunk, int64_t begin) const {
        return place_.address(operand, 0, chunk * plan_.chunk + begin);
    }

    // Those of a chunk from `begin` on.
    void load(int64_t chunk, int64_t begin) {
        shape(least(lines(), length_of(chunk) - begin));
        for (int k = 0; k < Op::kOut; ++k)
            copy<T>(k, address(k, chunk, begin), reinterpret_cast<char*>(inputs_[k]), out_, false);
    }
    void store(int64_t chunk, int64_t begin) {
        copy<U>(Op::kOut, address(Op::kOut, chunk, begin), out_,
                reinterpret_cast<char*>(inputs_[0]), true);
    }
    // As what is dense: [rows][length], or planes of [length][rows].
    void shape(int64_t length) {
        Loops& loops = dense_.rows;
        dense_.length = dense_.chunk = length;
        loops.count = plan_.stages_along ? 1 : 2;
        const int inner = loops.count - 1;
        loops.extent[0] = planes_;
        loops.extent[inner] = plan_.stages_along ? planes_ * count_ : count_;
        for (int k = 0; k < 3; ++k) {
            const int64_t size = k == Op::kOut ? sizeof(U) : sizeof(T);
            loops.stride[0][k] = length * count_ * size;
            loops.stride[inner][k] = plan_.stages_along ? length * size : size;
            dense_.stride[k] = plan_.stages_along ? size : count_ * size;
        }
        dense_.rows_per_group = loops.extent[inner];
        dense_.groups = plan_.stages_along ? 1 : planes_;
        dense_.has_small_planes = !plan_.stages_along && plan_.chunks == 1 &&
                                  plan_.groups_per_loop == 1 && Op::is_small_plane(length, count_);
    }

    const Op::Plan& plan_;
    GroupPlace place_;
    int count_ = 0;
    int planes_ = 1;
    Op::Plan dense_;
    void* stage_addresses_[3];
    SoftmaxRows<T, U> rows_;
    alignas(64) T inputs_[Op::kOut][kStagedElements];
    alignas(64) char out_[kStagedElements * kLargest];
    alignas(64) float lanes_[kLanes * Op::kStagedColumns + kPairLanes];
};

}  // namespace
}  // namespace ascend_grad
