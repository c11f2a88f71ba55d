// Memory for results and workspaces that is used again: fresh pages cost more than computing what
// fills them.
#pragma once

#include <cstddef>

namespace ascend_grad::python {

struct Block {
    void* address;
    size_t size;
};

// At least `bytes` bytes of undefined contents that begin with a page, large ones with a huge page.
// The address is null where there is no memory, and for less than 16 KiB or a page: so little
// costs no more elsewhere (measured).
Block take_block(size_t bytes);
// Gives back what take_block gave. The block is kept for the next call, though the system may have
// its pages meanwhile.
void return_block(Block block);

}  // namespace ascend_grad::python
