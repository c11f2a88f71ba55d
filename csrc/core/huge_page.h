// Huge pages, whose first use takes a small part of the time.
#pragma once

#include <cstddef>

namespace ascend_grad {

inline constexpr size_t kHugePage = size_t{2} << 20;
// From which size on memory is made of them; of less, half might be unused.
inline constexpr size_t kSmallestHuge = 2 * kHugePage;

}  // namespace ascend_grad
