#include "reduce_lanes.h"

#include <algorithm>
#include <cstring>

namespace ascendc_emulator {

namespace {

float read_lane(DType dtype, const uint8_t* p) {
    if (dtype == DType::f16) {
        uint16_t bits;
        std::memcpy(&bits, p, 2);
        return half_bits_to_float(bits);
    }
    float v;
    std::memcpy(&v, p, 4);
    return v;
}

}  // namespace

void write_value(DType dtype, uint8_t* p, float v) {
    if (dtype == DType::f16) {
        const uint16_t bits = float_to_half_bits(v);
        std::memcpy(p, &bits, 2);
    } else {
        std::memcpy(p, &v, 4);
    }
}

void write_index(uint32_t size, uint8_t* p, uint32_t index) {
    std::memcpy(p, &index, size);
}

float rounded(DType dtype, float v) {
    return dtype == DType::f16 ? float(half(v)) : v;
}

Lane tree(DType dtype, Kind kind, std::vector<Lane>& lanes) {
    const auto combine = [&](const Lane& a, const Lane& b) -> Lane {
        if (!a.active) return b;
        if (!b.active) return a;
        if (kind == Kind::sum) return {rounded(dtype, a.value + b.value), 0, true};
        const bool second = kind == Kind::max ? b.value > a.value : b.value < a.value;
        return second ? b : a;
    };
    size_t n = lanes.size();
    while (n > 1) {
        for (size_t i = 0; i < n / 2; ++i) lanes[i] = combine(lanes[2 * i], lanes[2 * i + 1]);
        if (n % 2 != 0) lanes[n / 2] = lanes[n - 1];
        n = (n + 1) / 2;
    }
    return lanes[0];
}

std::vector<Lane> lanes_of(const Core& core, const Walk& walk, const Layout& src, DType dtype,
                           uint64_t repeat, uint32_t first, uint32_t count) {
    std::vector<Lane> lanes(count);
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t lane = first + i;
        const bool active = walk.mask_of(repeat).test(lane);
        lanes[i] = {active ? read_lane(dtype, core.ub.data() + src.address(repeat, lane)) : 0.0f,
                    lane, active};
    }
    return lanes;
}

bool check_reduced(Core& core, const Instr& instr, const UbTensor& t, const char* role,
                   const std::vector<Range>& ranges) {
    if (use_operand(core, instr, t, role, ranges, false)) return true;
    for (const Range& r : ranges)
        if (!core.ub_init.all(r.begin, r.end))
            core.report_uninitialized(instr, t, role, r.begin, r.end);
    return false;
}

}  // namespace ascendc_emulator
