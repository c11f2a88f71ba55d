// TPipe, TQue, TBuf, TBufPool.
#include <algorithm>

#include "core.h"

namespace ascendc_emulator {
namespace {

constexpr uint32_t kMaxBuffers = 64;

struct Use {
    Core& core;
    Instr instr;
};

Use scalar(const char* api, Loc loc) {
    Core& core = current_core(api);
    return {core, core.begin(api, kS, loc)};
}

uint32_t live_buffers(const Core& core) {
    return static_cast<uint32_t>(
        std::count_if(core.buffers.begin() + 1, core.buffers.end(), [](const UbBuffer& b) {
            return !b.dead && b.kind != UbBuffer::kAbsolute && b.kind != UbBuffer::kPool;
        }));
}

// Start address of `bytes` more in a pool; reports an overflow.
uint32_t reserve(const Use& use, uint32_t pool_index, uint64_t bytes) {
    UbPool& pool = use.core.pools[pool_index];
    if (pool.used + bytes > pool.bytes) {
        Report r = use.core.make("ub-overflow", use.instr,
                                 "needs " + std::to_string(bytes) + " bytes, but " +
                                     std::to_string(pool.bytes - pool.used) + " of " +
                                     std::to_string(pool.bytes) + " bytes are left in " +
                                     (pool_index == 0 ? "UB" : "the buffer pool"));
        r.begin = pool.used;
        r.end = pool.used + bytes;
        use.core.report(std::move(r));
        return pool.begin;  // collecting: overlay the start, so that the run can go on
    }
    const uint32_t begin = pool.begin + pool.used;
    pool.used += static_cast<uint32_t>(bytes);
    return begin;
}

uint32_t add_buffer(const Use& use, uint32_t pool, UbBuffer buffer, uint64_t bytes) {
    buffer.bytes = static_cast<uint32_t>(std::min<uint64_t>(bytes, use.core.pools[pool].bytes));
    buffer.begin = reserve(use, pool, bytes);
    buffer.loc = use.instr.loc;
    use.core.buffers.push_back(buffer);
    const auto index = static_cast<uint32_t>(use.core.buffers.size() - 1);
    use.core.pools[pool].buffers.push_back(index);
    return index;
}

void check_pool(const Use& use, uint32_t pool) {
    if (pool != 0 && use.core.pools[pool].dead)
        use.core.report(use.core.make("stale-tensor", use.instr, "the buffer pool was reset"));
    if (live_buffers(use.core) >= kMaxBuffers)
        use.core.report(
            use.core.make("buffer-limit", use.instr, "a kernel has at most 64 buffers at a time"));
}

uint64_t rounded(uint64_t bytes) {
    return (bytes + 31) / 32 * 32;
}

Pipe producer_of(TPosition src, TPosition dst) {
    if (src == TPosition::GM) return kMte2;
    if (dst == TPosition::GM) return kV;
    return src == dst ? kV : kMte2;
}
Pipe consumer_of(TPosition src, TPosition dst) {
    if (src == TPosition::GM) return kV;
    if (dst == TPosition::GM) return kMte3;
    return src == dst ? kV : kMte3;
}

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

// The queue's own buffer that the tensor came from, in the wanted state; else reports and gives
// null.
UbBuffer* own_buffer(const Use& use, uint32_t handle, const UbTensor& t, UbBuffer::State wanted,
                     UbBuffer::State also, const char* expected) {
    Core& core = use.core;
    const auto fail = [&](const std::string& message) {
        Report r = core.make("queue-foreign-tensor", use.instr, message);
        r.tensor = core.describe(t);
        core.report(std::move(r));
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

void kill_buffers(Core& core, std::vector<uint32_t>& indices) {
    for (uint32_t i : indices) {
        UbBuffer& b = core.buffers[i];
        b.dead = true;
        if (b.kind == UbBuffer::kQueue) core.queues[b.queue].dead = true;
    }
    indices.clear();
}

void check_leaks(Core& core, Loc loc, bool may_throw) {
    if (!core.launch.options.check_memory || core.launch.stopped()) return;
    for (const UbBuffer& b : core.buffers) {
        if (b.dead || b.kind != UbBuffer::kQueue || b.state == UbBuffer::kFree) continue;
        Instr instr{"AllocTensor", b.alloc_loc, kS};
        const char* kStates[] = {"", "never enqueued and never freed", "still in the queue",
                                 "never freed"};
        Report r =
            core.make("queue-leak", instr,
                      std::string("the tensor is ") + kStates[b.state] + " when the TPipe at " +
                          (loc.file ? loc.file : "?") + ":" + std::to_string(loc.line) + " ends");
        r.tensor = "buffer " + std::to_string(b.index + 1) + " of " + std::to_string(b.of) +
                   " of the TQue from " + (b.loc.file ? b.loc.file : "?") + ":" +
                   std::to_string(b.loc.line);
        if (may_throw) {
            core.report(std::move(r));
        } else {
            core.launch.add_report(std::move(r));
            if (!core.launch.options.collect) return core.launch.stop();
        }
    }
}

void end_pipe(Core& core) {
    for (UbPool& pool : core.pools) {
        kill_buffers(core, pool.buffers);
        pool.used = 0;
        if (&pool != &core.pools[0]) pool.dead = true;
    }
}

}  // namespace
}  // namespace ascendc_emulator

namespace ascendc_emulator::rt {

uint64_t pipe_create(Loc loc) {
    const Use use = scalar("TPipe", loc);
    if (use.core.pipe_id != 0)
        use.core.report(use.core.make("second-pipe", use.instr,
                                      "another TPipe is alive: a kernel has one at a time"));
    end_pipe(use.core);
    return use.core.pipe_id = use.core.sequence;
}

void pipe_destroy(uint64_t pipe) noexcept {
    Core* core = current_core_or_null();
    if (core == nullptr || core->pipe_id != pipe) return;
    check_leaks(*core, {}, false);
    end_pipe(*core);
    core->barrier_all();
    core->pipe_id = 0;
}

void pipe_reset(uint64_t pipe, Loc loc) {
    const Use use = scalar("TPipe::Reset", loc);
    if (use.core.pipe_id != pipe) return;
    check_leaks(use.core, loc, true);
    end_pipe(use.core);
    use.core.barrier_all();
}

uint32_t queue_init(TPosition src, TPosition dst, uint32_t depth, uint32_t number, uint32_t bytes,
                    uint32_t pool, Loc loc) {
    const Use use = scalar("InitBuffer", loc);
    Core& core = use.core;
    check_pool(use, pool);
    if (number == 0 || number > kMaxBuffers)
        core.report(
            core.make("illegal-argument", use.instr,
                      "number of buffers is " + std::to_string(number) + ", must be 1..64"));
    if (bytes == 0) core.report(core.make("illegal-argument", use.instr, "a buffer of 0 bytes"));
    Queue q;
    q.src = src;
    q.dst = dst;
    q.producer = producer_of(src, dst);
    q.consumer = consumer_of(src, dst);
    q.depth = depth;
    q.loc = loc;
    const auto handle = static_cast<uint32_t>(core.queues.size());
    for (uint32_t i = 0; i < number; ++i) {
        UbBuffer b;
        b.kind = UbBuffer::kQueue;
        b.position = src == TPosition::GM ? dst : src;
        b.queue = handle;
        b.index = i;
        b.of = number;
        q.buffers.push_back(add_buffer(use, pool, b, rounded(bytes)));
    }
    core.queues.push_back(std::move(q));
    return handle;
}

uint32_t buffer_init(TPosition position, uint32_t bytes, uint32_t pool, Loc loc) {
    const Use use = scalar("InitBuffer", loc);
    check_pool(use, pool);
    if (bytes == 0)
        use.core.report(use.core.make("illegal-argument", use.instr, "a buffer of 0 bytes"));
    UbBuffer b;
    b.position = position;
    return add_buffer(use, pool, b, rounded(bytes));
}

uint32_t pool_init(TPosition, uint32_t bytes, uint32_t share_with, uint32_t parent, Loc loc) {
    const Use use = scalar("InitBufPool", loc);
    UbPool pool;
    pool.bytes = static_cast<uint32_t>(rounded(bytes));
    pool.parent = parent;
    pool.begin =
        share_with != 0 ? use.core.pools[share_with].begin : reserve(use, parent, pool.bytes);
    use.core.pools.push_back(pool);
    return static_cast<uint32_t>(use.core.pools.size() - 1);
}

void pool_reset(uint32_t index, Loc loc) {
    const Use use = scalar("TBufPool::Reset", loc);
    UbPool& pool = use.core.pools[index];
    kill_buffers(use.core, pool.buffers);
    pool.used = 0;
    use.core.barrier_all();
}

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
        r.tensor = "TQue from " + std::string(q.loc.file ? q.loc.file : "?") + ":" +
                   std::to_string(q.loc.line);
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
                                  " tensors allocated at one position on " + core.soc.name));
    // Buffers rotate: the next in turn, or the first idle one when kernels free out of order.
    uint32_t pick = q.buffers[q.cursor % q.buffers.size()];
    if (core.buffers[pick].state != UbBuffer::kFree) pick = *idle;
    q.cursor = static_cast<uint32_t>(std::find(q.buffers.begin(), q.buffers.end(), pick) -
                                     q.buffers.begin() + 1);
    UbBuffer& b = core.buffers[pick];
    if (b.freed.set) core.take_flag(q.producer, b.freed);
    b.freed.set = false;
    b.state = UbBuffer::kAllocated;
    b.alloc_loc = loc;
    ++b.generation;
    core.ub_init.set(b.begin, b.begin + b.bytes, false);
    UbTensor t;
    t.address = b.begin;
    t.bytes = b.bytes;
    t.buffer = pick;
    t.generation = b.generation;
    t.position = b.position;
    return t;
}

void queue_enque(uint32_t handle, const UbTensor& t, Loc loc) {
    const Use use = scalar("EnQue", loc);
    Queue& q = *find_queue(use, handle);
    UbBuffer* b = own_buffer(use, handle, t, UbBuffer::kAllocated, UbBuffer::kTaken, "allocated");
    if (b == nullptr) return;
    if (q.depth > 0 && q.items.size() >= q.depth)
        use.core.report(use.core.make(
            "queue-depth", use.instr,
            "more than " + std::to_string(q.depth) + " EnQue without DeQue: the queue's depth"));
    b->state = UbBuffer::kQueued;
    q.items.push_back({t, use.core.make_flag(q.producer, loc)});
}

UbTensor queue_deque(uint32_t handle, Loc loc) {
    const Use use = scalar("DeQue", loc);
    Core& core = use.core;
    Queue& q = *find_queue(use, handle);
    if (q.items.empty()) {
        Report r = core.make("queue-empty", use.instr,
                             "no tensor was enqueued: DeQue has nothing to return");
        r.tensor = "TQue from " + std::string(q.loc.file ? q.loc.file : "?") + ":" +
                   std::to_string(q.loc.line);
        core.report(std::move(r));
        throw StopKernel{};
    }
    const QueuedTensor item = q.items.front();
    q.items.pop_front();
    core.buffers[item.tensor.buffer].state = UbBuffer::kTaken;
    core.take_flag(q.consumer, item.ready);
    UbTensor t = item.tensor;
    t.bytes = core.buffers[t.buffer].bytes;
    return t;
}

// TQueBind with explicit positions: the order is between the pipes that serve those positions.
void queue_enque(uint32_t handle, const UbTensor& t, TPosition src, TPosition dst, Loc loc) {
    const Use use = scalar("EnQue", loc);
    Queue& q = *find_queue(use, handle);
    UbBuffer* b = own_buffer(use, handle, t, UbBuffer::kAllocated, UbBuffer::kTaken, "allocated");
    if (b == nullptr) return;
    b->state = UbBuffer::kQueued;
    q.items.push_back({t, use.core.make_flag(producer_of(src, dst), loc)});
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
    b->freed = use.core.make_flag(q.consumer, loc);
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
        if (b.freed.set) use.core.take_flag(q.producer, b.freed);
        b.freed.set = false;
    }
}

UbTensor buffer_get(uint32_t handle, uint64_t offset, uint64_t bytes, bool whole, Loc loc) {
    const Use use = scalar(offset != 0 ? "GetWithOffset" : "Get", loc);
    Core& core = use.core;
    if (handle == 0 || handle >= core.buffers.size()) {
        core.report(core.make("queue-not-initialized", use.instr,
                              "the TBuf was not given to TPipe::InitBuffer"));
        throw StopKernel{};
    }
    const UbBuffer& b = core.buffers[handle];
    UbTensor t;
    t.address = b.begin + static_cast<uint32_t>(offset);
    t.bytes = whole ? b.bytes : static_cast<uint32_t>(bytes);
    t.buffer = handle;
    t.generation = b.generation;
    t.position = b.position;
    if (!whole && offset + bytes > b.bytes) {
        Report r = core.make("ub-out-of-bounds", use.instr,
                             "asks for bytes " + std::to_string(offset) + ".." +
                                 std::to_string(offset + bytes) + " of a buffer of " +
                                 std::to_string(b.bytes) + " bytes");
        r.tensor = core.describe(t);
        r.begin = offset;
        r.end = offset + bytes;
        core.report(std::move(r));
    }
    return t;
}

UbTensor absolute_ub(TPosition position, uint32_t offset, uint32_t bytes, Loc loc) {
    const Use use = scalar("GetAbsAddr", loc);
    Core& core = use.core;
    if (uint64_t(offset) + bytes > core.ub.size())
        core.report(core.make("ub-out-of-bounds", use.instr, "the range ends beyond UB"));
    UbBuffer b;
    b.kind = UbBuffer::kAbsolute;
    b.position = position;
    b.begin = std::min<uint32_t>(offset, static_cast<uint32_t>(core.ub.size()));
    b.bytes = std::min<uint32_t>(bytes, static_cast<uint32_t>(core.ub.size()) - b.begin);
    b.loc = loc;
    core.buffers.push_back(b);
    UbTensor t;
    t.address = b.begin;
    t.bytes = b.bytes;
    t.buffer = static_cast<uint32_t>(core.buffers.size() - 1);
    t.position = position;
    return t;
}

uint8_t* ub_pointer(const UbTensor& t, uint64_t byte_offset) {
    Core& core = current_core("GetPhyAddr");
    return core.ub.data() + std::min<uint64_t>(t.address + byte_offset, core.ub.size());
}

UbTensor ub_tensor_at(uint64_t pointer) {
    Core& core = current_core("TransDataTo5HD");
    UbTensor t;
    const uint64_t offset = pointer - reinterpret_cast<uintptr_t>(core.ub.data());
    for (uint32_t i = 1; i < core.buffers.size(); ++i) {
        const UbBuffer& b = core.buffers[i];
        if (b.dead || b.kind == UbBuffer::kPool || offset < b.begin || offset >= b.begin + b.bytes)
            continue;
        t.address = static_cast<uint32_t>(offset);
        t.bytes = b.begin + b.bytes - t.address;
        t.buffer = i;
        t.generation = b.generation;
        t.position = b.position;
    }
    return t;
}

}  // namespace ascendc_emulator::rt
