#include "isa/environment.h"

#include <atomic>
#include <cstdlib>
#include <memory>

#include "core/log.h"

namespace ascend_grad {
namespace {

Environment read_environment() {
    Environment result;
    result.isa = select_isa(std::getenv("ASCEND_GRAD_ISA"), result.error);
    if (result.error.empty()) result.error = log_level_error();
    result.soc = kDefaultSoc;
    const char* soc = std::getenv("ASCEND_GRAD_SOC");
    if (soc == nullptr || soc[0] == '\0') return result;
    if (const SocInfo* info = find_soc(soc)) {
        result.soc = info->soc;
    } else if (result.error.empty()) {
        result.error =
            std::string("ASCEND_GRAD_SOC: no product '") + soc + "'; known: " + soc_names();
    }
    return result;
}

}  // namespace

const Environment& environment() {
    static std::atomic<const Environment*> instance{nullptr};
    const Environment* known = instance.load(std::memory_order_acquire);
    if (known != nullptr) return *known;
    auto made = std::make_unique<const Environment>(read_environment());
    if (instance.compare_exchange_strong(known, made.get())) known = made.release();
    return *known;
}

}  // namespace ascend_grad
