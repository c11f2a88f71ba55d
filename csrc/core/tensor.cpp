#include "core/tensor.h"

#include <algorithm>
#include <numeric>

#include "core/integers.h"

namespace ascend_grad {
namespace {

// One dimension of the search below: value * coefficient, 0 <= value <= bound, coefficient > 0.
struct Term {
    int64_t coefficient;
    int64_t bound;
};

// Looks for values of the terms whose weighted sum lies in [low, high].
class IntervalSearch {
  public:
    IntervalSearch(const Term* terms, int count) : count_(count) {
        std::copy(terms, terms + count, terms_);
        std::sort(terms_, terms_ + count,
                  [](const Term& a, const Term& b) { return a.coefficient > b.coefficient; });
        join_terms();
        reach_[count_] = 0;
        divisor_[count_] = 0;
        for (int i = count_ - 1; i >= 0; --i) {
            reach_[i] =
                reach_[i + 1] + static_cast<__int128>(terms_[i].coefficient) * terms_[i].bound;
            divisor_[i] = std::gcd(divisor_[i + 1], terms_[i].coefficient);
        }
    }

    // Gives up with true after a bounded number of steps.
    bool contains(__int128 low, __int128 high) { return contains(0, low, high); }

  private:
    // Two terms reach what one does where the larger coefficient is m times the smaller, and the
    // smaller's values fill the steps between its multiples.
    void join_terms() {
        for (int i = count_ - 2; i >= 0; --i) {
            Term& large = terms_[i];
            const Term& small = terms_[i + 1];
            const int64_t m = large.coefficient / small.coefficient;
            if (large.coefficient % small.coefficient != 0 || small.bound < m - 1) continue;
            large = {small.coefficient, m * large.bound + small.bound};
            std::copy(terms_ + i + 2, terms_ + count_, terms_ + i + 1);
            --count_;
        }
    }

    // With terms from i on. What they reach are multiples of their greatest common divisor, up to
    // reach_[i].
    bool contains(int i, __int128 low, __int128 high) {
        low = std::max<__int128>(low, 0);
        high = std::min(high, reach_[i]);
        if (low > high) return false;
        if (low == 0 || i == count_) return low == 0;
        if (high / divisor_[i] * divisor_[i] < low) return false;
        const __int128 coefficient = terms_[i].coefficient;
        const __int128 missing = low - reach_[i + 1];
        const __int128 first = missing > 0 ? (missing + coefficient - 1) / coefficient : 0;
        const __int128 last = std::min<__int128>(terms_[i].bound, high / coefficient);
        for (__int128 value = last; value >= first; --value) {
            if (++steps_ > kMaxSteps) return true;
            if (contains(i + 1, low - value * coefficient, high - value * coefficient)) return true;
        }
        return false;
    }

    static constexpr int kMaxSteps = 100000;
    Term terms_[2 * kMaxRank];
    int count_;
    int steps_ = 0;
    __int128 reach_[2 * kMaxRank + 1];
    int64_t divisor_[2 * kMaxRank + 1];
};

// Of the elements of a view, from element 0: that of the lowest and of the highest, in bytes. False
// where they do not fit.
bool reach_of(const TensorView& view, int64_t& lowest, int64_t& highest) {
    lowest = highest = 0;
    for (int i = 0; i < view.stored_rank(); ++i) {
        int64_t steps;
        if (__builtin_mul_overflow(view.shape[i] - 1, view.strides[i], &steps)) return false;
        int64_t& end = steps < 0 ? lowest : highest;
        if (__builtin_add_overflow(end, steps, &end)) return false;
    }
    return true;
}

// Whether each term steps over all that those before it reach, and over `size`.
bool are_nested(const Term* terms, int count, int64_t size) {
    int64_t reach = size;
    for (int i = 0; i < count; ++i) {
        if (terms[i].coefficient < reach) return false;
        reach += terms[i].coefficient * terms[i].bound;
    }
    return true;
}

int add_terms(const TensorView& view, Term* terms, int count) {
    for (int i = 0; i < view.rank; ++i) {
        if (view.shape[i] > 1 && view.strides[i] != 0) {
            terms[count++] = {magnitude(view.strides[i]), view.shape[i] - 1};
        }
    }
    return count;
}

}  // namespace

void set_contiguous(TensorView& view, int rank, const int64_t* shape) {
    view.rank = rank;
    view.numel = 1;
    bool is_empty = false;
    int64_t stride = data_type_size(view.dtype);
    for (int i = rank - 1; i >= 0; --i) {
        view.shape[i] = shape[i];
        view.strides[i] = stride;
        is_empty = is_empty || shape[i] == 0;
        // Where these overflow, the view is empty or too large to exist.
        (void)__builtin_mul_overflow(stride, std::max<int64_t>(shape[i], 1), &stride);
        (void)__builtin_mul_overflow(view.numel, shape[i], &view.numel);
    }
    if (is_empty) view.numel = 0;
}

bool set_stride(TensorView& view, int axis, int64_t stride, int64_t unit) {
    int64_t& bytes = view.strides[axis];
    const bool fits = !__builtin_mul_overflow(stride, unit, &bytes);
    if (!fits) bytes = stride < 0 ? -INT64_MAX : INT64_MAX;
    bytes = std::max(bytes, -INT64_MAX);
    return fits;
}

void set_shape(TensorView& view, int64_t rank, const int64_t* shape, const int64_t* strides,
               int64_t unit) {
    view.rank = static_cast<int32_t>(std::clamp<int64_t>(rank, -1, INT32_MAX));
    view.numel = 1;
    rank = std::max<int64_t>(rank, 0);
    const int64_t stored = std::min<int64_t>(rank, kMaxRank);
    bool fits = true, is_negative = false, is_empty = false;
    for (int64_t i = rank - 1; i >= 0; --i) {
        is_negative = is_negative || shape[i] < 0;
        is_empty = is_empty || shape[i] == 0;
        if (i < stored) {
            const int64_t stride = strides != nullptr ? strides[i] : view.numel;
            view.shape[i] = shape[i];
            fits = (set_stride(view, static_cast<int>(i), stride, unit) || shape[i] == 1) && fits;
        }
        fits = !__builtin_mul_overflow(view.numel, std::max<int64_t>(shape[i], 1), &view.numel) &&
               fits;
    }
    int64_t lowest, highest;
    if (is_negative) {
        view.defect = ViewDefect::kNegativeExtent;
    } else if (!is_empty && !(fits && reach_of(view, lowest, highest))) {
        view.defect = ViewDefect::kOverflow;
    }
    if (view.defect != ViewDefect::kNone) {
        view.numel = 1;
    } else if (is_empty) {
        view.numel = 0;
    }
}

void set_address(TensorView& view, void* data) {
    view.data = data;
    if (view.defect != ViewDefect::kNone || view.is_empty() || data == nullptr) return;
    const auto size = data_type_size(view.dtype);
    const auto address = static_cast<int64_t>(reinterpret_cast<intptr_t>(data));
    int64_t lowest, highest, begin, end;
    const bool fits = reach_of(view, lowest, highest) &&
                      !__builtin_add_overflow(address, lowest, &begin) && begin >= 0 &&
                      !__builtin_add_overflow(address, highest, &end) &&
                      !__builtin_add_overflow(end, size, &end);
    if (!fits) view.defect = ViewDefect::kOverflow;
}

TensorView broadcast(const TensorView& view, const TensorView& shape) {
    TensorView result = shape;
    result.data = view.data;
    result.dtype = view.dtype;
    const int missing = shape.rank - view.rank;
    for (int i = 0; i < shape.rank; ++i) {
        const bool is_own = i >= missing && view.shape[i - missing] != 1;
        result.strides[i] = is_own ? view.strides[i - missing] : 0;
    }
    return result;
}

bool is_same_view(const TensorView& a, const TensorView& b) {
    if (a.data != b.data || a.dtype != b.dtype || a.rank != b.rank) return false;
    for (int i = 0; i < a.rank; ++i) {
        if (a.shape[i] != b.shape[i]) return false;
        if (a.shape[i] > 1 && a.strides[i] != b.strides[i]) return false;
    }
    return true;
}

AddressRange addresses_of(const TensorView& view) {
    if (view.data == nullptr || view.is_empty()) return {};
    AddressRange range{reinterpret_cast<intptr_t>(view.data),
                       reinterpret_cast<intptr_t>(view.data)};
    for (int i = 0; i < view.rank; ++i) {
        const int64_t length = (view.shape[i] - 1) * view.strides[i];
        (length < 0 ? range.begin : range.end) += length;
    }
    range.end += data_type_size(view.dtype);
    return range;
}

// Bytes x of a and y of b are equal where, with every stride made positive by counting that
// dimension backwards, sum(a terms) + sum(b terms counted backwards) reaches the distance of the
// two ranges to within an element.
bool share_memory(const TensorView& a, const TensorView& b) {
    const AddressRange range_a = addresses_of(a);
    const AddressRange range_b = addresses_of(b);
    if (!range_a.meets(range_b)) return false;
    Term terms[2 * kMaxRank];
    const int count = add_terms(b, terms, add_terms(a, terms, 0));
    const int64_t size_a = data_type_size(a.dtype);
    const int64_t size_b = data_type_size(b.dtype);
    // a element at range_a.begin + u, b element at (range_b.end - size_b) - v; they meet when
    // -size_b < difference < size_a.
    const __int128 distance = static_cast<__int128>(range_b.end - size_b) - range_a.begin;
    return IntervalSearch(terms, count).contains(distance - (size_a - 1), distance + (size_b - 1));
}

bool overlaps_itself(const TensorView& view) {
    const int64_t size = data_type_size(view.dtype);
    Term terms[2 * kMaxRank];
    for (int i = 0; i < view.rank; ++i) {
        if (view.shape[i] > 1 && view.strides[i] == 0) return true;
    }
    const int count = add_terms(view, terms, 0);
    std::reverse(terms, terms + count);  // mostly the order of memory
    if (are_nested(terms, count, size)) return false;
    std::sort(terms, terms + count,
              [](const Term& a, const Term& b) { return a.coefficient < b.coefficient; });
    if (are_nested(terms, count, size)) return false;
    // Two indices meet when their difference d is not zero and |sum(d * stride)| < size. Take the
    // first dimension with d > 0 in turn, leave out the earlier ones, and shift the later ones to d
    // + bound >= 0.
    for (int first = 0; first < count; ++first) {
        Term shifted[2 * kMaxRank];
        int used = 0;
        __int128 shift = terms[first].coefficient;
        if (terms[first].bound > 1)
            shifted[used++] = {terms[first].coefficient, terms[first].bound - 1};
        for (int i = first + 1; i < count; ++i) {
            shifted[used++] = {terms[i].coefficient, 2 * terms[i].bound};
            shift -= static_cast<__int128>(terms[i].coefficient) * terms[i].bound;
        }
        if (IntervalSearch(shifted, used).contains(-shift - (size - 1), -shift + (size - 1)))
            return true;
    }
    return false;
}

}  // namespace ascend_grad
