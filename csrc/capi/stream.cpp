#include "capi/stream.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "capi/error.h"
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

// Kernels need up to 400 KiB; what a process gives its threads by default may be less.
constexpr size_t kSmallestStack = 1 << 20;

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
    pthread_attr_t attributes;
    size_t size = 0;
    if (pthread_attr_init(&attributes) != 0) throw NoThread();
    pthread_attr_getstacksize(&attributes, &size);
    pthread_attr_setstacksize(&attributes, std::max(size, kSmallestStack));
    const auto body = [](void* stream) -> void* {
        static_cast<Stream*>(stream)->work();
        return nullptr;
    };
    has_thread_ = pthread_create(&thread_, &attributes, body, this) == 0;
    pthread_attr_destroy(&attributes);
    if (!has_thread_) throw NoThread();
}

bool Stream::make_room(std::unique_lock<std::mutex>& lock) {
    work_done_.wait(lock, [&] { return closing_ || queued_ - done_ < kCapacity; });
    if (closing_) return false;
    if (!has_thread_) start();  // in a forked child
    return true;
}

void Stream::queue(Task&& task) {
    new (slots_[queued_ % kCapacity].bytes) Task(std::move(task));
    ++queued_;
    work_arrived_.notify_one();
}

bool Stream::push(Task&& task) {
    std::unique_lock<std::mutex> lock(queue_mutex());
    if (!make_room(lock)) return false;
    queue(std::move(task));
    return true;
}

bool Stream::record(const std::shared_ptr<Event>& event) {
    std::unique_lock<std::mutex> lock(queue_mutex());
    if (!make_room(lock)) return false;
    queue(RecordTask{event, ++event->queued});
    return true;
}

bool Stream::wait_for(const std::shared_ptr<Event>& event) {
    std::unique_lock<std::mutex> lock(queue_mutex());
    const uint64_t record = event->awaited_record();
    if (!make_room(lock)) return false;
    queue(WaitTask{event, record});
    return true;
}

Outcome Stream::synchronize(const Deadline& deadline) {
    const uint64_t target = queued_;
    const auto finished = [this, target] { return done_ >= target; };
    if (!comes_soon(finished, deadline)) {
        std::unique_lock<std::mutex> lock(queue_mutex());
        if (!deadline) {
            work_done_.wait(lock, finished);
        } else if (!work_done_.wait_until(lock, *deadline, finished)) {
            return Outcome::kTimedOut;
        }
    }
    return kept_ >= target ? Outcome::kDone : Outcome::kDropped;
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
    const pthread_t thread = thread_;
    const bool joins = std::exchange(has_thread_, false);
    lock.unlock();
    if (joins) pthread_join(thread, nullptr);
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

// Runs and destroys the task, with the lock free; a record that is dropped holds nobody up.
void Stream::run(Task& task, std::unique_lock<std::mutex>& lock) {
    if (const auto* record = std::get_if<RecordTask>(&task)) {
        if (dropping_) {
            record->event->release(record->record);
        } else {
            record->event->complete(record->record);
        }
    } else if (const auto* wait = std::get_if<WaitTask>(&task)) {
        awaited_ = wait->event.get();
        awaited_->changed.wait(lock,
                               [&] { return dropping_ || awaited_->released >= wait->record; });
        awaited_ = nullptr;
    }
    const bool drop = dropping_;
    if (drop) kept_ = std::min<uint64_t>(kept_, done_);
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
    has_thread_ = false;
    new (&work_arrived_) std::condition_variable;
    new (&work_done_) std::condition_variable;
}

Outcome synchronize_all(const Deadline& deadline) {
    Outcome result = Outcome::kDone;
    for (const std::shared_ptr<Stream>& stream : streams().all()) {
        const Outcome outcome = stream->synchronize(deadline);
        if (outcome == Outcome::kTimedOut) return outcome;
        if (outcome == Outcome::kDropped) result = outcome;
    }
    return result;
}

}  // namespace ascend_grad::capi
