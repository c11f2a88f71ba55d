// TQue and TQueBind: AllocTensor, EnQue, DeQue, FreeTensor.
#include <algorithm>

#include "scalar_call.h"

namespace ascendc_emulator {
namespace {

Queue* find_queue(const Use& use, uint32_t handle) {
    Core& core = use.core;
    if (handle == 0 || handle >= core.queues.size()) {
        core.report(core.make("queue-not-initialized", use.instr,
                              "the queue was not given to TPipe::InitBuffer"));
        throw StopKernel{};
    }
    Queue& q = core.queues[handle];
    if (q.dead) {
        core.report(
            core.make("stale-tensor", use.instr, "the queue's TPipe was reset or destroyed"));
        throw StopKernel{};
    }
    return &q;
}

// The whole of a buffer, as AllocTensor returns it.
UbTensor tensor_of(const Core& core, uint32_t buffer) {
    const UbBuffer& b = core.buffers[buffer];
    UbTensor t;
    t.address = b.begin;
    t.bytes = b.bytes;
    t.buffer = buffer;
    t.generation = b.generation;
    t.position = b.position;
    return t;
}

std::string describe(const Queue& q) {
    return "TQue from " + at(q.loc);
}

// The queue's own buffer that the tensor came from, in the wanted state; else reports and gives
// null.
UbBuffer* own_buffer(const Use& use, uint32_t handle, const UbTensor& t, UbBuffer::State wanted,
                     UbBuffer::State also, const char* expected) {
    Core& core = use.core;
    const auto fail = [&](const std::string& message) {
        core.report(core.make("queue-foreign-tensor", use.instr, message, t));
        return nullptr;
    };
    if (t.buffer == 0 || t.buffer >= core.buffers.size() ||
        core.buffers[t.buffer].kind != UbBuffer::kQueue || core.buffers[t.buffer].queue != handle)
        return fail("the tensor is not one of this queue's buffers");
    UbBuffer& b = core.buffers[t.buffer];
    if (t.address != b.begin)
        return fail(
            "the tensor starts inside the buffer: give the tensor that AllocTensor or DeQue "
            "returned");
    if (b.generation != t.generation || (b.state != wanted && b.state != also)) {
        const char* kStates[] = {"free", "allocated", "in the queue", "taken out"};
        return fail(std::string("the buffer is ") + kStates[b.state] + ", expected " + expected);
    }
    return &b;
}

// `ready` is between the pipes `from` and `to`.
void enqueue(const Use& use, uint32_t handle, const UbTensor& t, Pipe from, Pipe to) {
    Queue& q = use.core.queues[handle];
    UbBuffer* b = own_buffer(use, handle, t, UbBuffer::kAllocated, UbBuffer::kTaken, "allocated");
    if (b == nullptr) return;
    if (q.depth > 0 && q.items.size() >= q.depth)
        use.core.report(use.core.make(
            "queue-depth", use.instr,
            "more than " + std::to_string(q.depth) + " EnQue without DeQue: the queue's depth", t,
            static_cast<int64_t>(q.items.size())));
    b->state = UbBuffer::kQueued;
    q.items.push_back({t, use.core.make_queue_flag(from, to, use.instr)});
}

}  // namespace
}  // namespace ascendc_emulator

namespace ascendc_emulator::rt {

UbTensor queue_alloc(uint32_t handle, Loc loc) {
    const Use use = scalar("AllocTensor", loc);
    Core& core = use.core;
    Queue& q = *find_queue(use, handle);
    const auto idle = std::find_if(q.buffers.begin(), q.buffers.end(), [&](uint32_t i) {
        return core.buffers[i].state == UbBuffer::kFree;
    });
    if (idle == q.buffers.end()) {
        Report r = core.make("queue-deadlock", use.instr,
                             "all " + std::to_string(q.buffers.size()) +
                                 " buffers of the queue are in use: AllocTensor waits for ever");
        r.tensor = describe(q);
        core.report(std::move(r));
        throw StopKernel{};
    }
    const auto in_flight =
        std::count_if(core.buffers.begin(), core.buffers.end(), [&](const auto& b) {
            return !b.dead && b.kind == UbBuffer::kQueue && b.state != UbBuffer::kFree &&
                   b.position == core.buffers[*idle].position;
        });
    if (in_flight >= core.soc.tensors_per_position)
        core.report(core.make("tensor-limit", use.instr,
                              "more than " + std::to_string(core.soc.tensors_per_position) +
                                  " tensors allocated at one position on " + core.soc.name,
                              tensor_of(core, *idle), in_flight + 1));
    // Buffers rotate: the next in turn, or the first idle one when kernels free out of order.
    uint32_t pick = q.buffers[q.cursor % q.buffers.size()];
    if (core.buffers[pick].state != UbBuffer::kFree) pick = *idle;
    q.cursor = static_cast<uint32_t>(std::find(q.buffers.begin(), q.buffers.end(), pick) -
                                     q.buffers.begin() + 1);
    UbBuffer& b = core.buffers[pick];
    if (b.freed.set) core.take_queue_flag(q.producer, b.freed);
    b.state = UbBuffer::kAllocated;
    b.alloc_loc = loc;
    ++b.generation;
    core.ub_init.set(b.begin, b.begin + b.bytes, false);
    return tensor_of(core, pick);
}

void queue_enque(uint32_t handle, const UbTensor& t, Loc loc) {
    const Use use = scalar("EnQue", loc);
    const Queue& q = *find_queue(use, handle);
    enqueue(use, handle, t, q.producer, q.consumer);
}

UbTensor queue_deque(uint32_t handle, Loc loc) {
    const Use use = scalar("DeQue", loc);
    Core& core = use.core;
    Queue& q = *find_queue(use, handle);
    if (q.items.empty()) {
        Report r = core.make("queue-empty", use.instr,
                             "no tensor was enqueued: DeQue has nothing to return");
        r.tensor = describe(q);
        core.report(std::move(r));
        throw StopKernel{};
    }
    QueuedTensor item = q.items.front();
    q.items.pop_front();
    core.buffers[item.tensor.buffer].state = UbBuffer::kTaken;
    core.take_queue_flag(q.consumer, item.ready);
    UbTensor t = item.tensor;
    t.bytes = core.buffers[t.buffer].bytes;
    return t;
}

// TQueBind with explicit positions: the order is between the pipes that serve those positions.
void queue_enque(uint32_t handle, const UbTensor& t, TPosition src, TPosition dst, Loc loc) {
    const Use use = scalar("EnQue", loc);
    find_queue(use, handle);
    enqueue(use, handle, t, producer_of(src, dst), consumer_of(src, dst));
}

UbTensor queue_deque(uint32_t handle, TPosition src, TPosition dst, Loc loc) {
    const UbTensor t = queue_deque(handle, loc);
    Core& core = current_core("DeQue");
    // Queued order also holds for the pipe that the explicit positions name.
    join(core.known[consumer_of(src, dst)], core.known[core.queues[handle].consumer]);
    return t;
}

void queue_free(uint32_t handle, const UbTensor& t, Loc loc) {
    const Use use = scalar("FreeTensor", loc);
    Queue& q = *find_queue(use, handle);
    UbBuffer* b = own_buffer(use, handle, t, UbBuffer::kTaken, UbBuffer::kAllocated, "taken out");
    if (b == nullptr) return;
    b->freed = use.core.make_queue_flag(q.consumer, q.producer, use.instr);
    b->state = UbBuffer::kFree;
}

int32_t queue_fact(uint32_t handle, QueueFact fact) {
    const Use use = scalar("TQue", {});
    const Queue& q = *find_queue(use, handle);
    const auto idle = [&](uint32_t i) { return use.core.buffers[i].state == UbBuffer::kFree; };
    switch (fact) {
        case QueueFact::vacant:
            return q.items.size() < std::max<size_t>(q.depth, 1);
        case QueueFact::has_tensor:
            return !q.items.empty();
        case QueueFact::count:
            return static_cast<int32_t>(q.items.size());
        case QueueFact::has_idle:
            return std::any_of(q.buffers.begin(), q.buffers.end(), idle);
    }
    return 0;
}

void queue_free_all_events(uint32_t handle, Loc loc) {
    const Use use = scalar("FreeAllEvent", loc);
    Queue& q = *find_queue(use, handle);
    for (uint32_t i : q.buffers) {
        UbBuffer& b = use.core.buffers[i];
        if (b.freed.set) use.core.take_queue_flag(q.producer, b.freed);
    }
}

}  // namespace ascendc_emulator::rt
