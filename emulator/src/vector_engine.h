// How a vector instruction walks its operands, and the rules common to all of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launch.h"

namespace ascendc_emulator {

struct LaneMask {
    uint64_t low = 0, high = 0;
    bool test(uint32_t lane) const { return ((lane < 64 ? low : high) >> (lane & 63) & 1u) != 0; }
    bool none() const { return low == 0 && high == 0; }
    static LaneMask first(uint64_t n);
};

// The iteration space: `repeats` times `lanes` elements, masked; the last repeat may be shorter.
struct Walk {
    uint32_t lanes = 0;
    uint64_t repeats = 0;
    LaneMask mask, last_mask;
    bool contiguous = false;  // count form
    uint64_t elements = 0;    // active elements over all repeats

    const LaneMask& mask_of(uint64_t repeat) const {
        return repeat + 1 == repeats ? last_mask : mask;
    }
    bool full(uint64_t repeat) const;
};

// One operand's addresses: element `lane` of `repeat` lies at base + ....
struct Layout {
    uint64_t base = 0;
    uint32_t element = 1;       // bytes
    uint64_t block_bytes = 32;  // distance of neighbouring 32-byte blocks
    uint64_t repeat_bytes = 0;

    uint64_t address(uint64_t repeat, uint32_t lane) const {
        const uint64_t byte = uint64_t(lane) * element;
        return base + repeat * repeat_bytes + byte / 32 * block_bytes + byte % 32;
    }
};

struct Range {
    uint64_t begin, end;
};

// Resolves the call's mask, repeat and count. False: nothing to do, or reported.
// `widest` is the size of the largest element, which decides how many lanes a repeat has.
bool plan(Core& core, const Instr& instr, const rt::VectorCall& call, uint32_t widest, Walk& walk);
Layout layout_of(const rt::Operand& operand, const Walk& walk);

// Byte ranges that the operand's active lanes cover, merged where they touch.
std::vector<Range> ranges_of(const Walk& walk, const Layout& layout);

// Validity of a whole operand: live tensor, alignment, bounds. False: do not execute.
bool check_operand(Core& core, const Instr& instr, const UbTensor& tensor, const char* role,
                   const std::vector<Range>& ranges, uint32_t alignment);
// Records the access; for reads returns whether every byte was written before. A read of which no
// byte was ever written is reported.
bool use_operand(Core& core, const Instr& instr, const UbTensor& tensor, const char* role,
                 const std::vector<Range>& ranges, bool writes);

// The overlap rule: within a repeat the same bytes or none; no destination of an earlier repeat may
// be a later source, except when `accumulates`.
void check_overlap(Core& core, const Instr& instr, const Walk& walk, const Layout& dst,
                   const UbTensor& dst_tensor, const Layout& src, const char* role,
                   bool accumulates);

// Gathers the active lanes' blocks of a repeat into `to` (inactive lanes keep what is there).
void load_lanes(const Core& core, const Walk& walk, const Layout& layout, uint64_t repeat,
                void* to);
void store_lanes(Core& core, const Walk& walk, const Layout& layout, uint64_t repeat,
                 const void* from);

// Marks destination lanes as holding data when all their sources do.
void propagate_init(Core& core, const Walk& walk, const Layout& dst,
                    const std::vector<const Layout*>& sources);

// Moves one element with its record of holding data.
void copy_element(Core& core, uint64_t to, uint64_t from, uint32_t size);
Range hull(const std::vector<Range>& ranges);

// Bytes that an instruction has written, which it must not read any more.
class WrittenBytes {
  public:
    // The ranges that all its writes and all its reads lie in.
    WrittenBytes(const Core& core, const Range& writes, const Range& reads);
    void add(const Range& written);
    // The first of them in a range.
    std::optional<uint64_t> first_in(const Range& read) const;
    // Whether there is none; else reports that dst and the source, `role`, overlap. `unit` and
    // `number`: the repeat, or what else, that reads what an earlier one has written.
    bool allow(Core& core, const Instr& instr, const UbTensor& dst, const Range& read,
               const char* role, const char* unit = nullptr, uint64_t number = 0) const;

  private:
    Range both_;  // written and read
    std::vector<bool> written_;
};
// Whether dst, written in the ranges `to`, and a source share no byte; else reports it.
bool check_apart(Core& core, const Instr& instr, const UbTensor& dst, const std::vector<Range>& to,
                 const std::vector<Range>& from, const char* role);

// Cycles of a vector instruction of `repeats` 256-byte repeats.
double vector_cycles(const Core& core, double per_repeat, uint64_t repeats);

}  // namespace ascendc_emulator
