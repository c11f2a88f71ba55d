// Reductions.
#include "values.h"

using namespace values;

namespace {

template <typename T>
void reductions() {
    const std::vector<T> old(1024, static_cast<T>(9));
    const auto a = random_values<T>(8192, -1, 1, 11);
    const std::string t = numpy_type<T>();
    const int lanes = 256 / static_cast<int>(sizeof(T));
    apply("WholeReduceSum " + t + " full", old, a, a,
          [&](auto& d, auto& x, auto&) { WholeReduceSum(d, x, lanes, 20, 1, 1, 8); });
    apply("WholeReduceSum " + t + " mask", old, a, a,
          [&](auto& d, auto& x, auto&) { WholeReduceSum(d, x, 37, 20, 3, 1, 8); });
    apply("WholeReduceSum " + t + " bits", old, a, a,
          [&](auto& d, auto& x, auto&) { WholeReduceSum(d, x, bit_mask_for<T>(), 20, 1, 1, 8); });
    if constexpr (has_reduce<T>) {
        apply("BlockReduceSum " + t, old, a, a,
              [&](auto& d, auto& x, auto&) { BlockReduceSum(d, x, 20, lanes, 1, 1, 8); });
        apply("BlockReduceMax " + t, old, a, a,
              [&](auto& d, auto& x, auto&) { BlockReduceMax(d, x, 20, lanes, 1, 1, 8); });
        apply("BlockReduceMin " + t, old, a, a,
              [&](auto& d, auto& x, auto&) { BlockReduceMin(d, x, 20, lanes, 1, 1, 8); });
        apply("PairReduceSum " + t, old, a, a,
              [&](auto& d, auto& x, auto&) { PairReduceSum(d, x, 5, lanes, 1, 1, 8); });
        apply("WholeReduceMax " + t, old, a, a,
              [&](auto& d, auto& x, auto&) { WholeReduceMax(d, x, lanes, 20, 1, 1, 8); });
        apply("WholeReduceMin " + t, old, a, a,
              [&](auto& d, auto& x, auto&) { WholeReduceMin(d, x, lanes, 20, 1, 1, 8); });
        apply("ReduceSum " + t + " count 5000", old, a, a,
              [&](auto& d, auto& x, auto& w) { ReduceSum(d, x, w, 5000); });
        apply("ReduceSum " + t + " repeats 40", old, a, a,
              [&](auto& d, auto& x, auto& w) { ReduceSum(d, x, w, lanes, 40, 8); });
        apply("ReduceMax " + t + " count 5000", old, a, a,
              [&](auto& d, auto& x, auto& w) { ReduceMax(d, x, w, 5000, true); });
        apply("ReduceMin " + t + " count 5000", old, a, a,
              [&](auto& d, auto& x, auto& w) { ReduceMin(d, x, w, 5000, true); });
    }
}

}  // namespace

void values::reduction_values() {
    reductions<float>();
    reductions<half>();
}
