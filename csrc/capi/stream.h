// Streams: queues of tasks, each with a thread that runs them in order.
#pragma once

#include <pthread.h>

#include <atomic>
#include <optional>

#include "capi/task.h"

namespace ascend_grad::capi {

using Deadline = std::optional<Clock::time_point>;

// How waiting for queued work ends.
enum class Outcome {
    kDone,
    kTimedOut,
    kDropped,  // another thread destroyed the stream by force: some of it was not done
};

class Stream {
  public:
    Stream();
    ~Stream();  // as close(false)

    // These wait while kCapacity tasks are unfinished; false, and nothing is queued, once the
    // stream is closed.
    bool push(Task&& task);
    bool record(const std::shared_ptr<Event>& event);
    bool wait_for(const std::shared_ptr<Event>& event);

    // Waits for all that was queued before.
    Outcome synchronize(const Deadline& deadline);
    bool is_idle() const;
    // Ends the thread: after all tasks that were queued, or (drop) after the one that is running.
    void close(bool drop);

    static constexpr uint64_t kCapacity = 1024;

  private:
    // Memory for a task, untouched until one is queued.
    struct Slot {
        alignas(Task) unsigned char bytes[sizeof(Task)];
    };
    Task& task(uint64_t number) {
        return *reinterpret_cast<Task*>(slots_[number % kCapacity].bytes);
    }
    // Waits for room for a task; false once the stream is closed.
    bool make_room(std::unique_lock<std::mutex>& lock);
    void queue(Task&& task);  // into the room
    void start();
    void work();
    void run(Task& task, std::unique_lock<std::mutex>& lock);
    void restart_in_child();
    static const OnForkInChild restart_all_;

    // All below is guarded by queue_mutex(), but that what is atomic may be read without it. Tasks
    // are numbered; those in [done_, queued_) are in the queue.
    std::unique_ptr<Slot[]> slots_;
    std::atomic<uint64_t> queued_{0};
    std::atomic<uint64_t> done_{0};
    std::atomic<bool> closing_{false};
    bool dropping_ = false;
    std::atomic<uint64_t> kept_{UINT64_MAX};  // tasks from this one on were dropped
    Event* awaited_ = nullptr;                // by the running task
    std::condition_variable work_arrived_;
    std::condition_variable work_done_;
    pthread_t thread_{};
    bool has_thread_ = false;
};

HandleTable<Stream>& streams();

// Waits for all streams that have a handle.
Outcome synchronize_all(const Deadline& deadline);

}  // namespace ascend_grad::capi
