// What copies and cores cost in the emulator's model (docs/emulator.md), to choose tilings by.
// Global memory is that of 910B; other products are slower throughout.
#pragma once

#include <cstdint>

namespace ascend_grad::device {

constexpr int64_t kBlockBytes = 32;  // that vector instructions and copies without gaps take
constexpr int64_t kEvenBytes = 512;  // copies that begin at a multiple have the whole bandwidth
constexpr double kUnevenRate = 0.7;  // of it, that others have
constexpr double kSharedRate = 18;   // bytes per cycle that each core has where all copy
constexpr double kCoreRate = 32;     // the same of one alone
constexpr uint32_t kSaturatingCores = 28;  // of 910B, whose kCoreRate is all that memory delivers
constexpr double kCopyCycles = 30;         // start of a copy
constexpr double kPieceCycles = 4;         // of each further piece of it
constexpr int64_t kMaxPieces = 4095;       // of a copy
constexpr int64_t kLeastCoreBytes = 16 << 10;  // that pay for starting another core

}  // namespace ascend_grad::device
