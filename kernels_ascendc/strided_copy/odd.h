// Memory whose elements do not lie at multiples of their size.
#pragma once

#include "common/copy.h"
#include "device/strided_copy.h"

namespace kernels {

__aicore__ inline bool is_odd(GM_ADDR address, const int64_t* strides, uint32_t size) {
    bool odd = reinterpret_cast<uint64_t>(address) % size != 0;
    for (int32_t i = 0; i < 8; ++i) odd = odd || strides[i] % static_cast<int64_t>(size) != 0;
    return odd;
}

}  // namespace kernels
