// What a stream can be asked to do. Tasks are plain values: queueing one allocates nothing.
#pragma once

#include <variant>

#include "capi/event.h"
#include "capi/memory.h"
#include "core/executor.h"

namespace ascend_grad::capi {

struct RunTask {
    Executor executor;
    void* workspace;
    BlockHold memory[kMaxTensors + 1];  // of the tensors and the workspace
    void operator()() const { executor.run(workspace); }
};

// `height` rows of `width` bytes.
struct CopyTask {
    char* destination;
    size_t destination_pitch;
    const char* source;
    size_t source_pitch;
    size_t width, height;
    BlockHold memory[2];
    void operator()() const;
};

struct FillTask {
    void* destination;
    int value;
    size_t count;
    BlockHold memory;
    void operator()() const;
};

struct RecordTask {
    std::shared_ptr<Event> event;
    uint64_t record;
};

struct WaitTask {
    std::shared_ptr<Event> event;
    uint64_t record;
};

using Task = std::variant<RunTask, CopyTask, FillTask, RecordTask, WaitTask>;

}  // namespace ascend_grad::capi
