#include "capi/fork_safety.h"

#include <pthread.h>

#include <vector>

namespace ascend_grad::capi {
namespace {

struct Registered {
    std::mutex mutex;
    std::vector<std::mutex*> mutexes;
    std::vector<void (*)()> functions;
};

Registered& registered();

void unlock_all() {
    for (std::mutex* mutex : registered().mutexes) mutex->unlock();
    registered().mutex.unlock();
}

void before_fork() {
    registered().mutex.lock();
    for (std::mutex* mutex : registered().mutexes) mutex->lock();
}

void in_child() {
    for (void (*function)() : registered().functions) function();
    unlock_all();
}

Registered& registered() {
    // Made by the first of the objects with a mutex: their order is not known.
    static Registered* const instance = [] {
        auto* const made = new Registered;  // first: where it throws, all is done again
        pthread_atfork(before_fork, unlock_all, in_child);
        return made;
    }();
    return *instance;
}

}  // namespace

std::mutex* make_fork_safe_mutex() {
    auto* mutex = new std::mutex;
    const std::lock_guard<std::mutex> lock(registered().mutex);
    registered().mutexes.push_back(mutex);
    return mutex;
}

OnForkInChild::OnForkInChild(void (*function)()) {
    const std::lock_guard<std::mutex> lock(registered().mutex);
    registered().functions.push_back(function);
}

}  // namespace ascend_grad::capi
