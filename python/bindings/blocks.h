// Memory for large results: huge pages, and blocks that are used again. A fresh page costs more
// than computing what fills it.
#pragma once

#include <cstddef>

namespace ascend_grad::python {

// Results of at least this many bytes come from here.
inline constexpr size_t kSmallestBlock = size_t{4} << 20;

// At least `bytes` bytes, aligned to a huge page, of undefined contents; null when there is no
// memory.
void* take_block(size_t bytes);
// Gives back what take_block gave. The block is kept for the next call, though the system may have
// its pages meanwhile.
void return_block(void* block);

}  // namespace ascend_grad::python
