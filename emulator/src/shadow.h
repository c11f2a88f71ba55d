// What the checks remember of every byte: who wrote it last, who read it since, whether it holds
// data.
//
// Both maps work on ranges. A page holds one record while whole pages are accessed, 32-byte blocks
// when needed, and single bytes only inside blocks that are shared between accesses.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace ascendc_emulator {

enum Pipe : uint8_t { kS = 0, kV, kMte2, kMte3, kPipes };
const char* pipe_name(int pipe);

// One access: `clock` is the number of the instruction on its pipe, 0 when there was none.
struct Access {
    uint32_t clock = 0;
    uint32_t site = 0;
    uint32_t agent = 0;   // block * kPipes + pipe
    uint8_t atomic = 0;   // of an atomic write: its operation and element type; equal ones commute
    bool cached = false;  // scalar store to GM that still sits in the data cache

    int pipe() const { return static_cast<int>(agent % kPipes); }
    uint32_t block() const { return agent / kPipes; }
};

// Decides whether an earlier access is ordered before the current one.
class Order {
  public:
    virtual bool before(const Access& earlier, bool earlier_writes, const Access& now) const = 0;

  protected:
    ~Order() = default;
};

struct Conflict {
    bool found = false;
    Access other;
    bool other_writes = false;
    uint64_t byte = 0;
};

class AccessMap {
  public:
    AccessMap(uint64_t bytes, uint32_t page_bytes);
    // Records the access of [begin, end) and returns the first conflict. [begin, end) may span
    // pages.
    Conflict access(uint64_t begin, uint64_t end, const Access& now, bool writes,
                    const Order& order);
    // Last writer of a byte.
    Access last_write(uint64_t byte) const;
    // First byte of [begin, end) whose last write sits in the data cache of another agent than
    // `agent`; end when there is none.
    uint64_t find_cached(uint64_t begin, uint64_t end, uint32_t agent) const;
    // The agent's writes in [begin, end) have left its data cache.
    void uncache(uint64_t begin, uint64_t end, uint32_t agent);
    void clear();

  private:
    // Reads since the last write, and the writes before atomic ones.
    struct More {
        std::vector<Access> reads, writes;
    };
    struct Record {
        Access write;
        Access read[2];
        std::unique_ptr<More> more;

        Record() = default;
        Record(const Record& other);
        Record& operator=(const Record& other);
        Record(Record&&) = default;
        Record& operator=(Record&&) = default;
        More& rest();
    };
    struct Block {
        Record record;
        std::unique_ptr<Record[]> bytes;
    };
    struct Page {
        Record record;
        std::unique_ptr<Block[]> blocks;
        bool cached = false;  // a write went through a data cache
    };

    void apply(Record& record, uint64_t byte, const Access& now, bool writes, const Order& order,
               Conflict& conflict);
    static void add_read(Record& record, const Access& now);
    static void keep_write(Record& record, const Access& now);
    void access_page(Page& page, uint64_t base, uint64_t begin, uint64_t end, const Access& now,
                     bool writes, const Order& order, Conflict& conflict);
    void access_block(Block& block, uint64_t base, uint64_t begin, uint64_t end, const Access& now,
                      bool writes, const Order& order, Conflict& conflict);

    uint32_t page_bytes_;
    std::vector<std::unique_ptr<Page>> pages_;
};

// One bit per byte: has anyone written it?
class InitMap {
  public:
    InitMap(uint64_t bytes, bool value);
    void set(uint64_t begin, uint64_t end, bool value);
    bool all(uint64_t begin, uint64_t end) const;
    bool any(uint64_t begin, uint64_t end) const;
    bool test(uint64_t byte) const;
    // First byte of [begin, end) whose bit is `value`; end when there is none.
    uint64_t find(uint64_t begin, uint64_t end, bool value) const;
    static constexpr uint32_t kPageBytes = 4096;
    bool page_all(uint64_t page) const { return pages_[page].state == kAll; }

  private:
    enum State : uint8_t { kNone, kAll, kMixed };
    struct Page {
        State state = kNone;
        std::unique_ptr<uint64_t[]> bits;
    };
    template <typename Fn>
    void pieces(uint64_t begin, uint64_t end, Fn fn) const;
    std::vector<Page> pages_;
};

}  // namespace ascendc_emulator
