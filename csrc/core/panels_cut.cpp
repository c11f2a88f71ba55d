#include "core/panels.h"

#include <algorithm>

#include "core/cache_line.h"
#include "core/integers.h"
#include "core/parallel.h"
#include "core/processor.h"
#include "core/streaming.h"

namespace ascend_grad {
namespace {

// Of all copied panels, so that they stay in the second cache; but of one, what whole axes take may
// be more, and so may lines of neighbours, or all that would be parts of lines (measured). Less
// where threads would get few panels.
constexpr int64_t kCopiedBytes = 384 << 10, kMostBytes = 16 << 20, kMostLineBytes = 1 << 20;
constexpr int64_t kLeastPanelBytes = 16 << 10, kPanelsPerThread = 4;
// Of each of several threads, where they leave the second cache; a single thread may have one.
constexpr int64_t kLeastPanels = 2;
// One thread of panels does as much as so many without (measured: 1.6 to 6).
constexpr int64_t kWorthThreads = 4;
// Of all threads' panels, but for the first one's.
constexpr int64_t kMostScratch = 256 << 20;
// Of an operand: what fits a tile loses nothing by it (measured).
constexpr int64_t kFewElements = kStagedElements / 2;
// Of neighbours in memory, if there are as many, before boxes are made even: shorter runs are no
// gain.
constexpr int64_t kShortestRun = kCacheLine / 2;
// Of an operand that is not copied, if copied ones have no more than the usual, or so many bytes.
constexpr int64_t kRunInPlace = 4096, kLargeBytes = 8 << 20;
// Panels along an axis, at least, so that another one is no loss (measured).
constexpr int64_t kLeastLed = 8;
// Of results that do not begin with lines: where longer, parts of lines at their ends are few
// enough to go past the caches (measured).
constexpr int64_t kStreamedRun = 512;
// Of all operands, so that the next panel's lines stay in the second cache, too.
constexpr int64_t kMostAsked = 512 << 10;
// Behind an operand's panel: those of powers of two compete for the same places of a cache.
constexpr int64_t kGap = 5 * kCacheLine;

// Whether every operand's copied panel has at most so many bytes.
bool fits(const Panels& panels, int64_t most) {
    for (int k = 0; k < panels.operands; ++k)
        if (panels.copied[k] && panels.elements(k) > most / panels.size[k]) return false;
    return true;
}

// Lengthens the operands' runs in memory, the shortest first, while copied panels have at most so
// many bytes: `most`, or as the other two say for neighbours of a line and for runs in place.
void grow(Panels& panels, int64_t most, int64_t most_of_line, int64_t most_in_place) {
    bool is_done[Loops::kMaxOperands] = {};
    for (;;) {
        int operand = -1, axis = -1;
        int64_t shortest = 0;
        for (int k = 0; k < panels.operands; ++k) {
            int next;
            const int64_t run = panels.run(k, next);
            if (is_done[k] || next < 0 || (operand >= 0 && run >= shortest)) continue;
            operand = k;
            axis = next;
            shortest = run;
        }
        if (operand < 0) return;
        int64_t& box = panels.box[axis];
        const int64_t before = box, extent = panels.axis[axis].extent[operand];
        // Neighbours up to a line, and runs that are walked, count more than what else fits.
        const bool is_part_of_line =
            shortest < kCacheLine &&
            magnitude(panels.axis[axis].stride[operand]) == shortest / before;
        int64_t room = most;
        if (panels.copied[operand] && is_part_of_line) room = most_of_line;
        if (!panels.copied[operand] && shortest < kRunInPlace) room = most_in_place;
        box = std::min(extent, 2 * before);
        if (fits(panels, room)) continue;
        box = before;
        is_done[operand] = true;
    }
}

// Of the boxes as they are.
int64_t count_panels(const Panels& panels) {
    int64_t count = 1;
    for (int i = 0; i < panels.axes; ++i)
        if (!panels.axis[i].is_whole) count *= panels.count_along(i);
    return count;
}

// Whether every operand's runs have so many bytes, or all that there are.
bool has_runs(const Panels& panels, int64_t fewest) {
    for (int k = 0; k < panels.operands; ++k) {
        int next;
        if (panels.run(k, next) < fewest && next >= 0) return false;
    }
    return true;
}

// How many threads had better share the panels. Those along the outermost axis that is cut each
// write a part of what lies along it, as often as there is more outside.
int sharing_threads(const Panels& panels, int64_t bytes) {
    const int output = panels.operands - 1;
    const auto stride = [&](int i) { return magnitude(panels.axis[i].stride[output]); };
    const auto extent = [&](int i) { return panels.axis[i].extent[output]; };
    int cut = -1;
    for (int i = 0; i < panels.axes; ++i) {
        const bool is_cut = !panels.axis[i].is_whole && panels.box[i] < extent(i);
        if (is_cut && (cut < 0 || stride(i) > stride(cut))) cut = i;
    }
    if (cut < 0 || !panels.writes) return kAnyThreads;
    for (int i = 0; i < panels.axes; ++i) {
        if (extent(i) > 1 && stride(i) > stride(cut)) {
            const int64_t run = saturated_bytes(extent(cut), stride(cut));
            return threads_for_written_runs(saturated_bytes(run, panels.operands), bytes);
        }
    }
    return kAnyThreads;
}

// The axis along which the output's cache lines lie, if panels can have whole ones; else -1.
int axis_of_lines(const Panels& panels) {
    const int output = panels.operands - 1;
    const int64_t size = panels.size[output];
    int result = -1;
    for (int i = 0; i < panels.axes; ++i) {
        const PanelAxis& axis = panels.axis[i];
        const int64_t stride = axis.stride[output];
        if (axis.extent[output] == 1 || stride % kCacheLine == 0) continue;
        if (stride != size || panels.extent(i, output) * size < kCacheLine) return -1;
        result = i;
    }
    return result;
}

// Has panels end where the output's cache lines do. False, with nothing done, where they cannot, or
// where one more of a few along that axis would cost more than whole lines gain.
bool align_to_lines(Panels& panels, const void* output) {
    const int i = axis_of_lines(panels);
    const int64_t size = panels.size[panels.operands - 1];
    const auto behind = static_cast<int64_t>(reinterpret_cast<uintptr_t>(output) % kCacheLine);
    if (i < 0 || behind % size != 0) return false;
    const PanelAxis& axis = panels.axis[i];
    const int64_t line = kCacheLine / size, lead = behind / size;
    if (axis.is_whole || panels.box[i] >= axis.extent[0]) return lead == 0;
    const int64_t box = round_up(panels.box[i], line);
    if (line % axis.unit != 0 || lead % axis.unit != 0) return false;
    if (lead > 0 && axis.extent[0] < kLeastLed * box) return false;
    panels.box[i] = box;
    panels.line_axis = i;
    panels.lead = lead;
    return true;
}

// Boxes of about equal size, and where operands' are in a share's scratch.
void make_even(Panels& panels, const void* output, int64_t bytes) {
    for (int i = 0; i < panels.axes; ++i) {
        const PanelAxis& axis = panels.axis[i];
        if (axis.is_whole) continue;
        int64_t& box = panels.box[i];
        box = round_up(even_part(axis.extent[0], box), axis.unit);
        while (panels.are_equal && axis.extent[0] % box != 0) box -= axis.unit;
    }
    const int last = panels.operands - 1, nearest = panels.nearest(last);
    const bool has_long_runs =
        nearest >= 0 && panels.axis[nearest].stride[last] == panels.size[last] &&
        panels.run(last) >= kStreamedRun && streaming_pays(bytes, false, Gain::kOnceNotKept);
    panels.streams = panels.streams && (align_to_lines(panels, output) || has_long_runs);
    panels.count = count_panels(panels);
    int64_t end = 0;
    for (int k = 0; k < panels.operands; ++k) {
        panels.scratch[k] = end;
        if (!panels.copied[k]) continue;
        end += round_up(panels.elements(k) * panels.size[k], Panels::kAlignment) + kGap;
    }
    panels.scratch[panels.operands] = end;
}

}  // namespace

bool cut_into_panels(Panels& panels, const PanelAxis* axes, int count, const DataType* dtypes,
                     int operands, bool writes, const void* output, int64_t bytes) {
    if (count > Panels::kMaxAxes) return false;
    panels.axes = count;
    panels.operands = operands;
    panels.writes = writes;
    panels.line_axis = -1;
    panels.lead = 0;
    panels.streams =
        panels.writes && panels.copied[operands - 1] && streaming_pays(bytes, false, Gain::kAlways);
    for (int i = 0; i < count; ++i) {
        panels.axis[i] = axes[i];
        panels.box[i] = std::min(axes[i].unit, axes[i].extent[0]);
    }
    for (int k = 0; k < operands; ++k) panels.size[k] = data_type_size(dtypes[k]);
    int64_t elements = 1;
    for (int i = 0; i < count; ++i) elements *= axes[i].extent[operands - 1];
    if (elements <= kFewElements || !fits(panels, kMostBytes)) return false;
    const int threads = threads_for(bytes);
    const int64_t part = bytes / operands / (kPanelsPerThread * threads);
    const int64_t in_cache =
        kCopiedBytes / std::count(panels.copied, panels.copied + operands, true);
    const int64_t most = threads == 1 ? in_cache : std::clamp(part, kLeastPanelBytes, in_cache);
    const int64_t in_place = threads == 1 ? kMostLineBytes : std::clamp(part, most, kMostLineBytes);
    grow(panels, most, kMostLineBytes, panels.are_large ? kLargeBytes : in_place);
    if (!has_runs(panels, kCacheLine)) {
        Panels larger = panels;
        grow(larger, most, kMostBytes, kMostBytes);
        const int64_t shares = std::min<int64_t>(threads, count_panels(panels));
        if (!has_runs(panels, kShortestRun) || count_panels(larger) >= shares) panels = larger;
    }
    if (!has_runs(panels, kShortestRun)) return false;
    make_even(panels, output, bytes);
    if (panels.are_large && threads > 1 && panels.count < kLeastPanels * threads) return false;
    panels.asks = comes_from_memory(bytes) && panels.scratch[operands] <= kMostAsked;
    const int64_t most_shares =
        std::min(panels.count, std::max<int64_t>(1, kMostScratch / panels.scratch[operands]));
    panels.shares = std::min<int64_t>({most_shares, threads, sharing_threads(panels, bytes)});
    return most_shares * kWorthThreads >= threads;
}

}  // namespace ascend_grad
