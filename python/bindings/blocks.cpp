#include "blocks.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "core/held_during_forks.h"
#include "core/huge_page.h"

namespace ascend_grad::python {
namespace {

constexpr size_t kSmallestBlock = size_t{16} << 10;
// Of blocks that nobody uses, kept for the next results.
constexpr size_t kMaxKeptBytes = size_t{1} << 30;
constexpr size_t kMaxKept = 1024;
// Of these, the latest, withheld from the system. It may take the pages of the others where memory
// is short; telling it so costs more than a small result (measured: 190 us with two threads).
constexpr size_t kMaxWithheldBytes = size_t{256} << 20;

struct Kept {
    Block block;
    bool withheld;
};

void* map_huge(size_t size) {
    void* start =
        mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) return nullptr;
    char* begin = static_cast<char*>(start);
    const size_t skipped = (kHugePage - reinterpret_cast<size_t>(begin) % kHugePage) % kHugePage;
    if (skipped > 0) munmap(begin, skipped);
    munmap(begin + skipped + size, kHugePage - skipped);
    madvise(begin + skipped, size, MADV_HUGEPAGE);
    return begin + skipped;
}
// Only large blocks are mappings of their own, of which a process may have some thousands.
void* allocate(size_t size, size_t page) {
    if (size >= kSmallestHuge) return map_huge(size);
    void* memory = nullptr;
    return posix_memalign(&memory, page, size) == 0 ? memory : nullptr;
}
void release(Block block) {
    if (block.size >= kSmallestHuge) {
        munmap(block.address, block.size);
    } else {
        std::free(block.address);
    }
}

std::mutex g_mutex;
const HeldDuringForks<g_mutex> g_held_during_forks;

// Blocks that nobody uses, the latest last.
class Blocks {
  public:
    Blocks() { kept_.reserve(kMaxKept); }

    Block take(size_t bytes) {
        if (bytes < std::max(kSmallestBlock, page_)) return {nullptr, 0};
        const size_t unit = bytes < kSmallestHuge ? page_ : kHugePage;
        const size_t size = (bytes + unit - 1) / unit * unit;
        const std::lock_guard<std::mutex> lock(g_mutex);
        // The latest that fits without wasting more than a quarter.
        for (auto kept = kept_.rbegin(); kept != kept_.rend(); ++kept) {
            const Block block = kept->block;
            if (block.size < size || block.size / 4 * 3 > size) continue;
            forget(*kept);
            kept_.erase(std::next(kept).base());
            return block;
        }
        void* address = allocate(size, page_);
        if (address == nullptr) {  // what is kept may be what is missing
            while (!kept_.empty()) release_oldest();
            address = allocate(size, page_);
        }
        return {address, size};
    }

    void give_back(Block block) {
        const std::lock_guard<std::mutex> lock(g_mutex);
        if (block.size > kMaxKeptBytes) {
            release(block);
            return;
        }
        while (kept_bytes_ + block.size > kMaxKeptBytes || kept_.size() == kMaxKept) {
            release_oldest();
        }
        kept_.push_back({block, true});
        kept_bytes_ += block.size;
        withheld_bytes_ += block.size;
        offer_to_system();
    }

  private:
    void forget(const Kept& kept) {
        kept_bytes_ -= kept.block.size;
        if (kept.withheld) withheld_bytes_ -= kept.block.size;
    }
    void release_oldest() {
        const Block block = kept_.front().block;
        forget(kept_.front());
        release(block);
        kept_.erase(kept_.begin());
    }
    void offer_to_system() {
        for (Kept& kept : kept_) {
            if (withheld_bytes_ <= kMaxWithheldBytes) return;
            if (!kept.withheld) continue;
            madvise(kept.block.address, kept.block.size, MADV_FREE);
            kept.withheld = false;
            withheld_bytes_ -= kept.block.size;
        }
    }

    const size_t page_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    std::vector<Kept> kept_;
    size_t kept_bytes_ = 0, withheld_bytes_ = 0;
};

// Never destroyed: arrays may outlive everything else.
Blocks& blocks() {
    static Blocks* instance = new Blocks;
    return *instance;
}

}  // namespace

Block take_block(size_t bytes) {
    return blocks().take(bytes);
}

void return_block(Block block) {
    blocks().give_back(block);
}

}  // namespace ascend_grad::python
