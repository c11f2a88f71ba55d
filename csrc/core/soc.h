// The Ascend products whose rules the parameter checks follow.
#pragma once

#include <cstdint>
#include <string>

namespace ascend_grad {

enum class Soc : int32_t { kAscend910, kAscend910B, kAscend910_93, kAscend310P };

inline constexpr Soc kDefaultSoc = Soc::kAscend910B;

struct SocInfo {
    Soc soc;
    const char* name;       // what the user types: "ascend910b"
    const char* cann_name;  // as CANN spells it: "Ascend910B"
    const char* product;    // "Atlas A2 series"
    bool has_bfloat16;
    bool has_float32_cube;  // FLOAT and HF32 arithmetic on the matrix unit
};

inline constexpr int kSocCount = 4;
const SocInfo& soc_info(Soc soc);
// Null when no product has that name (case is ignored).
const SocInfo* find_soc(const char* name);
// "ascend910, ascend910b, ..."
std::string soc_names();

// The process-wide product: ASCEND_GRAD_SOC or set_default_soc, else kDefaultSoc.
Soc default_soc();
void set_default_soc(Soc soc);

}  // namespace ascend_grad
