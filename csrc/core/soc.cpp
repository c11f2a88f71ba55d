#include "core/soc.h"

#include <strings.h>

#include <atomic>

namespace ascend_grad {
namespace {

constexpr SocInfo kSocs[kSocCount] = {
    {Soc::kAscend910, "ascend910", "Ascend910", "Atlas training series", false, false},
    {Soc::kAscend910B, "ascend910b", "Ascend910B", "Atlas A2 series", true, true},
    {Soc::kAscend910_93, "ascend910_93", "Ascend910_93", "Atlas A3 series", true, true},
    {Soc::kAscend310P, "ascend310p", "Ascend310P", "Atlas inference series", false, false},
};

std::atomic<Soc> g_default_soc{kDefaultSoc};

}  // namespace

const SocInfo& soc_info(Soc soc) {
    return kSocs[static_cast<int>(soc)];
}

const SocInfo* find_soc(const char* name) {
    for (const SocInfo& info : kSocs) {
        if (strcasecmp(info.name, name) == 0) return &info;
    }
    return nullptr;
}

std::string soc_names() {
    std::string names;
    for (const SocInfo& info : kSocs) names.append(names.empty() ? "" : ", ").append(info.name);
    return names;
}

Soc default_soc() {
    return g_default_soc.load(std::memory_order_relaxed);
}

void set_default_soc(Soc soc) {
    g_default_soc.store(soc, std::memory_order_relaxed);
}

}  // namespace ascend_grad
