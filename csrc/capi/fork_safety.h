// Locks that stay usable in a forked child.
#pragma once

#include <mutex>

namespace ascend_grad::capi {

// A new mutex that lives for ever and is held, with all others made here, while the process forks:
// in the child what it guards is whole. No thread may take one of them while it holds another.
std::mutex* make_fork_safe_mutex();

// Calls `function` in a forked child, where only the forking thread exists, before fork returns
// there.
void on_fork_in_child(void (*function)());

}  // namespace ascend_grad::capi
