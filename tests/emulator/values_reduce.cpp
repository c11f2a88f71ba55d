// Reductions.
#include "values.h"

using namespace values;

namespace {

// The first orders of ReduceOrder exist: all, value and index in either order, or value first.
constexpr int orders = on_910b ? 4 : on_910 ? 1 : 2;

// Leaves every pair of lanes at least one.
template <typename T>
uint64_t* gaps_for() {
    static uint64_t mask[2] = {0x7777777777777777ull, sizeof(T) == 2 ? 0x7777777777777777ull : 0};
    return mask;
}

// Data of one sign shows lanes that count although the mask leaves them out, as 0 or as data.
template <typename T>
struct Cases {
    const std::string t = numpy_type<T>();
    const int lanes = 256 / static_cast<int>(sizeof(T));
    const std::vector<T> old = std::vector<T>(1024, static_cast<T>(9));
    const std::vector<T> mixed = random_values<T>(8192, -1, 1, 11);
    const std::vector<T> negative = random_values<T>(8192, -2, -1, 12);
    const std::vector<T> positive = random_values<T>(8192, 1, 2, 13);

    template <typename Reduce>
    void whole(const std::string& name, const std::string& end, const std::vector<T>& a,
               Reduce reduce) {
        apply(name + t + " full" + end, old, a, a,
              [&](auto& d, auto& x, auto&) { reduce(d, x, lanes, 1); });
        apply(name + t + " mask" + end, old, a, a,
              [&](auto& d, auto& x, auto&) { reduce(d, x, 37, 3); });
        apply(name + t + " bits" + end, old, a, a,
              [&](auto& d, auto& x, auto&) { reduce(d, x, bit_mask_for<T>(), 1); });
    }

    // A block without an active lane stays unwritten: documented for one product.
    template <typename Reduce>
    void block(const std::string& name, const std::vector<T>& a, Reduce reduce) {
        apply(name + t + " full", old, a, a, [&](auto& d, auto& x, auto&) { reduce(d, x, lanes); });
        apply(name + t + " bits", old, a, a,
              [&](auto& d, auto& x, auto&) { reduce(d, x, bit_mask_for<T>()); });
        if constexpr (on_910b)
            apply(name + t + " mask", old, a, a,
                  [&](auto& d, auto& x, auto&) { reduce(d, x, 37); });
    }

    template <typename Reduce>
    void all(const std::string& name, const std::vector<T>& a, Reduce reduce) {
        apply(name + t + " count", old, a, a,
              [&](auto& d, auto& x, auto& w) { reduce(d, x, w, 5000); });
        apply(name + t + " full", old, a, a,
              [&](auto& d, auto& x, auto& w) { reduce(d, x, w, lanes, 40, 8); });
        apply(name + t + " mask", old, a, a,
              [&](auto& d, auto& x, auto& w) { reduce(d, x, w, 37, 40, 8); });
        apply(name + t + " bits", old, a, a,
              [&](auto& d, auto& x, auto& w) { reduce(d, x, w, bit_mask_for<T>(), 40, 8); });
    }

    void whole_sums() {
        whole("WholeReduceSum ", "", mixed, [](auto& d, auto& x, auto mask, int stride) {
            WholeReduceSum(d, x, mask, 20, stride, 1, 8);
        });
    }

    void whole_extremes() {
        for (int i = 0; i < orders; ++i) {
            const auto order = static_cast<ReduceOrder>(i);
            const std::string end = " " + std::to_string(i);
            whole("WholeReduceMax ", end, negative, [=](auto& d, auto& x, auto mask, int stride) {
                WholeReduceMax(d, x, mask, 20, stride, 1, 8, order);
            });
            whole("WholeReduceMin ", end, positive, [=](auto& d, auto& x, auto mask, int stride) {
                WholeReduceMin(d, x, mask, 20, stride, 1, 8, order);
            });
        }
    }

    void blocks() {
        block("BlockReduceSum ", mixed,
              [](auto& d, auto& x, auto mask) { BlockReduceSum(d, x, 20, mask, 1, 1, 8); });
        block("BlockReduceMax ", negative,
              [](auto& d, auto& x, auto mask) { BlockReduceMax(d, x, 20, mask, 1, 1, 8); });
        block("BlockReduceMin ", positive,
              [](auto& d, auto& x, auto mask) { BlockReduceMin(d, x, 20, mask, 1, 1, 8); });
        apply("PairReduceSum " + t + " full", old, mixed, mixed,
              [&](auto& d, auto& x, auto&) { PairReduceSum(d, x, 5, lanes, 1, 1, 8); });
        apply("PairReduceSum " + t + " gaps", old, mixed, mixed,
              [&](auto& d, auto& x, auto&) { PairReduceSum(d, x, 5, gaps_for<T>(), 1, 1, 8); });
        apply("RepeatReduceSum " + t + " mask", old, mixed, mixed,
              [&](auto& d, auto& x, auto&) { RepeatReduceSum(d, x, 20, 37, 1, 1, 3, 8); });
    }

    void everything() {
        all("ReduceSum ", mixed,
            [](auto& d, auto& x, auto& w, auto... form) { ReduceSum(d, x, w, form...); });
        all("ReduceMax ", negative,
            [](auto& d, auto& x, auto& w, auto... form) { ReduceMax(d, x, w, form..., true); });
        all("ReduceMin ", positive,
            [](auto& d, auto& x, auto& w, auto... form) { ReduceMin(d, x, w, form..., true); });
    }
};

template <typename T>
void reductions() {
    Cases<T> cases;
    cases.whole_sums();
    if constexpr (has_reduce<T>) {
        cases.whole_extremes();
        cases.blocks();
        cases.everything();
    }
}

}  // namespace

void values::reduction_values() {
    reductions<float>();
    reductions<half>();
}
