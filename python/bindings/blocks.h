// Memory for results that is used again: fresh pages cost more than computing what fills them.
#pragma once

#include <cstddef>

namespace ascend_grad::python {

// Results of at least this many bytes come from here. What is smaller NumPy's own memory serves as
// fast (measured).
inline constexpr size_t kSmallestBlock = size_t{16} << 10;

struct Block {
    void* address;  // null when there is no memory
    size_t size;
};

// At least `bytes` bytes of undefined contents that begin with a page, large ones with a huge page.
Block take_block(size_t bytes);
// Gives back what take_block gave. The block is kept for the next call, though the system may have
// its pages meanwhile.
void return_block(Block block);

}  // namespace ascend_grad::python
