#include "vector_engine.h"

#include <algorithm>
#include <cstring>

namespace ascendc_emulator {
namespace {

LaneMask restrict(const LaneMask& mask, uint32_t lanes) {
    const LaneMask legal = LaneMask::first(lanes);
    return {mask.low & legal.low, mask.high & legal.high};
}

uint64_t count_bits(const LaneMask& m) {
    return static_cast<uint64_t>(__builtin_popcountll(m.low) + __builtin_popcountll(m.high));
}

bool zero(Core& core, const Instr& instr, const char* what) {
    if (!core.soc.zero_is_noop)
        core.note("zero-count", instr,
                  std::string(what) + " is 0: documented as no operation on Atlas A2/A3 only");
    return false;
}

void set_elements(Walk& walk, uint64_t n) {
    walk.repeats = (n + walk.lanes - 1) / walk.lanes;
    walk.mask = LaneMask::first(walk.lanes);
    const uint64_t tail = n - (walk.repeats - 1) * walk.lanes;
    walk.last_mask = LaneMask::first(tail);
    walk.elements = n;
}

}  // namespace

LaneMask LaneMask::first(uint64_t n) {
    const uint64_t all = ~uint64_t(0);
    LaneMask m;
    m.low = n >= 64 ? all : (uint64_t(1) << n) - 1;
    m.high = n >= 128 ? all : n <= 64 ? 0 : (uint64_t(1) << (n - 64)) - 1;
    return m;
}

bool Walk::full(uint64_t repeat) const {
    const LaneMask all = LaneMask::first(lanes);
    const LaneMask& m = mask_of(repeat);
    return m.low == all.low && m.high == all.high;
}

bool plan(Core& core, const Instr& instr, const rt::VectorCall& call, uint32_t widest, Walk& walk) {
    walk.lanes = std::min<uint32_t>(256 / widest, 128);
    const auto refuse = [&](const char* rule, int64_t value, const std::string& message) {
        core.report(core.make(rule, instr, message, call.dst.tensor, value));
        return false;
    };
    if (call.counted) {
        const auto count = static_cast<int64_t>(call.count);
        if (count < 0)
            return refuse("illegal-count", count,
                          "count " + std::to_string(count) + " is negative");
        if (count == 0) return zero(core, instr, "count");
        walk.contiguous = true;
        set_elements(walk, call.count);
        // The count forms program mask and mode themselves and leave them at their defaults.
        core.mask_mode = AscendC::MaskMode::NORMAL;
        core.mask_high = core.mask_low = ~uint64_t(0);
        return true;
    }
    LaneMask mask{call.mask.low, call.mask.high};
    if (call.mask.kind == rt::Mask::kRegister) mask = {core.mask_low, core.mask_high};
    if (core.mask_mode == AscendC::MaskMode::COUNTER) {
        // The low word is a total element count and the repeat argument is ignored.
        if (mask.low == 0) return zero(core, instr, "mask in counter mode");
        set_elements(walk, mask.low);
        return true;
    }
    if (call.repeat < 0 || call.repeat > 255)
        return refuse("illegal-repeat", call.repeat,
                      "repeat " + std::to_string(call.repeat) + " is outside 0..255");
    if (call.repeat == 0) return zero(core, instr, "repeat");
    if (call.mask.kind == rt::Mask::kCount) {
        if (call.mask.low == 0) return zero(core, instr, "mask");
        if (call.mask.low > walk.lanes)
            refuse("illegal-mask", static_cast<int64_t>(call.mask.low),
                   "mask " + std::to_string(call.mask.low) + " exceeds the " +
                       std::to_string(walk.lanes) + " elements of a repeat");
        mask = LaneMask::first(std::min<uint64_t>(call.mask.low, walk.lanes));
    } else if (call.mask.kind == rt::Mask::kBits) {
        const LaneMask legal = restrict(mask, walk.lanes);
        if (legal.low != mask.low || legal.high != mask.high)
            refuse("illegal-mask", walk.lanes,
                   "mask bits " + hex(mask.high) + ", " + hex(mask.low) +
                       " name elements beyond the " + std::to_string(walk.lanes) + " of a repeat");
        mask = legal;
        if (mask.none()) return zero(core, instr, "mask");
    } else {
        mask = restrict(mask, walk.lanes);
        if (mask.none()) return zero(core, instr, "the mask register");
    }
    walk.repeats = static_cast<uint64_t>(call.repeat);
    walk.mask = walk.last_mask = mask;
    walk.elements = count_bits(mask) * walk.repeats;
    return true;
}

Layout layout_of(const rt::Operand& operand, const Walk& walk) {
    Layout l;
    l.base = operand.tensor.address;
    l.element = operand.tensor.element_size;
    if (walk.contiguous) {
        l.repeat_bytes = uint64_t(walk.lanes) * l.element;
    } else {
        l.block_bytes = uint64_t(operand.block_stride) * 32;
        l.repeat_bytes = uint64_t(operand.repeat_stride) * 32;
    }
    return l;
}

std::vector<Range> ranges_of(const Walk& walk, const Layout& l) {
    std::vector<Range> ranges;
    const auto add = [&](uint64_t begin, uint64_t end) {
        if (!ranges.empty() && ranges.back().end == begin) {
            ranges.back().end = end;
        } else {
            ranges.push_back({begin, end});
        }
    };
    if (walk.contiguous) {
        add(l.base, l.base + walk.elements * l.element);
        return ranges;
    }
    const uint32_t per_block = std::max<uint32_t>(1, 32 / l.element);
    for (uint64_t r = 0; r < walk.repeats; ++r) {
        const LaneMask& mask = walk.mask_of(r);
        for (uint32_t lane = 0; lane < walk.lanes;) {
            const uint32_t block_end = std::min(walk.lanes, (lane / per_block + 1) * per_block);
            while (lane < block_end) {
                if (!mask.test(lane)) {
                    ++lane;
                    continue;
                }
                const uint64_t begin = l.address(r, lane);
                uint32_t n = 0;
                while (lane < block_end && mask.test(lane)) ++n, ++lane;
                add(begin, begin + uint64_t(n) * l.element);
            }
        }
        if (l.repeat_bytes == 0 && walk.repeats > 1 && r == 0) r = walk.repeats - 2;
    }
    return ranges;
}

bool check_operand(Core& core, const Instr& instr, const UbTensor& t, const char* role,
                   const std::vector<Range>& ranges, uint32_t alignment) {
    if (!core.check_tensor(instr, t, role)) return false;
    if (!core.check_alignment(instr, t, role, alignment)) return false;
    uint64_t begin = ~uint64_t(0), end = 0;
    for (const Range& r : ranges) {
        begin = std::min(begin, r.begin);
        end = std::max(end, r.end);
    }
    return core.check_bounds(instr, t, role, begin, end);
}

bool use_operand(Core& core, const Instr& instr, const UbTensor& t, const char* role,
                 const std::vector<Range>& ranges, bool writes) {
    for (const Range& r : ranges) core.access_ub(instr, t, r.begin, r.end, writes);
    if (writes || !core.launch.options.check_memory) return true;
    bool all = true;
    for (const Range& r : ranges) all = all && core.ub_init.all(r.begin, r.end);
    if (all) return true;
    bool any = false;
    for (const Range& r : ranges) any = any || core.ub_init.any(r.begin, r.end);
    if (!any)
        for (const Range& r : ranges) core.report_uninitialized(instr, t, role, r.begin, r.end);
    return !any;
}

void load_lanes(const Core& core, const Walk& walk, const Layout& l, uint64_t repeat, void* to) {
    auto* out = static_cast<uint8_t*>(to);
    const uint64_t bytes = uint64_t(walk.lanes) * l.element;
    if (l.block_bytes == 32 && walk.full(repeat)) {
        std::memcpy(out, core.ub.data() + l.address(repeat, 0), bytes);
        return;
    }
    const LaneMask& mask = walk.mask_of(repeat);
    for (uint32_t lane = 0; lane < walk.lanes; ++lane)
        if (mask.test(lane))
            std::memcpy(out + uint64_t(lane) * l.element, core.ub.data() + l.address(repeat, lane),
                        l.element);
}

void store_lanes(Core& core, const Walk& walk, const Layout& l, uint64_t repeat, const void* from) {
    const auto* in = static_cast<const uint8_t*>(from);
    if (l.block_bytes == 32 && walk.full(repeat)) {
        std::memcpy(core.ub.data() + l.address(repeat, 0), in, uint64_t(walk.lanes) * l.element);
        return;
    }
    const LaneMask& mask = walk.mask_of(repeat);
    for (uint32_t lane = 0; lane < walk.lanes; ++lane)
        if (mask.test(lane))
            std::memcpy(core.ub.data() + l.address(repeat, lane), in + uint64_t(lane) * l.element,
                        l.element);
}

void propagate_init(Core& core, const Walk& walk, const Layout& dst,
                    const std::vector<const Layout*>& sources) {
    for (uint64_t r = 0; r < walk.repeats; ++r) {
        const LaneMask& mask = walk.mask_of(r);
        for (uint32_t lane = 0; lane < walk.lanes; ++lane) {
            if (!mask.test(lane)) continue;
            bool good = true;
            for (const Layout* s : sources) {
                const uint64_t a = s->address(r, lane);
                good = good && core.ub_init.all(a, a + s->element);
            }
            const uint64_t d = dst.address(r, lane);
            core.ub_init.set(d, d + dst.element, good);
        }
    }
}

void copy_element(Core& core, uint64_t to, uint64_t from, uint32_t size) {
    std::memmove(core.ub.data() + to, core.ub.data() + from, size);
    core.ub_init.set(to, to + size, core.ub_init.all(from, from + size));
}

Range hull(const std::vector<Range>& ranges) {
    Range h{~uint64_t(0), 0};
    for (const Range& r : ranges) h = {std::min(h.begin, r.begin), std::max(h.end, r.end)};
    return h;
}

double vector_cycles(const Core& core, double per_repeat, uint64_t repeats) {
    const CostTable& t = core.soc.cost;
    return t.vector_startup + t.cycles_per_repeat * per_repeat * static_cast<double>(repeats);
}

}  // namespace ascendc_emulator
