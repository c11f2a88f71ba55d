// TPipe, TBuf, TBufPool, and InitBuffer of queues.
#include <algorithm>
#include <exception>

#include "scalar_call.h"

namespace ascendc_emulator {
namespace {

constexpr uint32_t kMaxBuffers = 64;

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

void check_request(const Use& use, uint32_t pool, uint32_t number, uint32_t bytes) {
    if (bytes == 0)
        use.core.report(use.core.make("illegal-argument", use.instr, "a buffer of 0 bytes"));
    if (pool != 0 && use.core.pools[pool].dead)
        use.core.report(use.core.make("stale-tensor", use.instr, "the buffer pool was reset"));
    if (live_buffers(use.core) + number > kMaxBuffers)
        use.core.report(
            use.core.make("buffer-limit", use.instr, "a kernel has at most 64 buffers at a time"));
}

uint64_t rounded(uint64_t bytes) {
    return (bytes + 31) / 32 * 32;
}

void kill_buffers(Core& core, std::vector<uint32_t>& indices) {
    for (uint32_t i : indices) {
        UbBuffer& b = core.buffers[i];
        b.dead = true;
        if (b.freed.set) core.drop_queue_flag(b.freed);
        if (b.kind != UbBuffer::kQueue) continue;
        Queue& queue = core.queues[b.queue];
        queue.dead = true;
        for (QueuedTensor& item : queue.items)
            if (item.ready.set) core.drop_queue_flag(item.ready);
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
        UbTensor t;
        t.address = b.begin;
        t.bytes = b.bytes;
        t.buffer = static_cast<uint32_t>(&b - core.buffers.data());
        Report r =
            core.make("queue-leak", instr,
                      std::string("the tensor is ") + kStates[b.state] +
                          (loc.file ? " at TPipe::Reset of " + at(loc) : " when its TPipe ends"),
                      t);
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
    if (std::uncaught_exceptions() == 0) check_leaks(*core, {}, false);
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
    if (number == 0 || number > kMaxBuffers)
        core.report(
            core.make("illegal-argument", use.instr,
                      "number of buffers is " + std::to_string(number) + ", must be 1..64"));
    check_request(use, pool, number, bytes);
    Queue q;
    q.src = src;
    q.dst = dst;
    q.producer = producer_of(src, dst);
    q.consumer = consumer_of(src, dst);
    q.depth = depth;
    q.loc = loc;
    const auto handle = static_cast<uint32_t>(core.queues.size());
    core.queues.push_back(std::move(q));
    for (uint32_t i = 0; i < number; ++i) {
        UbBuffer b;
        b.kind = UbBuffer::kQueue;
        b.position = src == TPosition::GM ? dst : src;
        b.queue = handle;
        b.index = i;
        b.of = number;
        core.queues[handle].buffers.push_back(add_buffer(use, pool, b, rounded(bytes)));
    }
    return handle;
}

uint32_t buffer_init(TPosition position, uint32_t bytes, uint32_t pool, Loc loc) {
    const Use use = scalar("InitBuffer", loc);
    check_request(use, pool, 1, bytes);
    UbBuffer b;
    b.position = position;
    return add_buffer(use, pool, b, rounded(bytes));
}

uint32_t pool_init(TPosition, uint32_t bytes, uint32_t share_with, uint32_t parent, Loc loc) {
    const Use use = scalar("InitBufPool", loc);
    const uint64_t wanted = rounded(bytes);
    const UbPool& place = use.core.pools[share_with != 0 ? share_with : parent];
    if (share_with != 0 && wanted > place.bytes)
        use.core.report(use.core.make("ub-overflow", use.instr,
                                      "needs " + std::to_string(wanted) +
                                          " bytes, but the pool that it shares has " +
                                          std::to_string(place.bytes)));
    UbPool pool;
    pool.begin = share_with != 0 ? place.begin : reserve(use, parent, wanted);
    // Collecting: as much as there is.
    pool.bytes = static_cast<uint32_t>(std::min<uint64_t>(wanted, place.bytes));
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
