// Properties of the tiling of sums over channels, walked by the kernels' own code: every element is
// in one lane, the buffers fit, cores are as many as pay, even, and begin where copies may begin.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "ascendc_emulator.h"
#include "common/channel_flat.h"
#include "common/channel_parts.h"
#include "common/channel_walk.h"
#include "common/joined_rows.h"
#include "device/channel_sum_tiling.h"
#include "device/product.h"

using namespace ascend_grad;
using namespace ascend_grad::device;

namespace {

struct Case {
    ChannelShape shape;
    ChannelSumKernel kernel;
    Product product;
    ChannelSumTiling tiling;
    uint32_t cores;
};

void require(bool fact, const char* rule, const Case& c, int64_t value) {
    if (fact) return;
    std::printf(
        "%s: %lld\n  shape %lld x %lld x %lld, %u bytes, sums %u, writes %d, arch %d, "
        "cores %u, layout %u, units %lld\n",
        rule, static_cast<long long>(value), static_cast<long long>(c.shape.outer),
        static_cast<long long>(c.shape.channels), static_cast<long long>(c.shape.inner),
        c.kernel.element_bytes, c.kernel.sums, c.kernel.writes, c.product.arch, c.cores,
        c.tiling.layout, static_cast<long long>(c.tiling.units));
    std::exit(1);
}

struct Core {
    int64_t elements = 0, units = 0, contribution = 0;
    std::vector<std::pair<int64_t, int64_t>> stretches;  // of elements, where they are marked
};

// What a load does to the tile of a sum, whose first load it is: every place is set or cleared.
void check_first_load(const Case& c, const kernels::LaneRun& run) {
    const ChannelSumTiling& t = c.tiling;
    const kernels::ChannelParts parts(t, 32 / c.kernel.element_bytes);
    std::vector<char> written(t.tile);
    const auto write = [&](uint32_t begin, uint32_t end) {
        require(begin <= end && end <= t.tile, "what is written of a tile", c, end);
        std::fill(written.begin() + begin, written.begin() + end, char{1});
    };
    write(0, run.begin);
    write(parts.unset_from(run), t.tile);
    bool first = true;
    for (kernels::ChannelPart part = parts.first(run); part.count > 0;
         part = parts.next(run, part)) {
        if (first) write(part.at, part.at + part.count);
        first = first && parts.goes_on(part);
    }
    const char* const begin = written.data();
    const auto* hole = static_cast<const char*>(std::memchr(begin, 0, written.size()));
    require(hole == nullptr, "place in a tile that a sum begins with", c, hole ? hole - begin : 0);
}
// The parts of a load follow each other and begin at blocks.
void check_parts(const Case& c, const kernels::LaneRun& run) {
    const ChannelSumTiling& t = c.tiling;
    const uint32_t block = 32 / c.kernel.element_bytes;
    const kernels::ChannelParts parts(t, block);
    uint32_t done = 0;
    for (kernels::ChannelPart part = parts.first(run); part.count > 0;
         part = parts.next(run, part)) {
        require(part.from == done, "element that a part begins with", c, part.from);
        require(part.from % block == 0 && part.at % 8 == 0, "whole blocks before a part", c,
                part.from);
        require(part.at + part.count <= t.margin + t.period, "end of a part", c, part.at);
        require((part.at + t.period - run.begin) % t.period == done % t.period,
                "place of a part in the tile", c, part.at);
        done += part.count;
    }
    require(done == run.count, "elements of a load's parts", c, done);
}

Core walk(const Case& c, bool marked) {
    const ChannelSumTiling& t = c.tiling;
    Core core;
    int64_t summed = 0;  // elements of the sum at hand
    int64_t blocks = 0, first_lanes = 0, last_lanes = 0, first_block = 0, last_block = 0;
    for (kernels::ChannelWalk walk(t); !walk.done(); ++blocks) {
        const int64_t units_before = core.units;
        kernels::LaneRun run;
        bool at_end = false;
        core.contribution = std::max(core.contribution, walk.predecessors() + 1);
        while (!at_end) {
            at_end = walk.next(run);
            const bool wraps = t.layout == CHANNEL_SUM_EVEN_ROWS;
            const uint32_t slot = wraps ? 0 : run.begin / t.pitch;
            const int64_t in_row = walk.inner();
            require(!t.joined || run.lanes == in_row, "lanes of joined channels", c, run.lanes);
            require(run.lanes > 0 && slot + run.lanes <= t.load_slots, "lanes of a load", c,
                    run.lanes);
            require(slot == 0 || t.load_slots == t.slots, "slots of a load", c, slot);
            require(run.count + 64 <= t.load, "elements of a load", c, run.count);
            require(run.begin < t.period && run.begin % 8 == 0, "where a load begins in the tile",
                    c, run.begin);
            require(!wraps || (run.begin + t.period - run.offset % t.period) % t.period == t.margin,
                    "which element a load begins at in the tile", c, run.begin);
            require(!wraps || run.offset * c.kernel.element_bytes % 512 == 0,
                    "where a load of even rows begins", c, static_cast<int64_t>(run.offset));
            if (summed == 0 || t.layout == CHANNEL_SUM_FLAT) check_first_load(c, run);
            check_parts(c, run);
            summed += wraps ? run.count : kernels::round_up(run.count, t.period);
            if (at_end || summed >= CHANNEL_SUM_TILES * int64_t{t.period}) summed = 0;
            if (core.units == 0) first_lanes = run.lanes;
            last_lanes = run.lanes;
            core.units += run.lanes;
            core.elements += int64_t{run.length} * (run.lanes - 1) + run.last;
            for (uint32_t lane = 0; marked && lane < run.lanes; ++lane) {
                const int64_t begin = static_cast<int64_t>(run.offset) + lane * t.lane_stride;
                const int64_t length = lane + 1 == run.lanes ? run.last : run.length;
                core.stretches.push_back({begin, begin + length});
            }
        }
        last_block = core.units - units_before;
        if (blocks == 0) first_block = last_block;
        walk.next_block();
    }
    require(last_block >= std::min(first_block, int64_t{t.few_units}), "lanes of the last block", c,
            last_block);
    if (t.layout == CHANNEL_SUM_SPREAD || t.layout == CHANNEL_SUM_CHANNELS)
        require(blocks != 1 || last_lanes <= first_lanes, "lanes of the last load", c, last_lanes);
    return core;
}

void check_memory(const Case& c) {
    const ChannelSumTiling& t = c.tiling;
    const uint64_t bytes = buffer_bytes(t, c.kernel, c.product);
    require(bytes <= c.product.buffer_bytes, "bytes of unified buffer", c,
            static_cast<int64_t>(bytes));
    require(c.cores >= 1 && c.cores <= c.product.cores, "cores", c, c.cores);
    const int64_t moved = c.shape.numel() * c.kernel.element_bytes * (c.kernel.writes ? 3 : 2);
    require(moved >= (16 << 10) || c.cores == 1, "cores for little work", c, c.cores);
    require(t.margin + t.period + 64 <= t.tile, "elements of a tile", c, t.tile);
    require(t.work == t.tile || (c.kernel.work == 2 && 2 * t.work >= t.tile && t.work % 64 == 0) ||
                (t.layout == CHANNEL_SUM_EVEN_ROWS && c.kernel.work > 0 && t.period > 4096 &&
                 t.work >= 2048 && t.work < t.tile && t.work % 64 == 0),
            "elements of a work tile", c, t.work);
    require(!t.turns || 16 * (t.length + 16) <= t.tile, "elements of turned lanes", c, t.tile);
    const bool in_blocks = t.period * c.kernel.element_bytes % 32 == 0;
    require(t.load_slots >= t.slots && (t.load_slots * t.pitch <= t.period || in_blocks ||
                                        t.layout == CHANNEL_SUM_EVEN_ROWS),
            "tiles of a load", c, t.load_slots);
    require(t.margin == (t.layout == CHANNEL_SUM_EVEN_ROWS && !in_blocks ? 8 : 0),
            "elements before a tile", c, t.margin);
    require(t.pitch * c.kernel.element_bytes % 32 == 0 || t.lane_stride == t.pitch,
            "distance of lanes", c, t.pitch);
    require(t.layout != CHANNEL_SUM_CHANNELS || t.turns || t.slots <= CHANNEL_SUM_MAX_CHANNELS,
            "channels of a tile", c, t.slots);
    if (t.layout == CHANNEL_SUM_FLAT) {
        const kernels::ChannelFlat flat(t);
        require(!c.product.has_byte_copies && t.spatial > 1, "elements of a channel", c, t.spatial);
        require(flat.scratch_floats(t.slots * t.pitch) <= t.tile, "floats of a tile's sums", c,
                t.tile);
        require(t.rows * t.group * 8 <= t.sum_space, "floats of sums", c, t.sum_space);
        require(t.cut == 1, "cut", c, t.cut);
    }
    if (t.layout == CHANNEL_SUM_EVEN_ROWS)
        require(t.period % (t.rows * t.group * t.spatial) == 0 && t.period % 8 == 0,
                "whole rows of a tile", c, t.period);
    // Batch norm sums up the first one while the second is left to do.
    const uint32_t inputs =
        2 * (t.load + 512 / c.kernel.element_bytes) * c.kernel.element_bytes / 4;
    const uint32_t free = c.kernel.work == 0 ? inputs : t.work == t.tile ? t.work : 2 * t.work;
    if (t.rows > 1 && (t.layout == CHANNEL_SUM_ROWS || t.layout == CHANNEL_SUM_EVEN_ROWS)) {
        const kernels::JoinedRows joined(t.group * t.spatial, t.rows);
        const uint32_t sums = t.spatial > 1 ? t.tile - t.margin : t.sum_space;
        require(joined.sum_floats() <= sums, "floats of joined sums", c, sums);
        require(joined.scratch_floats() <= t.tile, "floats to join rows with", c, t.tile);
        require(joined.sum_floats() + 8 <= t.work || !c.kernel.writes, "the same, of a work tile",
                c, t.work);
        require(joined.scratch_floats() <= free || c.kernel.writes, "the same, beside other work",
                c, free);
    }
    if (t.layout == CHANNEL_SUM_EVEN_ROWS && t.spatial > 1) {
        const uint32_t turned = 16 * kernels::round_up(t.spatial + 7, 8);
        const uint32_t channels = kernels::round_up(t.group, 16);
        require(t.spatial >= 8, "positions of a channel", c, t.spatial);
        require(turned <= t.tile && (turned <= free || c.kernel.writes), "floats to turn sums with",
                c, turned);
        require(16 * channels <= t.tile - t.margin, "floats to repeat values with", c, channels);
        require(channels <= t.sum_space && channels <= t.vector_space, "floats of channels", c,
                channels);
    }
    if (c.kernel.writes && !c.product.has_byte_copies) {
        for (uint32_t core = 1; core < c.cores; ++core) {
            const int64_t shares = (t.units + t.cut - 1) / t.cut;
            const int64_t unit = core * shares / c.cores * t.cut;
            const int64_t block = std::min(unit / (t.outer * t.inner), t.blocks - 1);
            const int64_t at = unit - block * t.outer * t.inner;
            const int64_t inner = block == t.blocks - 1 ? t.last_inner : t.inner;
            const int64_t first =
                block * t.block_stride + at / inner * t.outer_stride + at % inner * t.lane_stride;
            require(first * c.kernel.element_bytes % 32 == 0, "a core's first element", c, first);
        }
    }
}

void check_cores(const Case& c) {
    const ChannelSumTiling& t = c.tiling;
    const bool marked = c.shape.numel() <= 100000;
    const bool walked = t.units <= 2000000;
    if (!walked) return;
    std::vector<Core> cores(c.cores);
    ascendc_emulator::Options options;
    options.collect = true;
    const auto result = ascendc_emulator::launch(
        c.product.arch, "walk", c.cores,
        [&] { cores[static_cast<size_t>(AscendC::GetBlockIdx())] = walk(c, marked); }, options);
    require(result.ok(), "reports", c, static_cast<int64_t>(result.reports.size()));
    int64_t elements = 0, least = cores[0].units, most = 0, contributions = 0;
    std::vector<int> seen(marked ? static_cast<size_t>(c.shape.numel()) : 0);
    for (const Core& core : cores) {
        elements += core.elements;
        least = std::min(least, core.units);
        most = std::max(most, core.units);
        contributions = std::max(contributions, core.contribution);
        require(t.spare_sums > 0 || core.elements <= 64 * int64_t{t.period},
                "elements that are added up once", c, core.elements);
        for (const auto& [begin, end] : core.stretches) {
            require(begin >= 0 && end <= c.shape.numel(), "end of a lane", c, end);
            for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
        }
    }
    require(elements == c.shape.numel(), "elements that are covered", c, elements);
    for (size_t i = 0; i < seen.size(); ++i)
        require(seen[i] == 1, "element that is not covered once", c, static_cast<int64_t>(i));
    const int64_t step = t.joined ? t.inner : t.cut;
    require(most - least <= 2 * step, "units by which cores differ", c, most - least);
    require(least > 0 || c.shape.numel() == 0, "units of a core", c, least);
    require(contributions == t.contributions, "cores that share a block", c, contributions);
}

void check(const ChannelShape& shape, uint32_t element_bytes, bool writes, Soc soc) {
    Case c{};
    c.shape = shape;
    const uint32_t work = element_bytes == 4 ? (writes ? 1 : 0) : 2;
    c.kernel = {element_bytes, writes ? element_bytes : 4, writes ? 1u : 2u, work, writes};
    c.product = product_of(soc);
    c.tiling = tile_channel_sum(shape, c.kernel, c.product, c.cores);
    check_memory(c);
    check_cores(c);
}

void check_all(const ChannelShape& shape) {
    const Soc soc = __CCE_AICORE__ == 100 ? Soc::kAscend910 : Soc::kAscend910B;
    for (uint32_t bytes : {2u, 4u})
        for (bool writes : {false, true}) check(shape, bytes, writes, soc);
}

}  // namespace

int main(int argc, char** argv) {
    const int count = argc > 1 ? std::atoi(argv[1]) : 300;
    const ChannelShape hard[] = {
        {1, 1, 1},         {1, 1, 3000000000}, {3000000000, 1, 1}, {1, 3000000000, 1},
        {70000, 70000, 1}, {2, 3, 1000000007}, {64, 2048, 49},     {32, 256, 196},
        {32, 64, 3136},    {1, 1, 12845056},   {1000000, 10, 1},   {4096, 1024, 1},
        {3, 65536, 17},    {1, 4097, 8191},    {7, 5, 53},         {2, 23806, 1},
        {32, 192, 1225},   {64, 500, 49},      {4484, 7, 73},      {300, 1, 12321},
        {955, 282, 5},     {9, 1536, 13},      {2, 3, 251001},     {1, 1127, 3545},
        {4096, 1000, 1},   {6144, 500, 1},     {4096, 1001, 1},    {4096, 1725, 1},
        {581, 3000, 1},    {1000, 1291, 1},    {66000, 777, 1},    {763, 1100, 1},
        {240, 193, 100},   {88, 382, 121},     {10, 957, 1225},    {4, 359, 529},
        {2, 67, 10001},    {600, 1023, 1},     {20000, 3, 1},      {2000, 1373, 1},
        {700, 2810, 1},    {24776, 1001, 1},   {24840, 513, 1},    {100, 73, 961},
        {8510, 7, 81},     {1425, 2, 306},     {43435, 6, 25},     {1844, 15, 49},
        {2597, 5, 160},    {7200, 3, 8},       {591, 7, 233},      {13360, 32, 14},
    };
    for (const ChannelShape& shape : hard) check_all(shape);
    std::mt19937 random(1);
    for (int i = 0; i < count; ++i) {
        const double budget = std::uniform_real_distribution<>(0, 14)(random);
        double share[3] = {};
        for (double& s : share) s = std::exponential_distribution<>(1)(random);
        const double total = share[0] + share[1] + share[2];
        int64_t extent[3];
        for (int k = 0; k < 3; ++k)
            extent[k] =
                std::max<int64_t>(1, static_cast<int64_t>(std::exp(budget * share[k] / total)));
        check_all({extent[0], extent[1], extent[2]});
    }
    std::printf("%d shapes\n", count);
    return 0;
}
