// What a program takes in the emulator's model that moves as many bytes as a launch, every copy
// from a multiple of 512 bytes on, and does some arithmetic in instructions for whole tiles: the
// best of several ways to cut tiles. With a barrier, the last of these bytes are partial sums,
// stored before it and loaded behind it, and a result.
//
//     device_floor cores bytes_read bytes_written barriers [elements...]    # prints cycles
//
// An instruction of each tile makes its share of so many floats.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "ascendc_emulator.h"
#include "kernel_operator.h"

using namespace AscendC;

namespace {

constexpr uint32_t kUnit = 512;  // bytes
constexpr uint32_t kMostBuffers = 4;
constexpr uint32_t kFloats = 8192;     // of an instruction; more are not counted
constexpr uint32_t kRoom = 159 << 10;  // bytes for tiles, beside floats and sums
constexpr uint16_t kArrived = 0;       // flag between cores

struct Share {
    uint64_t read, written;  // bytes of a core
    bool barrier;
    std::vector<double> elements;
};

// What part of a core's share the tiles before the i-th are. The first ones and the last ones may
// be small, each twice as large as its neighbour, since nothing goes on beside their copies.
class Tiles {
  public:
    Tiles(uint64_t count, int small, uint32_t buffers) : buffers(buffers), begins_{0} {
        for (uint64_t i = 0; i < count; ++i) {
            const auto from_end = static_cast<double>(std::min(i, count - 1 - i));
            begins_.push_back(begins_.back() + std::exp2(std::min(0.0, from_end - small)));
        }
        for (double& begin : begins_) begin /= begins_.back();
    }
    uint64_t count() const { return begins_.size() - 1; }
    uint32_t part(double all, uint64_t tile, uint32_t unit) const {
        const auto up_to = [&](uint64_t i) {
            return static_cast<uint64_t>(all * begins_[i]) / unit * unit;
        };
        return static_cast<uint32_t>(up_to(tile + 1) - up_to(tile));
    }

    // The largest.
    uint32_t most(uint64_t all) const {
        return part(static_cast<double>(all), count() / 2, 32) + 2 * kUnit;
    }
    uint32_t buffers;  // of each kind

  private:
    std::vector<double> begins_;
};

void work(uint8_t* memory, const Share* share, const Tiles* tiles) {
    TPipe pipe;
    TQue<TPosition::VECIN, kMostBuffers> inputs;
    TQue<TPosition::VECOUT, kMostBuffers> results;
    TQue<TPosition::VECOUT, 1> sums;
    TBuf<TPosition::VECCALC> floats;
    const auto buffers = static_cast<uint8_t>(tiles->buffers);
    pipe.InitBuffer(inputs, buffers, tiles->most(share->read));
    pipe.InitBuffer(results, buffers, tiles->most(share->written));
    pipe.InitBuffer(sums, 1, kUnit);
    pipe.InitBuffer(floats, kFloats * sizeof(float));
    GlobalTensor<uint8_t> all;
    all.SetGlobalBuffer(memory);
    const auto load = [&](uint32_t bytes) {
        LocalTensor<uint8_t> tile = inputs.AllocTensor<uint8_t>();
        if (bytes > 0) DataCopy(tile, all, bytes);
        inputs.EnQue(tile);
    };
    const auto make = [&](uint64_t tile) {
        LocalTensor<uint8_t> input = inputs.DeQue<uint8_t>();
        LocalTensor<uint8_t> result = results.AllocTensor<uint8_t>();
        LocalTensor<float> x = floats.Get<float>();
        for (const double elements : share->elements) {
            const uint32_t count = tiles->part(elements, tile, 1);
            if (count > 0) Muls(x, x, 1.0f, static_cast<int32_t>(std::min(count, kFloats)));
        }
        results.EnQue(result);
        inputs.FreeTensor(input);
    };
    const auto store = [&](uint32_t bytes) {
        LocalTensor<uint8_t> tile = results.DeQue<uint8_t>();
        if (bytes > 0) DataCopy(all, tile, bytes);
        results.FreeTensor(tile);
    };
    const auto bytes_of = [&](uint64_t bytes, uint64_t tile) {
        return tiles->part(static_cast<double>(bytes), tile, 32);
    };
    const auto store_sums = [&] {
        sums.EnQue(sums.AllocTensor<uint8_t>());
        LocalTensor<uint8_t> sum = sums.DeQue<uint8_t>();
        DataCopy(all, sum, kUnit);
        sums.FreeTensor(sum);
    };
    // Loads come first; with a barrier the last results are stored while others' sums are awaited.
    const uint64_t count = tiles->count();
    const uint64_t ahead = std::min<uint64_t>(tiles->buffers - 1, count);
    const uint64_t late = share->barrier ? ahead : 0;
    for (uint64_t i = 0; i < ahead; ++i) load(bytes_of(share->read, i));
    for (uint64_t i = 0; i < count; ++i) {
        make(i);
        if (i + ahead < count) load(bytes_of(share->read, i + ahead));
        if (i + late < count) store(bytes_of(share->written, i));
    }
    if (!share->barrier) return;
    store_sums();
    CrossCoreSetFlag<0, PIPE_MTE3>(kArrived);
    for (uint64_t i = count - late; i < count; ++i) store(bytes_of(share->written, i));
    CrossCoreWaitFlag(kArrived);
    load(kUnit);
    LocalTensor<uint8_t> others = inputs.DeQue<uint8_t>();
    store_sums();
    inputs.FreeTensor(others);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 5) return 1;
    const auto cores = static_cast<uint32_t>(std::atoi(argv[1]));
    const auto each = [&](const char* bytes) { return std::strtoull(bytes, nullptr, 10) / cores; };
    Share share{each(argv[2]), each(argv[3]), std::atoi(argv[4]) != 0, {}};
    for (int i = 5; i < argc; ++i) share.elements.push_back(std::atof(argv[i]) / cores);
    if (share.barrier) {
        share.read -= std::min<uint64_t>(share.read, kUnit);
        share.written -= std::min<uint64_t>(share.written, 2 * kUnit);
    }
    ascendc_emulator::Options options;  // all cores copy the same memory
    options.check_memory = options.check_sync = false;
    auto* memory = static_cast<uint8_t*>(ascendc_emulator::GmAlloc(kRoom));
    const auto cycles = [&](const Share& each_core, const Tiles& tiles) {
        const auto result = ascendc_emulator::run(__CCE_AICORE__, "floor", cores, options, work,
                                                  memory, &each_core, &tiles);
        for (const auto& report : result.reports)
            std::fprintf(stderr, "%s\n", report.text().c_str());
        if (!result.ok()) std::exit(1);
        return result.cost.cycles;
    };
    // Without the barrier, which emulation takes long for; the best ones then have it.
    Share alone = share;
    alone.barrier = false;
    std::vector<std::pair<double, Tiles>> tried;
    const uint64_t bytes = share.read + share.written;
    for (const uint32_t buffers : {2u, 4u}) {
        const uint64_t fewest = bytes / (kRoom / buffers - 5 * kUnit) + 1;
        for (const int small : {0, 2}) {
            for (uint64_t more = 1; more <= 16; more *= 2) {
                const Tiles tiles(fewest * more + 2 * static_cast<uint64_t>(small), small, buffers);
                tried.emplace_back(cycles(alone, tiles), tiles);
            }
        }
    }
    const auto is_less = [](const auto& a, const auto& b) { return a.first < b.first; };
    std::sort(tried.begin(), tried.end(), is_less);
    double least = tried[0].first;
    if (share.barrier) {
        constexpr size_t kBest = 3;
        least = 1e300;
        for (size_t i = 0; i < kBest; ++i) least = std::min(least, cycles(share, tried[i].second));
    }
    std::printf("%.0f\n", least);
    ascendc_emulator::GmFree(memory);
    return 0;
}
