// State of a launch and of one emulated core. Internal to the library.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "ascendc_emulator.h"
#include "ascendc_emulator/runtime.h"
#include "gm_memory.h"
#include "shadow.h"
#include "soc_info.h"

namespace ascendc_emulator {

using AscendC::TPosition;
using rt::DType;
using rt::GmTensor;
using rt::Loc;
using rt::UbTensor;

class Launch;

// Unwinds the kernel when the launch stops. Never leaves Launch::run.
struct StopKernel {};

// What a pipe knows to have happened on the pipes of its own core.
using Clocks = std::array<uint32_t, kPipes>;
void join(Clocks& into, const Clocks& from);

struct Flag {
    Clocks clocks{};
    double time = 0;
    Loc loc;
    bool set = false;
};

// A stretch of UB handed out by InitBuffer: one buffer of a queue, a TBuf, or a pool.
struct UbBuffer {
    uint32_t begin = 0, bytes = 0;
    uint32_t generation = 0;
    enum Kind : uint8_t { kQueue, kBuf, kPool, kAbsolute } kind = kBuf;
    enum State : uint8_t { kFree, kAllocated, kQueued, kTaken } state = kFree;
    bool dead = false;  // its pipe was reset or destroyed
    TPosition position = TPosition::VECCALC;
    uint32_t queue = 0;
    uint32_t index = 0, of = 1;
    Flag freed;     // consumer -> producer
    Loc loc;        // InitBuffer
    Loc alloc_loc;  // last AllocTensor
};

struct QueuedTensor {
    UbTensor tensor;
    Flag ready;  // producer -> consumer
};

struct Queue {
    TPosition src, dst;
    Pipe producer, consumer;
    uint32_t depth = 1;
    std::vector<uint32_t> buffers;  // indices into Core::buffers
    std::deque<QueuedTensor> items;
    uint32_t cursor = 0;
    bool dead = false;
    Loc loc;
};

struct UbPool {
    uint32_t begin = 0, bytes = 0, used = 0;
    uint32_t parent = 0;
    bool dead = false;
    std::vector<uint32_t> buffers, queues;
};

// One instruction while it runs.
struct Instr {
    const char* name;
    Loc loc;
    Pipe pipe;
    uint32_t site = 0;
    uint32_t clock = 0;
    bool atomic = false;
};

struct PendingAtomic {
    std::shared_ptr<GmBuffer> buffer;
    uint64_t offset;
    DType dtype;
    std::vector<uint8_t> data;
};

// Scalar stores to GM that DataCacheCleanAndInvalid has not published.
struct CachedStore {
    std::shared_ptr<GmBuffer> buffer;
    uint64_t begin, end;
};

class Core final : public Order {
  public:
    Core(Launch& launch, uint32_t block);

    // Order within and across cores.
    bool before(const Access& earlier, bool earlier_writes, const Access& now,
                bool now_writes) const override;

    Instr begin(const char* name, Pipe pipe, Loc loc);
    Access stamp(const Instr& instr) const;

    // Reports; may throw StopKernel.
    void report(Report report);
    Report make(const char* rule, const Instr& instr, const std::string& message) const;
    void note(const char* rule, const Instr& instr, const std::string& message);

    // UB operands. Ranges are absolute UB bytes. False: reported, do not touch the bytes.
    bool check_tensor(const Instr& instr, const UbTensor& t, const char* role);
    bool check_alignment(const Instr& instr, const UbTensor& t, const char* role, uint32_t bytes);
    bool check_bounds(const Instr& instr, const UbTensor& t, const char* role, uint64_t begin,
                      uint64_t end);
    void access_ub(const Instr& instr, const UbTensor& t, uint64_t begin, uint64_t end,
                   bool writes);
    void report_uninitialized(const Instr& instr, const UbTensor& t, const char* role,
                              uint64_t begin, uint64_t end);
    std::string describe(const UbTensor& t) const;
    std::string site_text(const Access& access) const;

    // GM. Null: reported.
    std::shared_ptr<GmBuffer> gm_range(const Instr& instr, const GmTensor& t, uint64_t begin,
                                       uint64_t bytes);
    void access_gm(const Instr& instr, GmBuffer& buffer, uint64_t begin, uint64_t end, bool writes,
                   bool cached = false);
    void check_shared_block(const Instr& instr, GmBuffer& buffer, uint64_t begin, uint64_t end);
    void flush_atomics(const GmBuffer* only = nullptr);

    // Time and counts.
    void charge(const Instr& instr, double cycles, uint64_t repeats = 0);
    void charge_transfer(const Instr& instr, uint64_t bytes, uint64_t pieces, const uint8_t* gm);
    double occupy_gm(double ready, double cycles);  // end of a transfer that may start at `ready`
    void wait_until(Pipe pipe, double time);

    Flag make_flag(Pipe pipe, Loc loc) const;
    void take_flag(Pipe pipe, const Flag& flag);
    void barrier(Pipe pipe);
    void barrier_all();

    Launch& launch;
    const SocInfo& soc;
    const uint32_t block;
    uint64_t sequence = 0;

    std::vector<uint8_t> ub;
    AccessMap ub_history;
    InitMap ub_init;
    std::vector<UbBuffer> buffers;  // [0] unused
    std::vector<Queue> queues;      // [0] unused
    std::vector<UbPool> pools;      // [0]: the whole UB
    uint64_t pipe_id = 0;

    Clocks clock{};                             // instructions issued
    std::array<Clocks, kPipes> known{};         // per pipe
    std::vector<uint32_t> remote;               // what this core knows of other cores' agents
    std::map<std::pair<int, int>, Flag> flags;  // (HardEvent, id)
    std::map<int, uint32_t> reserved_events;    // HardEvent -> bit mask

    // Control registers.
    AscendC::MaskMode mask_mode = AscendC::MaskMode::NORMAL;
    uint64_t mask_high = ~uint64_t(0), mask_low = ~uint64_t(0);
    rt::Atomic atomic = rt::Atomic::none;
    DType atomic_dtype = DType::other;
    Loc atomic_loc;
    float deq_scale = 1.0f;
    const char* scratched_by = nullptr;  // last instruction that used the top 8 KiB of UB
    Loc scratched_at;
    uint64_t compare_mask[2] = {};
    uint64_t acc_value = 0, extreme_value = 0, extreme_index = 0;
    uint64_t gather_count = 0;
    std::vector<PendingAtomic> pending_atomics;
    uint64_t pending_bytes = 0;
    std::vector<CachedStore> cached_stores;

    CoreCost cost;
    std::array<double, kPipes> time{};
    double finish_time = 0;
    // When the core's share of GM bandwidth is taken: sorted, disjoint (start, end) in cycles.
    std::deque<std::pair<double, double>> gm_busy;
    std::vector<TraceEvent> trace;
    uint32_t sync_count = 0;
    std::map<int, uint32_t> cross_sets, cross_waits;  // mode * 16 + flag -> times
    const char* waiting_in = nullptr;                 // for deadlock reports
    Loc waiting_loc;
    bool finished = false;
    void release();  // the memory that only a running kernel needs

  private:
    uint32_t intern(const char* name, Loc loc);
    std::unordered_map<uint64_t, uint32_t> site_cache_;
    uint64_t last_site_key_ = 0;
    uint32_t last_site_ = 0;
    mutable std::shared_ptr<GmBuffer> last_gm_;
};

struct Site {
    const char* name;
    Loc loc;
};

class Launch {
  public:
    Launch(const SocInfo& soc, std::string kernel, uint32_t block_dim, const Options& options);
    Result run(const std::function<void()>& body);

    bool stopped() const { return stop_.load(std::memory_order_relaxed); }
    void stop();
    void add_report(Report report);
    uint32_t intern(const char* name, Loc loc);
    Site site(uint32_t id) const;

    // Blocks until `ready()`, called with `mutex` held by `lock`. False: the launch stopped, or no
    // core can ever make it ready (reported).
    bool wait(std::unique_lock<std::mutex>& lock, Core& core, const Instr& instr, const char* rule,
              const std::function<bool()>& ready);
    void state_changed();  // after anything a waiting core may look at; `mutex` held
    void release_all_atomics();
    // Gives a GM buffer its access history when the launch first touches it.
    void attach(const std::shared_ptr<GmBuffer>& buffer);

    const SocInfo& soc;
    const std::string kernel;
    const Options options;
    const uint32_t block_dim;  // as launched
    uint32_t blocks;           // vector cores at work
    uint32_t core_limit;
    int sub_blocks = 1;
    double gm_rate = 0;  // bytes per cycle and core

    std::mutex mutex;  // everything below
    std::condition_variable changed;
    std::vector<std::unique_ptr<Core>> cores;  // by block
    std::vector<uint32_t> barrier_clocks;
    double barrier_time = 0;
    std::vector<uint32_t> released_clocks;  // of the round that ended last
    double released_time = 0;
    uint32_t barrier_arrived = 0;
    uint32_t barrier_round = 0;
    uint32_t finished_cores = 0;
    struct Signal {
        bool set = false;
        std::vector<uint32_t> clocks;
        double time = 0;
        uint64_t count = 0;
    };
    std::map<std::pair<const void*, int64_t>, Signal> signals;
    std::map<std::pair<int, uint32_t>, std::vector<uint32_t>> cross_clocks;

  private:
    void run_block(uint32_t block, const std::function<void()>& body);
    void finish_core(Core& core);
    void check_end(Core& core);
    void report_garbage();
    Cost collect_cost() const;

    const uint64_t id_;
    std::mutex attach_mutex_;
    std::vector<std::shared_ptr<GmBuffer>> attached_;
    std::atomic<bool> stop_{false};
    std::string deadlock_text() const;
    uint32_t waiting_ = 0, not_ready_ = 0;
    uint64_t version_ = 0;
    mutable std::mutex report_mutex_;
    std::vector<Report> reports_;
    std::map<std::string, int> seen_;
    uint64_t dropped_ = 0;
    mutable std::shared_mutex site_mutex_;
    std::vector<Site> sites_;
    std::map<std::pair<uintptr_t, std::pair<uintptr_t, int>>, uint32_t> site_index_;
};

// The core that runs on this thread; reports and aborts when an API is called outside a launch.
Core& current_core(const char* api);
Core* current_core_or_null();

std::string at(Loc loc);  // file:line
std::string hex(uint64_t value);
uint32_t size_of(DType dtype);
const char* dtype_name(DType dtype);

}  // namespace ascendc_emulator
