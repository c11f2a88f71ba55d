// Two streams with events: order within a stream, order between streams, queries, times and
// timeouts.
#include <atomic>
#include <chrono>
#include <thread>

#include "acl_test.h"

static const Shape kShape = {64, 1000};

// A chain of operators on two streams, each of which needs the other's last result.
static void ping_pong() {
    aclrtStream streams[2];
    aclrtEvent events[2];
    for (int i = 0; i < 2; ++i) {
        CHECK_OK(aclrtCreateStream(&streams[i]));
        CHECK_OK(aclrtCreateEvent(&events[i]));
    }
    Tensor output(kShape, values_like(kShape, 2)),
        buffers[] = {Tensor(kShape, values_like(kShape, 1)), Tensor(kShape)};
    std::vector<float> wanted = values_like(kShape, 1);
    const std::vector<float> factor = values_like(kShape, 2);
    for (int round = 0; round < 20; ++round) {
        const int from = round % 2, to = 1 - from;
        uint64_t workspace_size = 0;
        aclOpExecutor* executor = nullptr;
        void* workspace = nullptr;
        CHECK_OK(aclnnSoftmaxBackwardGetWorkspaceSize(buffers[from], output, 1, buffers[to],
                                                      &workspace_size, &executor));
        if (workspace_size > 0)
            CHECK_OK(aclrtMalloc(&workspace, workspace_size, ACL_MEM_MALLOC_HUGE_FIRST));
        if (round > 0) CHECK_OK(aclrtStreamWaitEvent(streams[to], events[from]));
        CHECK_OK(aclnnSoftmaxBackward(workspace, workspace_size, executor, streams[to]));
        CHECK_OK(aclrtRecordEvent(events[to], streams[to]));
        // Memory that queued work uses stays until the work is done.
        if (workspace != nullptr) CHECK_OK(aclrtFree(workspace));
        wanted = softmax_reference(wanted, factor, 1000);
        const float scale = 1.0f / 64;  // keeps the values from growing
        for (float& value : wanted) value *= scale;
        CHECK_OK(aclrtSynchronizeEvent(events[to]));
        std::vector<float> result = buffers[to].get();
        for (float& value : result) value *= scale;
        CHECK_CLOSE(result, wanted);
        buffers[to].set(wanted);
    }
    for (int i = 0; i < 2; ++i) {
        CHECK_OK(aclrtDestroyEvent(events[i]));
        CHECK_OK(aclrtDestroyStream(streams[i]));
    }
}

// A stream that waits for an event stands still; the other goes on.
static void waiting() {
    aclrtStream first, second;
    aclrtEvent event, done;
    CHECK_OK(aclrtCreateStream(&first));
    CHECK_OK(aclrtCreateStream(&second));
    CHECK_OK(aclrtCreateEvent(&event));
    CHECK_OK(aclrtCreateEvent(&done));
    int32_t* memory = nullptr;
    CHECK_OK(aclrtMalloc(reinterpret_cast<void**>(&memory), 8, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtMemset(memory, 8, 0, 8));
    CHECK_OK(aclrtStreamWaitEvent(first, event));
    CHECK_OK(aclrtMemcpyAsync(memory + 1, 4, memory, 4, ACL_MEMCPY_DEVICE_TO_DEVICE, first));
    CHECK_OK(aclrtRecordEvent(done, first));
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
    CHECK_OK(aclrtQueryEventStatus(event, &status));
    CHECK(status == ACL_EVENT_RECORDED_STATUS_NOT_READY);
    aclrtStreamStatus stream_status = ACL_STREAM_STATUS_COMPLETE;
    CHECK_OK(aclrtStreamQuery(first, &stream_status));
    CHECK(stream_status == ACL_STREAM_STATUS_NOT_READY);
    CHECK_FAILS(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(first, 20),
                "timeout", "20 ms");
    CHECK_FAILS(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeDeviceWithTimeout(20), "20 ms");
    CHECK_FAILS(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, aclrtSynchronizeEventWithTimeout(done, 20),
                "20 ms");
    CHECK_FAILS(ACL_ERROR_INVALID_PARAM, aclrtSynchronizeStreamWithTimeout(first, -2), "timeout",
                "-2");
    CHECK_FAILS(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeEvent(event), "event", "recorded");

    CHECK_OK(aclrtMemsetAsync(memory, 4, 0x11, 4, second));
    CHECK_OK(aclrtRecordEvent(event, second));
    CHECK_OK(aclrtSynchronizeStreamWithTimeout(first, -1));
    CHECK(memory[1] == 0x11111111);
    CHECK_OK(aclrtQueryEventStatus(event, &status));
    CHECK(status == ACL_EVENT_RECORDED_STATUS_COMPLETE);
    CHECK_OK(aclrtStreamQuery(first, &stream_status));
    CHECK(stream_status == ACL_STREAM_STATUS_COMPLETE);

    CHECK_OK(aclrtResetEvent(event, second));
    CHECK_OK(aclrtQueryEventStatus(event, &status));
    CHECK(status == ACL_EVENT_RECORDED_STATUS_NOT_READY);
    // Destroying an event lets go who waits for it; so does destroying the stream by force.
    CHECK_OK(aclrtStreamWaitEvent(first, event));
    CHECK_OK(aclrtDestroyEvent(event));
    CHECK_OK(aclrtSynchronizeStream(first));
    CHECK_OK(aclrtResetEvent(done, first));
    CHECK_OK(aclrtStreamWaitEvent(first, done));
    CHECK_OK(aclrtMemsetAsync(memory, 4, 0x22, 4, first));
    CHECK_OK(aclrtDestroyStreamForce(first));
    CHECK(memory[0] == 0x11111111);
    CHECK_OK(aclrtDestroyEvent(done));
    CHECK_OK(aclrtDestroyStream(second));
    CHECK_OK(aclrtFree(memory));
}

static void times() {
    aclrtEvent start, end, timeless, captured;
    CHECK_OK(aclrtCreateEventWithFlag(&start, ACL_EVENT_TIME_LINE));
    CHECK_OK(aclrtCreateEvent(&end));
    CHECK_OK(aclrtCreateEventWithFlag(&timeless, ACL_EVENT_SYNC));
    CHECK_OK(aclrtCreateEventExWithFlag(&captured, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE));
    CHECK_FAILS(ACL_ERROR_RT_PARAM_INVALID, aclrtCreateEventWithFlag(&start, 64), "flag", "64");
    float ms = -1;
    CHECK_FAILS(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, aclrtEventElapsedTime(&ms, start, end),
                "startEvent");
    // The null stream is the context's default stream. An event of this kind that was not recorded
    // holds nobody up.
    CHECK_OK(aclrtStreamWaitEvent(nullptr, captured));
    CHECK_OK(aclrtRecordEvent(start, nullptr));
    CHECK_OK(aclrtRecordEvent(timeless, nullptr));
    CHECK_OK(aclrtRecordEvent(end, nullptr));
    CHECK_OK(aclrtSynchronizeStream(nullptr));
    CHECK_OK(aclrtEventElapsedTime(&ms, start, end));
    CHECK(ms > 0);
    CHECK_FAILS(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, aclrtEventElapsedTime(&ms, start, timeless),
                "endEvent", "TIME_LINE");
    CHECK_FAILS(ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL, aclrtEventElapsedTime(&ms, end, start),
                "endEvent");
    for (aclrtEvent event : {start, end, timeless, captured}) CHECK_OK(aclrtDestroyEvent(event));
}

// More tasks than a queue holds, in order.
static void long_queue() {
    aclrtStream stream;
    CHECK_OK(
        aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC));
    unsigned char* memory = nullptr;
    CHECK_OK(aclrtMalloc(reinterpret_cast<void**>(&memory), 5001, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_OK(aclrtMemset(memory, 5001, 0, 5001));
    CHECK_OK(aclrtMemsetAsync(memory, 1, 9, 1, stream));
    for (int i = 0; i < 5000; ++i) {
        CHECK_OK(aclrtMemcpyAsync(memory + i + 1, 1, memory + i, 1, ACL_MEMCPY_DEVICE_TO_DEVICE,
                                  stream));
    }
    CHECK_OK(aclrtSynchronizeDevice());
    for (int i = 0; i <= 5000; ++i) CHECK(memory[i] == 9);
    CHECK_OK(aclrtFree(memory));
    CHECK_OK(aclrtDestroyStream(stream));
}

// A thread that waits for room in a queue is told when the stream is destroyed.
static void destroyed_under_way() {
    aclrtStream stream;
    aclrtEvent never, recorded;
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtCreateEvent(&never));
    CHECK_OK(aclrtCreateEvent(&recorded));
    CHECK_OK(aclrtStreamWaitEvent(stream, never));
    std::atomic<bool> has_begun{false};
    std::thread caller([&] {
        int status = 0;
        for (int i = 0; status == 0; ++i) {
            status = i % 2 == 0 ? aclrtRecordEvent(recorded, stream)
                                : aclrtStreamWaitEvent(stream, recorded);
            has_begun = true;
            if (i == 2000) std::exit(1);  // more than a queue takes
        }
        CHECK_FAILS(ACL_ERROR_RT_INVALID_HANDLE, status, "stream", "destroyed");
    });
    while (!has_begun) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK_OK(aclrtDestroyStreamForce(stream));
    caller.join();
    CHECK_FAILS(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeEvent(recorded), "event", "destroyed");
    CHECK_OK(aclrtDestroyEvent(never));
    CHECK_OK(aclrtDestroyEvent(recorded));
}

// Who waits for work that is dropped, or for an event that is destroyed, is not told that it is
// done; another stream goes on.
static void dropped_under_way() {
    aclrtStream stream, other;
    aclrtEvent never, dropped, unreached;
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtCreateStream(&other));
    for (aclrtEvent* event : {&never, &dropped, &unreached}) CHECK_OK(aclrtCreateEvent(event));
    CHECK_OK(aclrtRecordEvent(dropped, other));
    CHECK_OK(aclrtSynchronizeEvent(dropped));
    char byte = 'a';
    CHECK_OK(aclrtStreamWaitEvent(stream, never));
    CHECK_OK(aclrtMemsetAsync(&byte, 1, 'b', 1, stream));
    CHECK_OK(aclrtRecordEvent(unreached, stream));
    CHECK_OK(aclrtRecordEvent(dropped, stream));
    CHECK_OK(aclrtStreamWaitEvent(other, dropped));
    const auto fails = [](const char* parameter, auto wait) {
        return std::thread([parameter, wait] {
            CHECK_FAILS(ACL_ERROR_RT_INVALID_HANDLE, wait(), parameter, "destroyed");
        });
    };
    std::thread first = fails("event", [=] { return aclrtSynchronizeEvent(unreached); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK_OK(aclrtDestroyEvent(unreached));
    first.join();
    std::thread waiting[] = {
        fails("stream", [=] { return aclrtSynchronizeStream(stream); }),
        fails("stream", [=] { return aclrtSynchronizeStreamWithTimeout(stream, 60000); }),
        fails("stream", [] { return aclrtSynchronizeDevice(); }),
        fails("event", [=] { return aclrtSynchronizeEvent(dropped); }),
    };
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    CHECK_OK(aclrtDestroyStreamForce(stream));
    for (std::thread& thread : waiting) thread.join();
    CHECK(byte == 'a');
    CHECK_OK(aclrtSynchronizeStream(other));
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
    CHECK_OK(aclrtQueryEventStatus(dropped, &status));
    CHECK(status == ACL_EVENT_RECORDED_STATUS_NOT_READY);
    float ms;
    CHECK_FAILS(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, aclrtEventElapsedTime(&ms, dropped, dropped),
                "startEvent");
    // Recorded anew, it is as any other.
    CHECK_OK(aclrtRecordEvent(dropped, other));
    CHECK_OK(aclrtSynchronizeEvent(dropped));
    CHECK_OK(aclrtQueryEventStatus(dropped, &status));
    CHECK(status == ACL_EVENT_RECORDED_STATUS_COMPLETE);
    for (aclrtEvent event : {never, dropped}) CHECK_OK(aclrtDestroyEvent(event));
    CHECK_OK(aclrtDestroyStream(other));
}

int main() {
    start();
    ping_pong();
    waiting();
    times();
    long_queue();
    destroyed_under_way();
    dropped_under_way();
    stop();
}
