// What copying alone costs in the emulator's model: as many bytes read and written as a launch
// moves, on as many cores, every copy large and at a multiple of 512 bytes, nothing computed. With
// a barrier, the last of these bytes are partial sums, stored before it and loaded behind it, and a
// result.
//
//     copy_floor cores bytes_read bytes_written barriers   # prints cycles
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "ascendc_emulator.h"
#include "kernel_operator.h"

using namespace AscendC;

namespace {

constexpr uint32_t kUnit = 512;  // bytes
constexpr uint32_t kBuffers = 4;
constexpr uint32_t kMaxTile = 16384;  // bytes

struct Share {
    uint64_t read, written;  // bytes of a core
    bool barrier;
    uint64_t tiles() const { return (std::max(read, written) + kMaxTile - 1) / kMaxTile; }
};

void copy(uint8_t* memory, Share share, uint64_t tiles) {
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, kBuffers> queue;
    pipe.InitBuffer(queue, kBuffers, kMaxTile + kUnit);  // tiles are not quite equal
    GlobalTensor<uint8_t> all;
    all.SetGlobalBuffer(memory);
    const auto part = [&](uint64_t bytes, uint64_t tile) {
        const auto begin = [&](uint64_t i) { return bytes * i / tiles / 32 * 32; };
        return static_cast<uint32_t>(begin(tile + 1) - begin(tile));
    };
    const auto load = [&](uint32_t bytes) {
        LocalTensor<uint8_t> tile = queue.AllocTensor<uint8_t>();
        if (bytes > 0) DataCopy(tile, all, bytes);
        queue.EnQue(tile);
    };
    const auto store = [&](uint32_t bytes) {
        LocalTensor<uint8_t> tile = queue.DeQue<uint8_t>();
        if (bytes > 0) DataCopy(all, tile, bytes);
        queue.FreeTensor(tile);
    };
    load(part(share.read, 0));
    for (uint64_t i = 0; i < tiles; ++i) {
        if (i + 1 < tiles) load(part(share.read, i + 1));
        store(part(share.written, i));
    }
    if (!share.barrier) return;
    load(0);
    store(kUnit);
    SyncAll();
    load(kUnit);
    store(kUnit);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 5) return 1;
    const auto cores = static_cast<uint32_t>(std::atoi(argv[1]));
    const auto each = [&](const char* bytes) { return std::strtoull(bytes, nullptr, 10) / cores; };
    Share share{each(argv[2]), each(argv[3]), std::atoi(argv[4]) != 0};
    if (share.barrier) {
        share.read -= std::min<uint64_t>(share.read, kUnit);
        share.written -= std::min<uint64_t>(share.written, 2 * kUnit);
    }
    ascendc_emulator::Options options;  // all cores copy the same memory
    options.check_memory = options.check_sync = false;
    auto* memory = static_cast<uint8_t*>(ascendc_emulator::GmAlloc(kMaxTile + kUnit));
    double least = 1e300;
    for (uint64_t tiles = share.tiles(); tiles <= 16 * share.tiles(); tiles *= 2) {
        const auto result = ascendc_emulator::run(__CCE_AICORE__, "copy", cores, options, copy,
                                                  memory, share, tiles);
        for (const auto& report : result.reports) std::puts(report.text().c_str());
        if (!result.ok()) return 1;
        least = std::min(least, result.cost.cycles);
    }
    std::printf("%.0f\n", least);
    ascendc_emulator::GmFree(memory);
    return 0;
}
