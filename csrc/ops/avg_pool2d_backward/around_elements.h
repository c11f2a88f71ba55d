#pragma once

#include <algorithm>
#include <type_traits>

#include "isa/interleave.h"
#include "isa/shuffle.h"
#include "ops/avg_pool2d_backward/pool_planes.h"

namespace ascend_grad {
namespace {

// Windows of 3 x 3 or 5 x 5 elements around each element of planes without gaps, in rows of at most
// 64 columns: rows of quotients lie in whole vectors with zeros behind, so that neither rows nor
// columns need masks.
template <class T>
class PoolAroundElements : public PoolPlanes<T> {
    using Base = PoolPlanes<T>;
    using Base::plan_;
    using Base::uses_reciprocals_;

  public:
    PoolAroundElements(const AvgPool2dBackward::Plan& plan, void* const* addresses, bool streaming)
        : Base(plan, addresses, streaming), columns_(static_cast<int>(plan.width.extent)) {
        with_vectors([&](auto vectors) {
            constexpr int kPitch = kLanes * vectors;
            const auto rows = static_cast<size_t>(plan.height.extent);
            std::fill_n(quotients_, kMostPad * kPitch, 0.0f);
            std::fill_n(quotients_ + (kMostPad + rows) * kPitch, kMostPad * kPitch, 0.0f);
            prepare_division<vectors>();
        });
    }

    void run() {
        with_vectors([&](auto vectors) {
            this->each_plane([&](const T* from, Sink<T>& sink, int64_t writable) {
                divide<vectors>(from);
                if (plan_.width.pad == 1) return write<vectors, 1>(writable, sink);
                write<vectors, 2>(writable, sink);
            });
        });
    }

  private:
    static constexpr int kMostVectors = static_cast<int>(pool_scratch::kColumnsAround) / kLanes;
    static constexpr int kMostPad = static_cast<int>(pool_scratch::kAround);
    static constexpr int kPlane = static_cast<int>(pool_scratch::kPlane);
    static constexpr int kMostRows = kPlane / static_cast<int>(pool_scratch::kFewestAround);
    // Rows fill half of their vectors or more.
    static constexpr int kMost = 2 * kPlane;
    static_assert(2 * pool_scratch::kFewestAround >= kLanes);
    static constexpr int kMostCounts = 2 * kMostPad + 1;  // of rows
    // Rows whose sums are made before columns of them are: no load waits for a store just made.
    static constexpr int kTogether = kRegisters == 1 ? 1 : 8;
    static constexpr int kMostPitch = kMostVectors * kLanes;

    template <int kNumber>
    using Number = std::integral_constant<int, kNumber>;
    // Whether rows are the even columns and then the odd ones, pair by pair: these take half as
    // many shifts, and of bfloat16 no shuffles.
    template <int kVectors>
    static constexpr bool kSplits = kRegisters == 1 && kVectors % 2 == 0;

    template <class Function>
    AG_INLINE void with_vectors(const Function& function) {
        static_assert(kMostVectors == 4);
        if (columns_ <= kLanes) return function(Number<1>{});
        if (columns_ <= 2 * kLanes) return function(Number<2>{});
        if (columns_ <= 3 * kLanes) return function(Number<3>{});
        function(Number<4>{});
    }

    template <int kVectors>
    void prepare_division() {
        bool is_set[kMostCounts] = {};
        for (int r = 0; r < plan_.height.extent; ++r) {
            const auto rows = static_cast<int>(plan_.height.counted(r, plan_.count_include_pad));
            const int set = plan_.divisor != 0.0f ? 0 : rows - 1;
            counts_of_rows_[r] = static_cast<uint16_t>(set * kVectors * kLanes);
            if (!is_set[set]) set_counts<kVectors>(set, static_cast<float>(rows));
            is_set[set] = true;
        }
    }
    template <int kVectors>
    void set_counts(int set, float rows) {
        float count_before = 0.0f;
        int place_before = 0;
        for (int c = 0; c < kVectors * kLanes; ++c) {
            int place = set * kVectors * kLanes + c;
            if (kSplits<kVectors>) place += c % 2 * kLanes + c % kPairLanes / 2 - c % kPairLanes;
            float count = plan_.divisor;
            if (count == 0.0f)
                count = c < columns_ ? rows * counted(plan_.width, plan_.count_include_pad, c) : 1;
            if (count == count_before) {
                counts_.copy(place, place_before, uses_reciprocals_);
            } else {
                counts_.set(place, count, uses_reciprocals_);
            }
            count_before = count;
            place_before = place;
        }
    }
    // The first n elements, and zeros; memory from `end` on is not touched.
    static AG_INLINE Lanes load_up_to(const T* p, int n, [[maybe_unused]] const T* end) {
        if (n == kLanes) return load(p);
#if !defined(__AVX512F__)
        if (p + kLanes <= end) return keep_first(load(p), n);
#endif
        return load_first(p, n);
    }
#if defined(__AVX512F__)
    // Of the first n elements of 32, and zeros, the even columns and the odd ones.
    template <class LookAt>
    static AG_INLINE LanePair load_columns(const T* p, int n, const LookAt& look_at) {
        if constexpr (std::is_same_v<T, BFloat16>) {
            const __m512i bits = n == kPairLanes ? _mm512_loadu_si512(p)
                                                 : _mm512_maskz_loadu_epi16(first_pair_lanes(n), p);
            look_at([&](TinyLanes& tiny) AG_INLINE_LAMBDA { tiny.look_at_bfloat16(bits); });
            return split(bits, BFloat16{});
        } else {
            const LanePair x = n == kPairLanes ? load_pair(p) : load_first_pair(p, n);
            look_at([&](TinyLanes& tiny) AG_INLINE_LAMBDA {
                tiny.look_at(x.low);
                tiny.look_at(x.high);
            });
            return split(x);
        }
    }
#endif
    template <int kVectors>
    AG_NOINLINE void divide(const T* from) {
        constexpr int kPitch = kVectors * kLanes;
        const int columns = columns_;
        const T* const end = from + plan_.height.extent * columns;
        const uintptr_t ahead = plan_.prefetch;
        this->divide_by(counts_, [&](const auto& quotient, const auto& look_at) AG_INLINE_LAMBDA {
            const uint16_t* counts = counts_of_rows_;
            float* to = quotients_ + kMostPad * kPitch;
            const auto set = [&](Lanes x, int i)
                                 AG_INLINE_LAMBDA { store_raw(to + i, quotient(x, *counts + i)); };
            for (const T* row = from; row < end; row += columns, to += kPitch, ++counts) {
                AG_EACH (v, kVectors) {
                    const int begin = v * kLanes;
                    const T* const p = row + begin;
                    if constexpr (!kSplits<kVectors>) {
                        prefetch<Cache::kFirst>(p, ahead, 1);
                        const Lanes x =
                            load_up_to(p, v + 1 < kVectors ? kLanes : columns - begin, end);
                        look_at([&](TinyLanes& tiny) AG_INLINE_LAMBDA { tiny.look_at(x); });
                        set(x, begin);
                    } else if (v % 2 == 0) {
                        prefetch<Cache::kFirst>(p, ahead, 1);
                        const int n = v + 2 < kVectors ? kPairLanes : columns - begin;
                        const LanePair x = load_columns(p, n, look_at);
                        set(x.low, begin);
                        set(x.high, begin + kLanes);
                    }
                }
            }
        });
    }

    // A row's sums over the rows of its windows.
    template <int kVectors>
    class Sums {
      public:
#if defined(__AVX512F__)
        AG_INLINE void set(int v, Lanes sum) {
            vectors_[v] = sum;
        }
        // Those kOffset lanes from the ones of vector v on.
        template <int kOffset>
        AG_INLINE Lanes beside(int v) const {
            constexpr int kNext = kSplits<kVectors> ? 2 : 1;  // to the vector of the next columns
            const bool is_first = v < kNext, is_last = v + kNext >= kVectors;
            if constexpr (kOffset < 0) {
                const Lanes before = is_first ? Lanes{} : vectors_[is_first ? v : v - kNext];
                return joined<kLanes + kOffset>(before, vectors_[v]);
            } else if constexpr (kOffset > 0) {
                const Lanes after = is_last ? Lanes{} : vectors_[is_last ? v : v + kNext];
                return joined<kOffset>(vectors_[v], after);
            } else {
                return vectors_[v];
            }
        }

      private:
        Lanes vectors_[kVectors];
#else
        Sums() {
            set(-1, {});
            set(kVectors, {});
        }
        AG_INLINE void set(int v, Lanes sum) {
            store_raw(floats_ + (v + 1) * kLanes, sum);
        }
        template <int kOffset>
        AG_INLINE Lanes beside(int v) const {
            return load(floats_ + (v + 1) * kLanes + kOffset);
        }

      private:
        float floats_[(kVectors + 2) * kLanes];  // zeros before and behind
#endif
    };
    template <int kVectors, int kPad>
    AG_NOINLINE void write(int64_t writable, Sink<T>& sink) const {
        constexpr int kPitch = kVectors * kLanes;
        const float* from = quotients_ + (kMostPad - kPad) * kPitch;
        Sums<kVectors> sums[kTogether];
        this->each_piece(writable, sink, kPitch, 1,
                         [&](T* out, const T* end, int rows) AG_INLINE_LAMBDA {
                             for (int r = 0; r < rows; r += kTogether) {
                                 const int n = kTogether < rows - r ? kTogether : rows - r;
                                 for (int i = 0; i < n; ++i, from += kPitch) {
                                     AG_EACH (v, kVectors) {
                                         const float* p = from + v * kLanes;
                                         Lanes sum = load(p);
                                         AG_EACH (k, 2 * kPad)
                                             sum = sum + load(p + (k + 1) * kPitch);
                                         sums[i].set(v, sum);
                                     }
                                 }
                                 for (int i = 0; i < n; ++i, out += columns_)
                                     write_row<kVectors, kPad>(out, end, sums[i]);
                             }
                         });
    }
    template <int kVectors, int kPad>
    AG_INLINE void write_row(T* out, const T* end, const Sums<kVectors>& sums) const {
        const bool is_whole = out + kVectors * kLanes <= end;
        AG_EACH (i, kVectors / 2) {
            const auto x = pair_of_columns<kVectors, kPad>(sums, 2 * i);
            this->store_part(out + i * kPairLanes, x, 2 * i + 2 < kVectors || is_whole,
                             columns_ - i * kPairLanes);
        }
        if constexpr (kVectors % 2 != 0) {
            const Lanes x = add_columns<kPad>(sums, kVectors - 1);
            T* const to = out + (kVectors - 1) * kLanes;
            prefetch_stores(to, kLanes);
            if (is_whole) {
                store(to, x);
            } else {
                store_first(to, x, columns_ - (kVectors - 1) * kLanes);
            }
        }
    }
    template <int kVectors, int kPad>
    static AG_INLINE typename Packed<T>::Type pair_of_columns(const Sums<kVectors>& sums, int v) {
        if constexpr (kSplits<kVectors>) {
            return pack_interleaved<T>(
                {add_split_columns<kPad, 0>(sums, v), add_split_columns<kPad, 1>(sums, v)});
        } else {
            return pack<T>({add_columns<kPad>(sums, v), add_columns<kPad>(sums, v + 1)});
        }
    }
    // The columns beside each of vector v, from the first to kOffset.
    template <int kPad, int kOffset = kPad, class Row>
    static AG_INLINE Lanes add_columns(const Row& sums, int v) {
        const Lanes x = sums.template beside<kOffset>(v);
        if constexpr (kOffset == -kPad) {
            return x;
        } else {
            return add_columns<kPad, kOffset - 1>(sums, v) + x;
        }
    }
    // The same of the even columns, or the odd ones, that vectors v and v + 1 hold.
    template <int kPad, int kOdd, int kOffset = kPad, class Row>
    static AG_INLINE Lanes add_split_columns(const Row& sums, int v) {
        constexpr int kColumn = kOdd + kOffset, kParity = kColumn & 1;
        const Lanes x = sums.template beside<(kColumn - kParity) / 2>(v + kParity);
        if constexpr (kOffset == -kPad) {
            return x;
        } else {
            return add_split_columns<kPad, kOdd, kOffset - 1>(sums, v) + x;
        }
    }

    const int columns_;
    PoolCounts<kMostCounts * kMostPitch> counts_;
    uint16_t counts_of_rows_[kMostRows];  // where they lie
    alignas(64) float quotients_[kMost + 2 * kMostPad * kMostPitch];
};

}  // namespace
}  // namespace ascend_grad
