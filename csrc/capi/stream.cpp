#include "capi/stream.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <vector>

#include "core/spin_time.h"

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

namespace {

// Whether the condition came true meanwhile, before the deadline, with no lock held.
template <class Condition>
bool comes_soon(const Condition& condition, const Deadline& deadline) {
    auto end = Clock::now() + kSpinTime;
    if (deadline) end = std::min(end, *deadline);
    do {
        if (condition()) return true;
        std::this_thread::yield();
    } while (Clock::now() < end);
    return false;
}

auto& g_streams = *new HandleTable<Stream>(HandleKind::kStream);
auto& g_all_streams = *new std::vector<Stream*>;  // guarded by queue_mutex()
bool g_closes_at_exit = false;                    // guarded by queue_mutex()

// Threads must not outlive the program's objects: registered with the first stream, so that it is
// called before objects older than that are destroyed.
void close_streams_at_exit() {
    if (g_closes_at_exit) return;
    std::atexit([] {
        for (const std::shared_ptr<Stream>& stream : g_streams.all()) stream->close(true);
    });
    g_closes_at_exit = true;
}

}  // namespace

HandleTable<Stream>& streams() {
    return g_streams;
}

const OnForkInChild Stream::restart_all_([] {
    for (Stream* stream : g_all_streams) stream->restart_in_child();
});

Stream::Stream() : slots_(new Slot[kCapacity]) {
    const std::lock_guard<std::mutex> lock(queue_mutex());
    close_streams_at_exit();
    g_all_streams.reserve(g_all_streams.size() + 1);
    start();
    g_all_streams.push_back(this);  // last: nothing may throw behind it
}

Stream::~Stream() {
    close(false);
    const std::lock_guard<std::mutex> lock(queue_mutex());
    g_all_streams.erase(std::find(g_all_streams.begin(), g_all_streams.end(), this));
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
    const auto finished = [this, target = queued_.load()] { return done_ >= target; };
    if (comes_soon(finished, deadline)) return true;
    std::unique_lock<std::mutex> lock(queue_mutex());
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
        const auto is_wanted = [this] { return closing_ || queued_ != done_; };
        if (!is_wanted()) {
            lock.unlock();
            comes_soon(is_wanted, {});
            lock.lock();
        }
        work_arrived_.wait(lock, is_wanted);
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
    done_ = queued_.load();
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
