// Instruction set levels: which this machine has, and which is in use.
#pragma once

#include <string>

namespace ascend_grad {

#if defined(__aarch64__)
enum class Isa : int { kNeon };
inline constexpr int kIsaCount = 1;
#else
enum class Isa : int { kBaseline, kAvx2, kAvx512 };
inline constexpr int kIsaCount = 3;
#endif

const char* isa_name(Isa isa);
bool isa_is_available(Isa isa);

// The level that ASCEND_GRAD_ISA names, else the best available. A name that is unknown or that
// this machine lacks leaves the best in use and is explained in `error`.
Isa select_isa(const char* requested, std::string& error);

}  // namespace ascend_grad
