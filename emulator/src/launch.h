// State of a launch: its cores and what they share. Internal to the library.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <shared_mutex>

#include "core.h"

namespace ascendc_emulator {

class Launch {
  public:
    Launch(const SocInfo& soc, std::string kernel, uint32_t block_dim, const Options& options);
    Result run(const std::function<void()>& body);

    bool stopped() const { return stop_.load(std::memory_order_relaxed); }
    void stop();
    void add_report(Report report);
    uint32_t intern(const Site& site);
    Site site(uint32_t id) const;

    // Blocks until `ready()`, called with `mutex` held by `lock`. False: the launch stopped, or no
    // core can ever make it ready (reported).
    bool wait(std::unique_lock<std::mutex>& lock, Core& core, const Instr& instr, const char* rule,
              const std::function<bool()>& ready);
    void state_changed();  // after anything a waiting core may look at; `mutex` held
    void release_atomics(uint32_t cores_from_the_first);
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

    std::mutex mutex;  // what follows, as far as cross_flags
    std::condition_variable changed;
    std::vector<std::unique_ptr<Core>> cores;  // by block
    struct Barrier {
        std::vector<uint32_t> clocks;
        double time = 0;
        std::vector<uint32_t> released_clocks;  // of the round that ended last
        double released_time = 0;
        uint32_t arrived = 0, round = 0;
        uint32_t first = 0, members = 0;  // the core that came first to this round, and how many
    };
    std::map<const void*, Barrier> barriers;  // by workspace of SyncAll; null: in hardware
    uint32_t finished_cores = 0;
    struct Signal {
        bool set = false;
        std::vector<uint32_t> clocks;
        double time = 0;
        uint64_t count = 0;
    };
    std::map<std::pair<const void*, int64_t>, Signal> signals;
    // What the setter knew at each CrossCoreSetFlag that not all members have waited for yet.
    struct CrossSet {
        std::vector<uint32_t> clocks;
        double time = 0;
        uint32_t readers = 0;
    };
    struct CrossFlag {
        uint64_t done = 0;  // sets that all members have waited for
        std::deque<CrossSet> sets;
        uint64_t count() const { return done + sets.size(); }
    };
    std::map<std::pair<int, uint32_t>, CrossFlag> cross_flags;  // (mode and flag, setting core)

  private:
    void run_block(uint32_t block, const std::function<void()>& body);
    void run_core(Core& core, const std::function<void()>& body);
    void fail(const char* reason);
    void finish_core(Core& core);
    void check_end(Core& core);
    void report_garbage();
    Cost collect_cost() const;
    Report deadlock_report() const;

    const uint64_t id_;
    std::atomic<bool> stop_{false};
    std::atomic<const char*> failure_{nullptr};
    uint32_t waiting_ = 0, not_ready_ = 0;  // these and the next: under `mutex`
    uint64_t version_ = 0;
    std::mutex attach_mutex_;
    std::vector<std::shared_ptr<GmBuffer>> attached_;
    std::mutex report_mutex_;
    std::vector<Report> reports_;
    std::map<std::string, int> seen_;
    uint64_t dropped_ = 0;
    mutable std::shared_mutex site_mutex_;
    std::vector<Site> sites_;
    std::unordered_map<Site, uint32_t, Site::Hash> site_index_;
};

}  // namespace ascendc_emulator
