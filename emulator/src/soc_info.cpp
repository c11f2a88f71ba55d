#include "soc_info.h"

#include <cstring>

namespace ascendc_emulator {
namespace {

// clang-format off
constexpr SocInfo kSocs[] = {
    {220, "ascend910b", "Ascend910B1", 192 * 1024, 184 * 1024, 8, 8, true, true, true,
     {1850, 32, 1600, 30, 4, 0.7, 14, 1, 1, 12, 200, 20, 400, 0, 700}},
    {200, "ascend310p", "Ascend310P3", 256 * 1024, 248 * 1024, 8, 8, false, false, false,
     {1060, 17, 200, 30, 4, 0.7, 16, 1, 1, 12, 200, 20, 0, 2000, 700}},
    {100, "ascend910", "Ascend910A", 256 * 1024, 248 * 1024, 4, 4, false, false, false,
     {1000, 32, 1200, 30, 4, 0.7, 16, 1, 1, 12, 200, 20, 0, 2000, 700}},
};

struct Version { int arch; const char* name; uint32_t cores; };
constexpr Version kVersions[] = {
    {220, "Ascend910B1", 48}, {220, "Ascend910B2", 48}, {220, "Ascend910B2C", 48},
    {220, "Ascend910B3", 40}, {220, "Ascend910B4", 40}, {220, "Ascend910B4-1", 40},
    {220, "Ascend910_9391", 48}, {220, "Ascend910_9392", 48}, {220, "Ascend910_9381", 48},
    {220, "Ascend910_9382", 48}, {220, "Ascend910_9372", 40}, {220, "Ascend910_9362", 40},
    {200, "Ascend310P1", 10}, {200, "Ascend310P3", 8}, {200, "Ascend310P5", 8}, {200, "Ascend310P7", 8},
    {100, "Ascend910A", 32}, {100, "Ascend910ProA", 32}, {100, "Ascend910PremiumA", 32},
    {100, "Ascend910B", 30}, {100, "Ascend910ProB", 30},
};
// clang-format on

}  // namespace

const SocInfo* find_soc(int arch) {
    for (const SocInfo& soc : kSocs)
        if (soc.arch == arch) return &soc;
    return nullptr;
}

uint32_t core_count(const SocInfo& soc, const std::string& version) {
    const std::string name = version.empty() ? soc.default_version : version;
    for (const Version& v : kVersions)
        if (v.arch == soc.arch && name == v.name) return v.cores;
    return 0;
}

}  // namespace ascendc_emulator
