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
        const bool pads_one = plan_.width.pad == 1;
        // Where no product is inexact but of tiny elements.
        [[maybe_unused]] const bool by_row = plan_.divides_by_row && uses_reciprocals_;
        with_vectors([&](auto vectors) {
            this->each_plane([&](const T* from, Sink<T>& sink, int64_t writable) {
                if constexpr (kHolds<vectors>) {
                    if (by_row) {
                        return pads_one ? divide_and_write<vectors, 1>(from, writable, sink)
                                        : divide_and_write<vectors, 2>(from, writable, sink);
                    }
                }
                divide<vectors>(from);
                pads_one ? write<vectors, 1>(writable, sink) : write<vectors, 2>(writable, sink);
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
    // Whether rows of quotients may be held in registers. Narrower registers are too few; rows of
    // one vector or two, and of three in bfloat16, take up to 1.3 times as long (Zen 4).
    template <int kVectors>
    static constexpr bool kHolds = kRegisters == 1 &&
                                   (kVectors == 4 ||
                                    (kVectors == 3 && !std::is_same_v<T, BFloat16>));

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
    // Copies of the members that a loop over rows of grad_output reads: compilers would load the
    // members themselves again after each store.
    struct Loads {
        int columns;
        uintptr_t ahead;
        const T* end;  // memory from there on is not touched
    };
    Loads loads_of(const T* plane) const {
        return {columns_, plan_.prefetch, plane + plan_.height.extent * columns_};
    }
    // Calls set(x, Number<v>) for the vectors of a row of grad_output.
    template <int kVectors, class LookAt, class Set>
    static AG_INLINE void load_row(const T* row, const Loads& loads, const LookAt& look_at,
                                   const Set& set) {
        each_number<kVectors>([&](auto v) AG_INLINE_LAMBDA {
            const T* const p = row + v * kLanes;
            if constexpr (!kSplits<kVectors>) {
                prefetch<Cache::kFirst>(p, loads.ahead, 1);
                const int n = v + 1 < kVectors ? kLanes : loads.columns - v * kLanes;
                const Lanes x = load_up_to(p, n, loads.end);
                look_at([&](TinyLanes& tiny) AG_INLINE_LAMBDA { tiny.look_at(x); });
                set(x, v);
            } else if constexpr (v % 2 == 0) {
                prefetch<Cache::kFirst>(p, loads.ahead, 1);
                const int n = v + 2 < kVectors ? kPairLanes : loads.columns - v * kLanes;
                const LanePair x = load_columns(p, n, look_at);
                set(x.low, v);
                set(x.high, Number<v + 1>{});
            }
        });
    }
    template <int kVectors>
    AG_NOINLINE void divide(const T* from) {
        constexpr int kPitch = kVectors * kLanes;
        const Loads loads = loads_of(from);
        this->divide_by(counts_, [&](const auto& quotient, const auto& look_at) AG_INLINE_LAMBDA {
            const uint16_t* counts = counts_of_rows_;
            float* to = quotients_ + kMostPad * kPitch;
            for (const T* row = from; row < loads.end;
                 row += loads.columns, to += kPitch, ++counts) {
                load_row<kVectors>(row, loads, look_at, [&](Lanes x, auto v) AG_INLINE_LAMBDA {
                    store_raw(to + v * kLanes, quotient(x, *counts + v * kLanes));
                });
            }
        });
    }

    template <int kVectors>
    struct Row {
        Lanes vectors[kVectors];
    };
    // Sets the quotients of a row of grad_output, as divide_by() those of a plane.
    template <int kVectors>
    AG_INLINE void divide_row(const T* from, const Loads& loads, int counts,
                              Row<kVectors>& row) const {
        TinyLanes tiny;
        load_row<kVectors>(
            from, loads,
            [&](const auto& look) AG_INLINE_LAMBDA {
                if (kMayBeTiny<T>) look(tiny);
            },
            [&](Lanes x, auto v)
                AG_INLINE_LAMBDA { row.vectors[v] = counts_.by_products(x, counts + v * kLanes); });
        if (!kMayBeTiny<T> || __builtin_expect(!tiny.found(), 1)) return;
        alignas(64) float exact[kVectors * kLanes];
        divide_exactly<kVectors>(from, loads, counts, exact);
        each_number<kVectors>([&](auto v)
                                  AG_INLINE_LAMBDA { row.vectors[v] = load(exact + v * kLanes); });
    }
    // Apart, as it is rare, and to memory: its caller would keep a row there that it returned.
    template <int kVectors>
    AG_NOINLINE void divide_exactly(const T* from, Loads loads, int counts, float* to) const {
        const auto nothing = [](const auto&) AG_INLINE_LAMBDA {};
        load_row<kVectors>(from, loads, nothing, [&](Lanes x, auto v) AG_INLINE_LAMBDA {
            store_raw(to + v * kLanes, counts_.divide(x, counts + v * kLanes));
        });
    }
    // Divides a row of a plane when the first row of results that needs it is written, so that
    // loads from memory go on meanwhile, and holds it until the last one is.
    template <int kVectors, int kPad>
    AG_NOINLINE void divide_and_write(const T* from, int64_t writable, Sink<T>& sink) const {
        constexpr int kHeld = 2 * kPad;
        const Loads loads = loads_of(from);
        const uint16_t* counts = counts_of_rows_;
        const auto divide_next = [&](Row<kVectors>& row) AG_INLINE_LAMBDA {
            if (from < loads.end) {
                divide_row<kVectors>(from, loads, *counts, row);
                ++counts;
                from += loads.columns;
            } else {
                each_number<kVectors>([&](auto v) AG_INLINE_LAMBDA { row.vectors[v] = Lanes{}; });
            }
        };
        Row<kVectors> held[kHeld];
        each_number<kPad>([&](auto k) AG_INLINE_LAMBDA {
            each_number<kVectors>([&](auto v) AG_INLINE_LAMBDA { held[k].vectors[v] = Lanes{}; });
            divide_next(held[kPad + k]);
        });
        this->each_piece(writable, sink, kVectors * kLanes, 1,
                         [&](T* out, const T* end, int n) AG_INLINE_LAMBDA {
                             for (; n > 0; --n, out += loads.columns) {
                                 Row<kVectors> last;
                                 divide_next(last);
                                 Sums<kVectors> sums;
                                 each_number<kVectors>([&](auto v) AG_INLINE_LAMBDA {
                                     Lanes sum = held[0].vectors[v];
                                     each_number<kHeld - 1>([&](auto k) AG_INLINE_LAMBDA {
                                         sum = sum + held[k + 1].vectors[v];
                                         held[k].vectors[v] = held[k + 1].vectors[v];
                                     });
                                     sums.set(v, sum + last.vectors[v]);
                                     held[kHeld - 1].vectors[v] = last.vectors[v];
                                 });
                                 write_row<kVectors, kPad>(out, end, sums);
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
    template <int kPad, int kOffset = kPad, int kVectors>
    static AG_INLINE Lanes add_columns(const Sums<kVectors>& sums, int v) {
        const Lanes x = sums.template beside<kOffset>(v);
        if constexpr (kOffset == -kPad) {
            return x;
        } else {
            return add_columns<kPad, kOffset - 1>(sums, v) + x;
        }
    }
    // The same of the even columns, or the odd ones, that vectors v and v + 1 hold.
    template <int kPad, int kOdd, int kOffset = kPad, int kVectors>
    static AG_INLINE Lanes add_split_columns(const Sums<kVectors>& sums, int v) {
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
