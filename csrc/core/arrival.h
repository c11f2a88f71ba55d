// Brings the threads of a team, which may have slept, to processors of their own.
//
// Linux starts or wakes a thread where the one runs that does so, and some machines do not move it
// at once. Threads of a team that share a processor spin in turns, waiting for each other, for
// milliseconds: until the runtime lets one sleep or the scheduler moves one.
#pragma once

#include <atomic>

namespace ascend_grad {

class Arrival {
  public:
    // Called by the thread that has the team.
    Arrival();

    // Called by every other member. Where another has its processor it moves to one that is free
    // and allowed, from where it may be moved as ever.
    void arrive();
    // Waits for so many others, leaving them this thread's processor if need be.
    void wait(int others);

  private:
    static constexpr int kProcessors = 1024;

    bool claim(int processor);
    void release(int processor);
    // To a free processor, where another member has this one.
    void settle();

    const int first_;
    std::atomic<int> arrived_{0};
    std::atomic<bool> claimed_[kProcessors]{};
};

}  // namespace ascend_grad
