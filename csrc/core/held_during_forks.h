// A lock that stays usable in a forked child.
#pragma once

#include <pthread.h>

#include <mutex>

namespace ascend_grad {

// Has `mutex` held during every fork: the child finds it free, and what it guards whole. To be made
// while a library loads: locks of libraries that were loaded before are taken after it.
template <std::mutex& mutex>
struct HeldDuringForks {
    HeldDuringForks() {
        const auto unlock = [] { mutex.unlock(); };
        pthread_atfork([] { mutex.lock(); }, unlock, unlock);
    }
};

}  // namespace ascend_grad
