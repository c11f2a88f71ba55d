// Device memory that calls reuse.
#pragma once

#include <cstddef>
#include <deque>
#include <map>

namespace ascend_grad::launch {

class MemoryPool {
  public:
    // At least `bytes` of device memory that begins at a multiple of 512 bytes where the runtime
    // gives such; null when there is not enough. Reading up to 32 bytes beyond is harmless, as
    // it is of every allocation.
    void* take(size_t bytes);
    void give_back(void* memory);
    // Instead, where work may still be using it: nobody gets it again.
    void abandon(void* memory);

  private:
    struct Block {
        void* memory;
        size_t bytes;
    };
    // The oldest first.
    void free_idle_down_to(size_t bytes);

    static constexpr size_t kMaxIdleBytes = size_t{256} << 20;  // kept for later calls
    std::deque<Block> idle_;                                    // the latest last
    std::map<void*, size_t> used_;
    size_t idle_bytes_ = 0;
};

}  // namespace ascend_grad::launch
