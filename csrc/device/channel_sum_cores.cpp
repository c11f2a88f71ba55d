#include "device/channel_sum_cores.h"

#include <algorithm>

namespace ascend_grad::device {
namespace {

constexpr uint32_t kEvenCores = 32;         // as kLoadingCores; a power of two, as blocks often are
constexpr uint32_t kWorkingCores = 36;      // the same where those are behind with work
constexpr int64_t kLeastPerExchanged = 32;  // bytes of data; for less, cores are too many
constexpr int64_t kLeastPerEvenly = 200;    // the same where fewer load as fast

// As in kernels_ascendc/common/channel_walk.h.
int64_t owner(int64_t item, int64_t items, int64_t cores) {
    return ((item + 1) * cores - 1) / items;
}

// The most cores that share one block.
int64_t most_contributions(const ChannelSumTiling& t, int64_t cores) {
    const int64_t shares = divide_up(t.units, t.cut);
    const int64_t units = t.outer * t.inner;
    int64_t most = 1;
    for (int64_t block = 0; block < t.blocks && most < cores; ++block) {
        // Cores begin with a load of joined channels where their share would begin inside it.
        const int64_t inner = block == t.blocks - 1 ? t.last_inner : t.inner;
        const int64_t first = block * units + (t.joined ? inner - 1 : 0);
        const int64_t last = block == t.blocks - 1 ? t.units - 1 : (block + 1) * units - 1;
        most = std::max(
            most, owner(last / t.cut, shares, cores) - owner(first / t.cut, shares, cores) + 1);
    }
    return most;
}

// Whether kEvenCores or fewer load as fast as more: in pieces without gaps, none of two blocks.
bool shares_evenly(const ChannelSumTiling& t, const ChannelSumKernel& kernel) {
    const bool loads_runs = t.pitch == t.lane_stride;
    const bool is_even =
        t.layout == CHANNEL_SUM_SPREAD && kEvenCores % t.blocks == 0 && t.inner == t.last_inner;
    return loads_runs && (is_even || (t.blocks == 1 && kernel.work == 0));
}

// Partial sums are written once and read once.
int64_t exchanged_bytes(const ChannelSumTiling& t, const ChannelSumKernel& kernel) {
    const auto floats = int64_t{t.contributions} * kernel.sums * t.width;
    return floats * t.channels * 2 * static_cast<int64_t>(sizeof(float));
}

}  // namespace

int64_t enough_cores(const ChannelSumKernel& kernel, const Product& product) {
    return kernel.writes ? product.cores : std::min(product.cores, kEvenCores);
}

uint32_t share_out(const ChannelShape& shape, const ChannelSumKernel& kernel,
                   const ChannelLimits& limits, ChannelSumTiling& t) {
    const int64_t bytes = moved_bytes(shape, kernel);
    // Of joined channels no core is without a load.
    const int64_t shares = t.joined ? t.units / t.inner : divide_up(t.units, t.cut);
    const int64_t most =
        t.joined ? joined_cores(shares, t.inner * t.length * kernel.element_bytes, limits)
                 : limits.cores;
    auto cores = to_u32(std::min({most, shares, divide_up(bytes, kLeastCoreBytes)}));
    t.contributions = to_u32(most_contributions(t, cores));
    const bool is_even = shares_evenly(t, kernel);
    const int64_t least = is_even ? kLeastPerEvenly : kLeastPerExchanged;
    if (!kernel.writes && cores > kEvenCores && exchanged_bytes(t, kernel) * least > bytes) {
        const uint32_t fewer = t.layout == CHANNEL_SUM_SPREAD ? kEvenCores : kLoadingCores;
        cores = std::min(cores, is_even ? fewer : kWorkingCores);
    }
    t.contributions = to_u32(most_contributions(t, cores));
    return cores;
}

}  // namespace ascend_grad::device
