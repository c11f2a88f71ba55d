// Kernels without a TPipe, as CANN 9.x writes them: UB handed out front to back.
#pragma once

#include "ascendc_emulator/calls.h"

namespace AscendC {
inline namespace ASCENDC_EMULATOR_ABI {

enum class Hardware : uint8_t { GM, UB, L1, L0A, L0B, L0C, BIAS, FIXBUF, MAX };

// Every launch starts from the state that this sets.
inline void InitSocState() {}

template <Hardware hardware = Hardware::UB>
class LocalMemAllocator {
    static_assert(hardware == Hardware::UB, "the emulator's vector cores have UB only");

  public:
    template <TPosition position, typename T, uint32_t elements>
    LocalTensor<T> Alloc(rt::Loc loc = rt::Loc::here()) {
        return Alloc<position, T>(elements, loc);
    }
    template <typename T, uint32_t elements>
    LocalTensor<T> Alloc(rt::Loc loc = rt::Loc::here()) {
        return Alloc<TPosition::VECCALC, T>(elements, loc);
    }
    template <TPosition position, typename T>
    LocalTensor<T> Alloc(uint32_t elements, rt::Loc loc = rt::Loc::here()) {
        const uint32_t bytes = elements * static_cast<uint32_t>(sizeof(T));
        const uint32_t begin = next_;
        next_ += (bytes + ONE_BLK_SIZE - 1) / ONE_BLK_SIZE * ONE_BLK_SIZE;
        return LocalTensor<T>(rt::absolute_ub(position, begin, bytes, loc));
    }
    template <typename T>
    LocalTensor<T> Alloc(uint32_t elements, rt::Loc loc = rt::Loc::here()) {
        return Alloc<TPosition::VECCALC, T>(elements, loc);
    }
    uint32_t GetCurAddr() const { return next_; }

  private:
    uint32_t next_ = 0;
};

}  // namespace ASCENDC_EMULATOR_ABI
}  // namespace AscendC
