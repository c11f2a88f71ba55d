// Locks that stay usable in a forked child.
#pragma once

#include <mutex>

namespace ascend_grad::capi {

// A new mutex that lives for ever and is held, with all others made here, while the process forks:
// in the child what it guards is whole. No thread may take one of them while it holds another.
//
// The objects of this folder that live for ever are made while the library loads, not when first
// asked for: a child would wait for ever for one that another thread was making. They are never
// destroyed, since other threads may still call in while the process ends.
std::mutex* make_fork_safe_mutex();

// Has `function` called in a forked child, where only the forking thread exists, before fork
// returns there.
struct OnForkInChild {
    explicit OnForkInChild(void (*function)());
};

}  // namespace ascend_grad::capi
