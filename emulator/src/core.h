// State of one emulated core. Internal to the library.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
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
    int event = -1, id = -1;  // of a queue's flag between two pipes: what it holds meanwhile
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
    bool dead = false;
    std::vector<uint32_t> buffers;
};

// An API call in the source.
struct Site {
    const char* name = nullptr;
    Loc loc;
    bool operator==(const Site& o) const {
        return name == o.name && loc.file == o.loc.file && loc.line == o.loc.line;
    }
    struct Hash {
        size_t operator()(const Site& s) const {
            return reinterpret_cast<uintptr_t>(s.loc.file) * 31 +
                   reinterpret_cast<uintptr_t>(s.name) * 131071 +
                   static_cast<size_t>(s.loc.line) * 1000003;
        }
    };
};

// One instruction while it runs.
struct Instr {
    const char* name;
    Loc loc;
    Pipe pipe;
    uint32_t site = 0;
    uint32_t clock = 0;
    uint8_t atomic = 0;  // as in Access
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

// A line of GM in the scalar data cache: who had written its bytes when it was taken in.
struct CachedLine {
    std::array<std::pair<uint32_t, uint32_t>, GmBuffer::kLine> writers{};  // (agent, clock)
};

class Core final : public Order {
  public:
    Core(Launch& launch, uint32_t block);

    // Order within and across cores.
    bool before(const Access& earlier, bool earlier_writes, const Access& now) const override;

    Instr begin(const char* name, Pipe pipe, Loc loc);
    Access stamp(const Instr& instr) const;

    // Reports; may throw StopKernel.
    void report(Report report);
    Report make(const char* rule, const Instr& instr, const std::string& message) const;
    // ... about all the bytes of a tensor, or some of a GM buffer.
    Report make(const char* rule, const Instr& instr, const std::string& message, const UbTensor& t,
                int64_t index = -1) const;
    Report make(const char* rule, const Instr& instr, const std::string& message, const GmBuffer& b,
                uint64_t begin, uint64_t end, int64_t index = -1) const;
    void note(const char* rule, const Instr& instr, const std::string& message);
    void note(Report report);

    // UB operands. Ranges are absolute UB bytes. False: reported, do not touch the bytes.
    bool check_tensor(const Instr& instr, const UbTensor& t, const char* role);
    bool check_alignment(const Instr& instr, const UbTensor& t, const char* role, uint32_t bytes);
    bool check_bounds(const Instr& instr, const UbTensor& t, const char* role, uint64_t begin,
                      uint64_t end);
    void access_ub(const Instr& instr, const UbTensor& t, uint64_t begin, uint64_t end,
                   bool writes);
    Report missing_sync(const Instr& instr, const Conflict& c, bool writes) const;
    // The instruction uses the top 8 KiB of UB as scratch: what lies there is lost.
    void use_reserved_ub(const Instr& instr);
    void report_uninitialized(const Instr& instr, const UbTensor& t, const char* role,
                              uint64_t begin, uint64_t end);
    std::string describe(const UbTensor& t) const;
    std::string site_text(const Access& access) const;

    // GM. Null: reported.
    std::shared_ptr<GmBuffer> gm_range(const Instr& instr, const GmTensor& t, uint64_t begin,
                                       uint64_t bytes);
    void access_gm(const Instr& instr, GmBuffer& buffer, uint64_t begin, uint64_t end, bool writes,
                   bool cached = false);
    void report_race(const Instr& instr, const GmBuffer& buffer, uint64_t begin, uint64_t end,
                     bool writes, const Conflict& conflict);
    void check_shared_block(const Instr& instr, GmBuffer& buffer, uint64_t begin, uint64_t end);
    void check_cached_line(const Instr& instr, GmBuffer& buffer, uint64_t begin, uint64_t end);
    CachedLine& take_line(const GmBuffer& buffer, uint64_t byte);
    uint8_t atomic_kind() const;
    void flush_atomics(const GmBuffer* only = nullptr);

    // Time and counts.
    void charge_start();
    void charge(const Instr& instr, double cycles, uint64_t repeats = 0);
    void charge_transfer(const Instr& instr, uint64_t bytes, uint64_t pieces, const uint8_t* gm);
    double occupy_gm(double ready, double cycles);  // end of a transfer that may start at `ready`
    void wait_until(Pipe pipe, double time);

    Flag make_flag(Pipe pipe, Loc loc) const;
    void take_flag(Pipe pipe, const Flag& flag);
    // Those of queues, which take an event id from the pool that AllocEventID takes from.
    Flag make_queue_flag(Pipe from, Pipe to, const Instr& instr);
    void take_queue_flag(Pipe to, Flag& flag);
    void drop_queue_flag(Flag& flag);
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
    std::map<int, uint32_t> queue_events;       // those of them that queues have set

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
    bool compare_mask_set = false;
    uint64_t acc_value = 0, extreme_value = 0, extreme_index = 0;
    uint64_t gather_count = 0;
    std::vector<PendingAtomic> pending_atomics;
    uint64_t pending_bytes = 0;
    std::vector<CachedStore> cached_stores;
    std::map<std::pair<uint64_t, uint64_t>, CachedLine> cached_lines;  // (GM buffer, line of it)

    CoreCost cost;
    std::array<double, kPipes> time{};
    // When the core's share of GM bandwidth is taken: sorted, disjoint (start, end) in cycles.
    std::deque<std::pair<double, double>> gm_busy;
    std::vector<TraceEvent> trace;
    std::map<const void*, uint32_t> sync_counts;  // workspace of the soft SyncAll -> times
    std::map<int, uint32_t> cross_waits;          // mode * 16 + flag -> times
    const char* waiting_in = nullptr;             // for deadlock reports
    const char* waiting_rule = nullptr;
    Loc waiting_loc;
    bool finished = false;
    void release();  // the memory that only a running kernel needs

  private:
    uint32_t intern(const char* name, Loc loc);
    std::unordered_map<Site, uint32_t, Site::Hash> site_cache_;
    Site last_site_;
    uint32_t last_site_id_ = 0;
    mutable std::shared_ptr<GmBuffer> last_gm_;
};

// The core that runs on this thread; reports and aborts when an API is called outside a launch.
Core& current_core(const char* api);
Core* current_core_or_null();

std::string at(Loc loc);  // file:line
std::string hex(uint64_t value);
uint32_t size_of(DType dtype);
const char* dtype_name(DType dtype);
bool is_float(DType dtype);

}  // namespace ascendc_emulator
