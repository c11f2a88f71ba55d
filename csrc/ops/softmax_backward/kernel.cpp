#include <type_traits>

#include "ops/softmax_backward/op.h"
#include "ops/softmax_backward/staged_rows.h"

namespace ascend_grad {
namespace {

template <class T>
struct SoftmaxBackwardKernel {
    using Op = SoftmaxBackward;

    static void whole(const Op::Plan& plan, void* const* addresses, bool streaming, int64_t begin,
                      int64_t end) {
        with_rows(plan, addresses, streaming, [&](auto& rows) {
            for (int64_t group = begin; group < end;) {
                group = rows.select(group, end);
                rows.run();
            }
        });
    }

    static void sum_chunks(const Op::Plan& plan, void* const* addresses, float* partials,
                           int64_t begin, int64_t end) {
        const auto sum = [&](auto& rows) {
            for_each_chunk(plan, begin, end, rows, [&](int64_t chunk) {
                float sums[kMaxSums + kLanes] = {};
                rows.sum_chunk(chunk, sums);
                for (int i = 0; i < rows.count(); ++i) {
                    partials[(rows.first_row() + i) * plan.chunks + chunk] = sums[i];
                }
            });
        };
        // What out's dtype is makes no difference.
        if (plan.traversal == Op::Traversal::kStaged) return with_staged(plan, addresses, sum);
        with<SoftmaxRows<T>>(sum, plan, addresses, false);
    }

    static void write_chunks(const Op::Plan& plan, void* const* addresses, const float* partials,
                             bool streaming, int64_t begin, int64_t end) {
        with_rows(plan, addresses, streaming, [&](auto& rows) {
            float sums[kMaxSums + kLanes] = {};
            int64_t summed_row = -1;
            for_each_chunk(plan, begin, end, rows, [&](int64_t chunk) {
                if (rows.first_row() != summed_row) {
                    summed_row = rows.first_row();
                    for (int i = 0; i < rows.summed(); ++i) {
                        double total = 0.0;
                        const float* row = partials + (summed_row + i) * plan.chunks;
                        for (int64_t k = 0; k < plan.chunks; ++k)
                            total += static_cast<double>(row[k]);
                        sums[i] = static_cast<float>(total);
                    }
                }
                rows.write_chunk(chunk, sums);
            });
        });
    }

    static constexpr Op::Kernels kernels() { return {whole, sum_chunks, write_chunks}; }

  private:
    template <class Function>
    static void with_rows(const Op::Plan& plan, void* const* addresses, bool streaming,
                          const Function& function) {
        if (plan.traversal == Op::Traversal::kStaged) return with_staged(plan, addresses, function);
        if (plan.out_dtype == plan.dtype) {
            if (streaming && plan.collects) return with_columns(plan, addresses, function);
            return with<SoftmaxRows<T>>(function, plan, addresses, streaming,
                                        static_cast<ColumnSinks*>(nullptr));
        }
        if constexpr (!std::is_same_v<T, float>) {
            with<SoftmaxRows<T, float>>(function, plan, addresses, streaming);
        } else if (plan.out_dtype == DataType::kFloat16) {
            with<SoftmaxRows<T, Float16>>(function, plan, addresses, streaming);
        } else {
            with<SoftmaxRows<T, BFloat16>>(function, plan, addresses, streaming);
        }
    }
    template <class Function>
    static void with_staged(const Op::Plan& plan, void* const* addresses,
                            const Function& function) {
        if (plan.out_dtype == plan.dtype) return with<StagedRows<T, T>>(function, plan, addresses);
        with<StagedRows<T, float>>(function, plan, addresses);
    }
    template <class Function>
    static AG_NOINLINE void with_columns(const Op::Plan& plan, void* const* addresses,
                                         const Function& function) {
        ColumnSinks columns;
        with<SoftmaxRows<T>>(function, plan, addresses, true, &columns);
    }
    // Never inlined: stacks would hold all kinds of rows at once.
    template <class Rows, class Function, class... Arguments>
    static AG_NOINLINE void with(const Function& function, const Arguments&... arguments) {
        Rows rows(arguments...);
        function(rows);
    }
    template <class Rows, class Function>
    static void for_each_chunk(const Op::Plan& plan, int64_t begin, int64_t end, Rows& rows,
                               const Function& function) {
        const int64_t tasks_per_group = (plan.chunks + Op::kChunksPerTask - 1) / Op::kChunksPerTask;
        for (int64_t task = begin; task < end; ++task) {
            const int64_t group = task / tasks_per_group;
            rows.select(group, group + 1);
            const int64_t first = task % tasks_per_group * Op::kChunksPerTask;
            const int64_t last = least(first + Op::kChunksPerTask, plan.chunks);
            for (int64_t chunk = first; chunk < last; ++chunk) function(chunk);
        }
    }
};

}  // namespace

const SoftmaxBackward::Kernels KERNELS::softmax_backward[kKernelDtypes] =
    OF_EACH_DTYPE(SoftmaxBackwardKernel);

}  // namespace ascend_grad
