#include "blocks.h"

#include <sys/mman.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace ascend_grad::python {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
// Of blocks that nobody uses, kept for the next results.
constexpr size_t kMaxKeptBytes = size_t{1} << 30;
constexpr size_t kMaxKept = 64;
// Of these, the latest, withheld from the system. It may take the pages of the others where memory
// is short; telling it so costs more than a small result (measured: 190 us with two threads).
constexpr size_t kMaxWithheldBytes = size_t{64} << 20;

struct Block {
    void* address;
    size_t size;
    bool withheld;
};

void* map_aligned(size_t size) {
    const size_t reserved = size + kHugePage;
    void* start =
        mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) return nullptr;
    char* begin = static_cast<char*>(start);
    const size_t skipped = (kHugePage - reinterpret_cast<size_t>(begin) % kHugePage) % kHugePage;
    if (skipped > 0) munmap(begin, skipped);
    munmap(begin + skipped + size, kHugePage - skipped);
    madvise(begin + skipped, size, MADV_HUGEPAGE);
    return begin + skipped;
}

// Blocks in use and blocks kept, the latest last.
class Blocks {
  public:
    Blocks() { kept_.reserve(kMaxKept); }

    void* take(size_t bytes) {
        const size_t size = (bytes + kHugePage - 1) / kHugePage * kHugePage;
        const std::lock_guard<std::mutex> lock(mutex_);
        // The latest that fits without wasting more than a quarter.
        for (auto kept = kept_.rbegin(); kept != kept_.rend(); ++kept) {
            if (kept->size < size || kept->size / 4 * 3 > size) continue;
            const Block block = *kept;
            kept_.erase(std::next(kept).base());
            forget(block);
            sizes_.emplace(block.address, block.size);
            return block.address;
        }
        void* address = map_aligned(size);
        if (address == nullptr) {  // what is kept may be what is missing
            while (!kept_.empty()) unmap_oldest();
            address = map_aligned(size);
        }
        if (address != nullptr) sizes_.emplace(address, size);
        return address;
    }

    void give_back(void* address) {
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto entry = sizes_.find(address);
        const Block block{address, entry->second, true};
        sizes_.erase(entry);
        if (block.size > kMaxKeptBytes) {
            munmap(block.address, block.size);
            return;
        }
        while (kept_bytes_ + block.size > kMaxKeptBytes || kept_.size() == kMaxKept) {
            unmap_oldest();
        }
        kept_.push_back(block);
        kept_bytes_ += block.size;
        withheld_bytes_ += block.size;
        offer_to_system();
    }

  private:
    void forget(const Block& kept) {
        kept_bytes_ -= kept.size;
        if (kept.withheld) withheld_bytes_ -= kept.size;
    }
    void unmap_oldest() {
        forget(kept_.front());
        munmap(kept_.front().address, kept_.front().size);
        kept_.erase(kept_.begin());
    }
    void offer_to_system() {
        for (Block& kept : kept_) {
            if (withheld_bytes_ <= kMaxWithheldBytes) return;
            if (!kept.withheld) continue;
            madvise(kept.address, kept.size, MADV_FREE);
            kept.withheld = false;
            withheld_bytes_ -= kept.size;
        }
    }

    std::mutex mutex_;
    std::unordered_map<void*, size_t> sizes_;
    std::vector<Block> kept_;
    size_t kept_bytes_ = 0, withheld_bytes_ = 0;
};

// Never destroyed: arrays may outlive everything else.
Blocks& blocks() {
    static Blocks* instance = new Blocks;
    return *instance;
}

}  // namespace

void* take_block(size_t bytes) {
    return blocks().take(bytes);
}

void return_block(void* block) {
    blocks().give_back(block);
}

}  // namespace ascend_grad::python
