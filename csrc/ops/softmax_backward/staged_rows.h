// Rows that no kernel takes as they are: a tile of them is copied, worked on where it is dense, and
// the result copied back. A tile is whole planes, or chunks of rows, or some elements of
// neighbouring rows, whose sums by lanes go on from tile to tile.
#pragma once

#include "isa/copy_block.h"
#include "isa/strided_run.h"
#include "ops/softmax_backward/rows.h"

namespace ascend_grad {
namespace {

// T is the inputs' dtype; Element, that of tiles, is T, or float where out has another dtype.
template <class T, class Element>
class StagedRows {
    using Op = SoftmaxBackward;

  public:
    StagedRows(const Op::Plan& plan, void* const* addresses)
        : plan_(plan),
          place_(plan, addresses),
          dense_(dense_plan(plan)),
          stage_addresses_{inputs_[0], inputs_[1], out_},
          rows_(dense_, stage_addresses_, false) {
        static_assert(kTilesAreFloat || std::is_same_v<T, Element>);
        static_assert(!kTilesAreFloat || sizeof(inputs_) >= sizeof(double) * kStagedElements);
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
    int summed() const { return count_; }
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
        float sums[kMaxSums + kLanes] = {};
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
    static constexpr bool kTilesAreFloat = std::is_same_v<Element, float>;

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
    // An operand's elements in memory, of E, and in a dense tile of E.
    template <class E>
    struct TileAxes {
        CopyAxis of[3];

        TileAxes(const StagedRows& rows, int operand) {
            constexpr int64_t kSize = sizeof(E);
            const Op::Plan& plan = rows.plan_;
            const int inner = plan.rows.count - 1;
            const int64_t plane = inner > 0 ? plan.rows.stride[inner - 1][operand] : 0;
            const int64_t length = rows.dense_.length, count = rows.count_;
            of[0] = {rows.planes_, plane, count * length * kSize};
            of[1] = {count, rows.place_.row_stride(operand),
                     plan.stages_along ? length * kSize : kSize};
            of[2] = {length, plan.stride[operand], plan.stages_along ? kSize : count * kSize};
        }
        void load(char* tile, const char* memory, char* spare) {
            copy_block<E>(tile, memory, of, spare);
        }
        void store(char* memory, const char* tile, char* spare) {
            for (CopyAxis& axis : of) std::swap(axis.from, axis.to);
            copy_block<E>(memory, tile, of, spare);
        }
        // function(bytes, elements, n): runs of n elements that lie so many bytes from the first
        // one in memory, elements from it in the tile. False where they are shorter than vectors.
        template <class Function>
        bool for_each_run(const Function& function) {
            constexpr int64_t kSize = sizeof(E);
            join(of);
            const int run = find_axis(of, kSize, kSize);
            if (run < 0 || of[run].count < kLanes) return false;
            put_last(of, run);
            for (int64_t i = 0; i < of[0].count; ++i) {
                for (int64_t j = 0; j < of[1].count; ++j) {
                    function(i * of[0].from + j * of[1].from, (i * of[0].to + j * of[1].to) / kSize,
                             static_cast<int>(of[2].count));
                }
            }
            return true;
        }
    };
    char* address(int operand, int64_t chunk, int64_t begin) const {
        return place_.address(operand, 0, chunk * plan_.chunk + begin);
    }

    // Those of a chunk from `begin` on.
    AG_NOINLINE void load(int64_t chunk, int64_t begin) {
        shape(least(lines(), length_of(chunk) - begin));
        for (int k = 0; k < Op::kOut; ++k) {
            const char* const memory = address(k, chunk, begin);
            TileAxes<T> axes(*this, k);
            if constexpr (std::is_same_v<T, Element>) {
                axes.load(reinterpret_cast<char*>(inputs_[k]), memory, out_);
            } else if (!axes.for_each_run([&](int64_t bytes, int64_t elements, int n) {
                           load_run<T>(inputs_[k] + elements, memory + bytes, sizeof(T), n);
                       })) {
                axes.load(out_, memory, out_ + sizeof(T) * kStagedElements);
                load_run<T>(inputs_[k], out_, sizeof(T), staged_elements());
            }
        }
    }
    AG_NOINLINE void store(int64_t chunk, int64_t begin) {
        char* const memory = address(Op::kOut, chunk, begin);
        if constexpr (kTilesAreFloat) {
            switch (plan_.out_dtype) {
                case DataType::kFloat64:
                    return store_converted<double>(memory);
                case DataType::kFloat16:
                    return store_converted<Float16>(memory);
                case DataType::kBFloat16:
                    return store_converted<BFloat16>(memory);
                default:
                    break;
            }
        }
        TileAxes<Element>(*this, Op::kOut).store(memory, out_, reinterpret_cast<char*>(inputs_));
    }
    template <class U>
    void store_converted(char* memory) {
        const float* const results = reinterpret_cast<const float*>(out_);
        TileAxes<U> axes(*this, Op::kOut);
        if (axes.for_each_run([&](int64_t bytes, int64_t elements, int n) {
                store_run<U>(memory + bytes, sizeof(U), results + elements, n);
            }))
            return;
        char* const converted = reinterpret_cast<char*>(inputs_);
        store_run<U>(converted, sizeof(U), results, staged_elements());
        axes.store(memory, converted, sizeof(U) > sizeof(Element) ? nullptr : out_);
    }
    int staged_elements() const { return static_cast<int>(planes_ * count_ * dense_.length); }
    // As what is dense: [rows][length], or planes of [length][rows].
    void shape(int64_t length) {
        Loops& loops = dense_.rows;
        dense_.length = dense_.chunk = length;
        loops.count = plan_.stages_along ? 1 : 2;
        const int inner = loops.count - 1;
        loops.extent[0] = planes_;
        loops.extent[inner] = plan_.stages_along ? planes_ * count_ : count_;
        constexpr int64_t kSize = sizeof(Element);
        for (int k = 0; k < 3; ++k) {
            loops.stride[0][k] = length * count_ * kSize;
            loops.stride[inner][k] = plan_.stages_along ? length * kSize : kSize;
            dense_.stride[k] = plan_.stages_along ? kSize : count_ * kSize;
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
    SoftmaxRows<Element> rows_;
    alignas(64) Element inputs_[Op::kOut][kStagedElements];
    alignas(64) char out_[kStagedElements * sizeof(Element)];
    alignas(64) float lanes_[kLanes * Op::kStagedColumns + kPairLanes];
};

}  // namespace
}  // namespace ascend_grad
