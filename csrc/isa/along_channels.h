// The loops of a ChannelSumPlan where neighbours in memory are channels.
#pragma once

#include <limits>

#include "isa/channel_memory.h"
#include "isa/lane_sums.h"
#include "isa/prefetch.h"
#include "isa/stream.h"
#include "isa/transpose.h"
#include "isa/tree_sums.h"

namespace ascend_grad {
namespace {

template <class Element>
class AlongChannels {
    using T = typename Element::T;
    static constexpr int kSums = Element::kSums;
    static constexpr int kOperands = Element::kWrites ? 3 : 2;
    using OfRun = typename LaneSums<kSums>::Run;
    static constexpr int kGroup = static_cast<int>(kPositionGroup);
    static constexpr int kMostOfLane = static_cast<int>(kFewChannelsGroup / kSumLanes);

  public:
    // Outputs of positions by channels, on their way to be transposed: so many lines that runs past
    // the caches have 256 bytes (measured).
    static constexpr int kResultLines = sizeof(T) == 2 ? 128 : 64;
    static constexpr int kResultPitch = static_cast<int>(kTransposed) + kPairLanes;
    static_assert(kGroup <= kResultLines);

    // `result` has kResultLines * kResultPitch elements if the plan transposes outputs.
    AlongChannels(const ChannelMemory& memory, ChannelStage<T, kOperands>& stage,
                  const Element& element, bool streaming, T* result)
        : memory_(memory),
          stage_(stage),
          plan_(memory.plan),
          element_(element),
          streaming_(streaming),
          result_(result) {}

    // Begins a block of channels [first, first + count).
    void begin(int64_t first, int count, const float* parameters) {
        channel_ = first;
        channels_ = count;
        parameters_ = parameters;
        head_ = 0;
        if (plan_.aligns) {
            const char* of_first = memory_.address(kOperands - 1, first, 0);
            head_ = elements_to_line(reinterpret_cast<const T*>(of_first), kPairLanes);
        }
        if (head_ > 0) {
            // Aligned from the head on.
            const size_t n = static_cast<size_t>(plan_.lanes_together * count);
            std::memcpy(own_parameters_ + kPairLanes - head_, parameters, sizeof(float) * n);
            parameters_ = own_parameters_ + kPairLanes - head_;
        }
        lanes_.begin(count, plan_.lanes_together, head_);
    }
    // Adds positions [begin, begin + length) of a row; begin is a multiple of 16.
    void add(int64_t row, int64_t begin, int64_t length) {
        const int64_t whole = plan_.by_lane ? length / kGroup * kGroup : 0;
        if (whole > 0) lane_by_lane(row, begin, whole / kGroup);
        if (whole < length) group_by_group(row, begin + whole, length - whole);
    }
    // Of a block of few positions: stores the sums of the first channels, whole pairs of vectors,
    // and returns how many. The others need begin(), add() and finish(). Sums of zeros may be -0.
    int sum_few(int64_t first, int count, const float* parameters, const Partials& partials,
                int64_t block) {
        if (kIsCompact || !plan_.has_few || streaming_) return 0;
        channel_ = first;
        char* at[kFewPositions][kOperands];
        const int positions = static_cast<int>(plan_.row_length);
        for (int i = 0; i < positions; ++i) {
            const OfLane lane = of_lane(0, i, 1);
            std::memcpy(at[i], lane.at[0], sizeof(at[i]));
        }
        float* to[kSums];
        for (int k = 0; k < kSums; ++k) to[k] = partials.of(plan_, block, k, first);
        const int taken = count / kPairLanes * kPairLanes;
        with_constant(positions == 1, [&](auto is_one) {
            if constexpr (!kIsCompact) sum_pairs(at, is_one ? 1 : positions, parameters, taken, to);
        });
        return taken;
    }
    // The block's sums: to[k] gets one of them of every channel.
    void finish(float* const (&to)[kSums]) { lanes_.add_lanes(to); }

  private:
    // Of a pair of vectors of channels.
    struct Terms {
        LanePair of[kSums];

        AG_INLINE static Terms load_from(const float* sums) {
            Terms terms;
            AG_EACH (k, kSums) terms.of[k] = load_pair(sums + k * kPairLanes);
            return terms;
        }
        AG_INLINE void store_to(float* sums) const {
            AG_EACH (k, kSums) {
                store_raw(sums + k * kPairLanes, of[k].low);
                store_raw(sums + k * kPairLanes + kLanes, of[k].high);
            }
        }
        AG_INLINE friend Terms operator+(const Terms& a, const Terms& b) {
            Terms sum;
            AG_EACH (k, kSums) sum.of[k] = a.of[k] + b.of[k];
            return sum;
        }
    };
    // Returns what is written.
    AG_INLINE LanePair terms_of(LanePair x, LanePair y, LanePair p, Terms& terms) const {
        Lanes low[kSums], high[kSums];
        const LanePair value = {element_(x.low, y.low, p.low, low),
                                element_(x.high, y.high, p.high, high)};
        AG_EACH (k, kSums) terms.of[k] = {low[k], high[k]};
        return value;
    }
    // Of the first channels, whole pairs.
    AG_INLINE void sum_pairs(char* const (*at)[kOperands], int positions, const float* parameters,
                             int channels, float* const (&to)[kSums]) const {
        for (int c = 0; c < channels; c += kPairLanes) {
            const Terms sums = sums_of_few(at, positions, load_pair(parameters + c), c);
            AG_EACH (k, kSums) {
                store_raw(to[k] + c, sums.of[k].low);
                store_raw(to[k] + c + kLanes, sums.of[k].high);
            }
        }
    }
    // Of the pair of vectors of channels from c on.
    AG_INLINE Terms sums_of_few(char* const (*at)[kOperands], int positions, LanePair p,
                                int c) const {
        const auto terms_at = [&](int i) AG_INLINE_LAMBDA {
            const T* a = reinterpret_cast<const T*>(at[i][0]) + c;
            const T* b = reinterpret_cast<const T*>(at[i][1]) + c;
            Terms terms;
            const LanePair value = terms_of(load_pair(a), load_pair(b), p, terms);
            if (Element::kWrites) store_pair(reinterpret_cast<T*>(at[i][kOperands - 1]) + c, value);
            return terms;
        };
        return add_lines<1>(0, positions, [&](int lane) AG_INLINE_LAMBDA {
            Terms sum = terms_at(lane);
            for (int i = lane + kLanes; i < positions; i += kLanes) sum = sum + terms_at(i);
            return sum;
        });
    }

    // The positions of a group that go to one lane.
    struct OfLane {
        int count = 0;
        char* at[kMostOfLane][kOperands];
    };
    // Every sixteenth of n positions from `first` on.
    OfLane of_lane(int64_t row, int64_t first, int64_t n) const {
        OfLane positions;
        for (int64_t p = 0; p < n; p += kSumLanes) {
            int64_t offset[Loops::kMaxOperands];
            plan_.positions.offsets(first + p, offset);
            char** at = positions.at[positions.count++];
            for (int k = 0; k < kOperands; ++k) {
                at[k] = plan_.staged[k] ? stage_.line(k, first + p - staged_)
                                        : memory_.address(k, channel_, row) + offset[k];
            }
        }
        return positions;
    }

    // Lines are asked for from so many bytes further on or, from some element on, from elsewhere.
    struct Turn {
        int first = std::numeric_limits<int>::max();  // element, of inputs
        int first_stored = std::numeric_limits<int>::max();
        uintptr_t to[kOperands] = {};  // bytes from an element to what is asked for

        // From element c.
        AG_INLINE uintptr_t loads(int operand, int c, uintptr_t along) const {
            return c >= first ? to[operand] : along;
        }
        AG_INLINE uintptr_t stores(int c) const {
            return c >= first_stored ? to[kOperands - 1] : kStoresAhead;
        }
    };

    // Whole groups, lane by lane, so that its sums stay in the nearest cache.
    void lane_by_lane(int64_t row, int64_t begin, int64_t groups) {
        for (int64_t i = 0; i < kSumLanes * groups; ++i) {
            const int64_t lane = i / groups, next = i + 1;
            const OfLane positions =
                of_lane(row, begin + i % groups * kGroup + lane, kGroup - lane);
            add_positions(positions, static_cast<int>(lane), 1,
                          turn_to(positions, row, begin + next % groups * kGroup + next / groups));
        }
    }
    // From the end of a lane's runs to position `next`.
    Turn turn_to(const OfLane& positions, int64_t row, int64_t next) const {
        constexpr auto kSize = static_cast<int64_t>(sizeof(T));
        const int64_t run = channels_ * kSize;
        const auto first = [&](int64_t ahead) { return static_cast<int>((run - ahead) / kSize); };
        const int64_t loads = least(plan_.prefetch, run);
        const int64_t stores = least(int64_t{kStoresAhead}, run);
        int64_t offset[Loops::kMaxOperands];
        plan_.positions.offsets(next, offset);
        Turn turn;
        turn.first = first(loads);
        if (!plan_.transposes) turn.first_stored = first(stores);
        for (int k = 0; k < kOperands; ++k) {
            if (plan_.staged[k]) continue;  // what a tile has is near
            if (!plan_.by_lane && !plan_.is_apart[k]) {
                turn.to[k] = k < 2 ? static_cast<uintptr_t>(plan_.prefetch) : kStoresAhead;
                continue;
            }
            const char* const at = memory_.address(k, channel_, row) + offset[k];
            const int64_t ahead = k < 2 ? loads : stores;
            turn.to[k] = static_cast<uintptr_t>(at - positions.at[0][k] + ahead - run);
        }
        return turn;
    }
    // The same from lane `lane` of the n positions from `first` on to a later one before `end`, if
    // there is one with about `prefetch` bytes between them.
    Turn turn_to(const OfLane& positions, int64_t row, int64_t first, int n, int lane,
                 int64_t end) const {
        const int64_t run = channels_ * static_cast<int64_t>(sizeof(T));
        const int64_t later = lane + greatest(1, plan_.prefetch / run);
        const int64_t position = first + later / kSumLanes * n + later % kSumLanes;
        return turn_to(positions, row, least(position, end - 1));
    }

    // Groups of positions, so that a lane's sum is loaded and stored once for several of them.
    void group_by_group(int64_t row, int64_t begin, int64_t length) {
        int held = 0;  // positions whose outputs wait in result_
        int n;
        for (int64_t done = 0; done < length; done += n) {
            n = static_cast<int>(least(plan_.position_group, length - done));
            if (done == 0 && plan_.transposes) n = up_to_line(row, begin, n);
            if (n > kSumLanes) n -= n % kSumLanes;
            staged_ = begin + done;
            if (plan_.stages) stage_.load(channel_, channels_, row, staged_, n);
            // Neighbouring positions of neighbouring lanes are walked as one with more channels.
            const int lanes = plan_.lanes_together;
            for (int lane = 0; lane < kSumLanes && lane < n; lane += lanes) {
                OfLane positions = of_lane(row, begin + done + lane, n - lane);
                Turn turn;
                if (plan_.asks_apart)
                    turn = turn_to(positions, row, begin + done, n, lane, begin + length);
                if (Element::kWrites && plan_.transposes) {
                    for (int i = 0; i < positions.count; ++i)
                        positions.at[i][kOperands - 1] = reinterpret_cast<char*>(
                            result_ + (held + lane + i * kSumLanes) * result_pitch());
                }
                add_positions(positions, lane, static_cast<int>(least(lanes, n - lane)), turn);
            }
            if (plan_.stages) stage_.store(channel_, channels_, row, staged_, n);
            if constexpr (Element::kWrites) {
                if (!plan_.transposes) continue;
                held += n;
                // Measured: of float, few channels do best group by group, which is a line where
                // they are read in the order of memory.
                const bool is_by_line = sizeof(T) == 4 && plan_.lanes_together == kSumLanes;
                const bool has_room = !is_by_line && n == plan_.position_group &&
                                      held + plan_.position_group <= kResultLines;
                if (streaming_ && has_room && done + n < length) continue;
                const int64_t first = begin + done + n - held;
                store_held(row, first, held);
                held = 0;
            }
        }
    }
    // Where the output of a walked channel and position is, of a result that lies across the
    // inputs.
    char* result_address(int64_t channel, int64_t row, int64_t position) const {
        int64_t outer = 0;
        if (plan_.rows_as_channels != RowsAsChannels::kNot) {
            outer = channel / plan_.inner;
            channel %= plan_.inner;
        }
        return memory_.address(2, channel, row) + outer * plan_.outer_stride +
               position * static_cast<int64_t>(sizeof(T));
    }
    // The outputs that wait, of positions from `first` on.
    void store_held(int64_t row, int64_t first, int held) {
        const int64_t stride = plan_.channel_stride[2];
        const bool is_one_run = plan_.rows_as_channels == RowsAsChannels::kNot ||
                                plan_.outer_stride == plan_.inner * stride;
        for (int c = 0, n; c < channels_; c += n) {
            n = channels_ - c;
            if (!is_one_run)
                n = static_cast<int>(least(plan_.inner - (channel_ + c) % plan_.inner, n));
            store_columns(result_address(channel_ + c, row, first), stride, result_ + c,
                          result_pitch(), held, n, streaming_);
        }
    }
    // Of positions that are walked together outputs follow each other, too.
    int result_pitch() const { return plan_.lanes_together > 1 ? channels_ : kResultPitch; }
    // At most n positions, a multiple of 16 where that ends where a cache line of the output does.
    int up_to_line(int64_t row, int64_t begin, int n) const {
        constexpr auto kSize = static_cast<int64_t>(sizeof(T));
        const int64_t rest = bytes_to_line(result_address(channel_, row, begin)) / kSize;
        return rest > 0 && rest % kSumLanes == 0 ? static_cast<int>(least(rest, n)) : n;
    }

    // Adds positions to the sums of `lanes` lanes, which are walked together.
    void add_positions(const OfLane& positions, int lane, int lanes, const Turn& turn = {}) {
        const int elements = lanes * channels_;
        const OfRun run = lanes_.run(lane, lanes);
        with_constant(plan_.prefetch != 0, [&](auto asks) {
            static_assert(kGroup / kSumLanes == 4);
            if constexpr (kIsCompact) {
                add_positions<0>(positions, run, elements, turn, asks);
            } else {
                switch (positions.count) {
                    case 1:
                        return add_positions<1>(positions, run, elements, turn, asks);
                    case 2:
                        return add_positions<2>(positions, run, elements, turn, asks);
                    case 3:
                        return add_positions<3>(positions, run, elements, turn, asks);
                    case 4:
                        return add_positions<4>(positions, run, elements, turn, asks);
                    default:
                        return add_positions<0>(positions, run, elements, turn, asks);
                }
            }
        });
    }
    // kCount: their number, 0 for any. The loop has copies of what add_part() gets, or a store
    // might change these.
    template <int kCount, class Flag>
    AG_NOINLINE void add_positions(const OfLane& positions, const OfRun& run, int elements,
                                   const Turn& turn, Flag asks) {
        constexpr int kMost = kCount > 0 ? kCount : kMostOfLane;
        const int count = kCount > 0 ? kCount : positions.count;
        char* at[kMost][kOperands];
        // One by one: a vector of them would be loaded from where they have just been stored.
#pragma GCC unroll(4)
        for (int i = 0; i < count; ++i)
            AG_EACH (k, kOperands) at[i][k] = positions.at[i][k];
        const Turn own_turn = turn;
        const auto ahead = static_cast<uintptr_t>(plan_.prefetch);
        const bool into_second = plan_.asks_into_second, streams = streams_lines();
        float* sums = run.sums;
        const bool continues = run.continues;
        const float* const parameters = parameters_;
        int c = head_;
        if (head_ > 0) {
            add_part(positions, {sums, continues}, turn, 0, head_);
            sums += kSums * (kPairLanes - head_);
        }
        for (; c + kPairLanes <= elements; c += kPairLanes) {
            add_pair(at, count, {sums + kSums * c, continues}, load_pair(parameters + c), ahead,
                     own_turn, asks, into_second, streams, c);
        }
        if (c < elements) add_part(positions, {sums + kSums * c, continues}, turn, c, elements - c);
    }
    bool streams_lines() const {
        return Element::kWrites && streaming_ && !plan_.transposes;
    }
    // Elements [c, c + kPairLanes), whose sums `to` are; p are their parameters.
    template <class Flag>
    AG_INLINE void add_pair(char* const (*at)[kOperands], int count, OfRun to, LanePair p,
                            uintptr_t ahead, const Turn& turn, Flag asks, bool into_second,
                            bool streams, int c) const {
        Terms sum = to.continues ? Terms::load_from(to.sums) : Terms{};
        const uintptr_t of_first = turn.loads(0, c, ahead), of_second = turn.loads(1, c, ahead);
        const uintptr_t of_result = Element::kWrites ? turn.stores(c) : 0;
#pragma GCC unroll(kIsCompact ? 1 : 4)
        for (int i = 0; i < count; ++i) {
            const T* pa = reinterpret_cast<const T*>(at[i][0]) + c;
            const T* pb = reinterpret_cast<const T*>(at[i][1]) + c;
            if (asks) ask(pa, pb, of_first, of_second, into_second);
            Terms terms;
            const LanePair value = terms_of(load_pair(pa), load_pair(pb), p, terms);
            if (Element::kWrites) {
                T* po = reinterpret_cast<T*>(at[i][kOperands - 1]) + c;
                // On Zen 4, which asks into the second cache, this was not measured.
                if (!streams && !into_second) prefetch_stores(po, kPairLanes, of_result);
                streams ? stream_store_pair(po, value) : store_pair(po, value);
            }
            sum = sum + terms;
        }
        sum.store_to(to.sums);
    }
    // The same of [c, c + n), less than a pair of vectors.
    AG_NOINLINE void add_part(const OfLane& positions, OfRun to, const Turn& turn, int c, int n) {
        const LanePair p = load_first_pair(parameters_ + c, n);
        Terms sum = to.continues ? Terms::load_from(to.sums) : Terms{};
        const auto ahead = static_cast<uintptr_t>(plan_.prefetch);
        const uintptr_t of_first = turn.loads(0, c, ahead), of_second = turn.loads(1, c, ahead);
        const bool streams = streams_lines();
        for (int i = 0; i < positions.count; ++i) {
            const T* pa = reinterpret_cast<const T*>(positions.at[i][0]) + c;
            const T* pb = reinterpret_cast<const T*>(positions.at[i][1]) + c;
            if (plan_.prefetch != 0) ask(pa, pb, of_first, of_second, plan_.asks_into_second);
            Terms terms;
            const LanePair value =
                terms_of(load_first_pair(pa, n), load_first_pair(pb, n), p, terms);
            sum = sum + terms;
            if (!Element::kWrites) continue;
            T* po = reinterpret_cast<T*>(positions.at[i][kOperands - 1]) + c;
            if (streams) {
                T part[kPairLanes];
                store_pair(part, value);
                parts_.write(reinterpret_cast<char*>(po), reinterpret_cast<const char*>(part),
                             n * static_cast<int64_t>(sizeof(T)));
            } else {
                store_first_pair(po, value, n);
            }
        }
        sum.store_to(to.sums);
    }
    AG_INLINE static void ask(const T* pa, const T* pb, uintptr_t of_first, uintptr_t of_second,
                              bool into_second) {
        prefetch(pa, of_first, kPairLanes * sizeof(T), into_second);
        prefetch(pb, of_second, kPairLanes * sizeof(T), into_second);
    }

    const ChannelMemory& memory_;
    ChannelStage<T, kOperands>& stage_;
    const ChannelSumPlan& plan_;
    const Element& element_;
    const bool streaming_;
    T* const result_;
    int64_t staged_ = 0;  // the position with which the stage begins
    int64_t channel_ = 0;
    int channels_ = 0;
    int head_ = 0;  // elements of a run before the first whole cache line
    const float* parameters_ = nullptr;
    LaneSums<kSums> lanes_;
    LineParts parts_;
    alignas(64) float own_parameters_[kPairLanes + kRunElements];
};

}  // namespace
}  // namespace ascend_grad
