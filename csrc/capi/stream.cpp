#include "capi/stream.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>

namespace ascend_grad::capi {

void CopyTask::operator()() const {
    if (width == destination_pitch && width == source_pitch) {
        std::memmove(destination, source, width * height);
        return;
    }
    for (size_t row = 0; row < height; ++row) {
        std::memmove(destination + row * destination_pitch, source + row * source_pitch, width);
    }
}

void FillTask::operator()() const {
    std::memset(destination, value, count);
}

// Guarded by queue_mutex().
std::vector<Stream*>& Stream::instances() {
    static auto* const instance = [] {
        on_fork_in_child([] {
            for (Stream* stream : instances()) stream->restart_in_child();
        });
        // Threads must not outlive the program's objects, nor the library when it is unloaded.
        std::atexit([] {
            for (const std::shared_ptr<Stream>& stream : streams().all()) stream->close(true);
        });
        return new std::vector<Stream*>;
    }();
    return *instance;
}

HandleTable<Stream>& streams() {
    static auto* const instance = new HandleTable<Stream>(HandleKind::kStream);
    return *instance;
}

Stream::Stream() : slots_(new Slot[kCapacity]) {
    std::vector<Stream*>& streams = instances();
    const std::lock_guard<std::mutex> lock(queue_mutex());
    streams.reserve(streams.size() + 1);
    start();
    streams.push_back(this);  // last: nothing may throw behind it
}

Stream::~Stream() {
    close(false);
    const std::lock_guard<std::mutex> lock(queue_mutex());
    std::vector<Stream*>& streams = instances();
    streams.erase(std::find(streams.begin(), streams.end(), this));
}

void Stream::start() {
    thread_ = std::thread(&Stream::work, this);
}

bool Stream::push(Task&& task) {
    std::unique_lock<std::mutex> lock(queue_mutex());
    return push(std::move(task), lock);
}

bool Stream::push(Task&& task, std::unique_lock<std::mutex>& lock) {
    work_done_.wait(lock, [&] { return closing_ || queued_ - done_ < kCapacity; });
    if (closing_) return false;
    if (!thread_.joinable()) start();  // in a forked child
    new (slots_[queued_ % kCapacity].bytes) Task(std::move(task));
    ++queued_;
    work_arrived_.notify_one();
    return true;
}

bool Stream::record(const std::shared_ptr<Event>& event) {
    std::unique_lock<std::mutex> lock(queue_mutex());
    const uint64_t record = ++event->queued;
    if (push(RecordTask{event, record}, lock)) return true;
    event->complete(record);  // nobody shall wait for what never comes
    return false;
}

bool Stream::wait_for(const std::shared_ptr<Event>& event) {
    std::unique_lock<std::mutex> lock(queue_mutex());
    return push(WaitTask{event, event->awaited_record()}, lock);
}

bool Stream::synchronize(const Deadline& deadline) {
    std::unique_lock<std::mutex> lock(queue_mutex());
    const auto finished = [this, target = queued_] { return done_ >= target; };
    if (deadline) return work_done_.wait_until(lock, *deadline, finished);
    work_done_.wait(lock, finished);
    return true;
}

bool Stream::is_idle() const {
    const std::lock_guard<std::mutex> lock(queue_mutex());
    return done_ == queued_;
}

void Stream::close(bool drop) {
    std::unique_lock<std::mutex> lock(queue_mutex());
    closing_ = true;
    if (drop) {
        dropping_ = true;
        if (awaited_ != nullptr) awaited_->changed.notify_all();
    }
    work_arrived_.notify_one();
    work_done_.notify_all();
    std::thread thread = std::move(thread_);
    lock.unlock();
    if (thread.joinable()) thread.join();
}

void Stream::work() {
    std::unique_lock<std::mutex> lock(queue_mutex());
    for (;;) {
        work_arrived_.wait(lock, [&] { return closing_ || queued_ != done_; });
        if (queued_ == done_) return;
        run(task(done_), lock);
        ++done_;
        work_done_.notify_all();
    }
}

// Runs and destroys the task, with the lock free; where tasks are dropped, events are completed all
// the same.
void Stream::run(Task& task, std::unique_lock<std::mutex>& lock) {
    if (const auto* record = std::get_if<RecordTask>(&task)) {
        record->event->complete(record->record);
    } else if (const auto* wait = std::get_if<WaitTask>(&task)) {
        awaited_ = wait->event.get();
        awaited_->changed.wait(lock,
                               [&] { return dropping_ || awaited_->completed >= wait->record; });
        awaited_ = nullptr;
    }
    const bool drop = dropping_;
    lock.unlock();
    if (!drop) {
        std::visit(
            [](const auto& work) {
                if constexpr (std::is_invocable_v<decltype(work)>) work();
            },
            task);
    }
    task.~Task();
    lock.lock();
}

void Stream::restart_in_child() {
    done_ = queued_;
    awaited_ = nullptr;
    // The parent's thread and those that wait there do not exist here.
    new (&thread_) std::thread;
    new (&work_arrived_) std::condition_variable;
    new (&work_done_) std::condition_variable;
}

bool synchronize_all(const Deadline& deadline) {
    for (const std::shared_ptr<Stream>& stream : streams().all()) {
        if (!stream->synchronize(deadline)) return false;
    }
    return true;
}

}  // namespace ascend_grad::capi
