// Registered GM buffers: extent, name, contents' state, access history.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>

#include "shadow.h"

namespace ascendc_emulator {

// Every 8-byte word of fresh GM holds this: NaN as float, half and bfloat16.
constexpr uint64_t kPoison = 0x7fc17fc17fc17fc1ull;

struct GmBuffer {
    GmBuffer(uint8_t* address, uint64_t size, bool initialized);

    uint8_t* begin;
    uint64_t bytes;
    uint64_t number;  // order of allocation, from 1
    std::string name;
    bool poisoned = false;  // by GmAlloc
    InitMap init;
    InitMap stored_garbage;              // bytes into which a kernel stored data that nobody wrote
    std::unique_ptr<AccessMap> history;  // fresh for every launch that touches the buffer
    std::atomic<uint64_t> launch{0};     // which launch that was

    static constexpr uint32_t kPage = 4096;
    // Lines of the scalar unit's data cache count from the begin of a buffer, as on the device
    // those of allocated memory do, wherever the host has put it: none lies in two pages.
    static constexpr uint64_t kLine = 64;
    std::mutex& lock_of(uint64_t byte) { return locks_[byte / kPage % locks_.size()]; }
    // fn(b, e) for the part of [first, last) in each page, with the page locked.
    template <typename Fn>
    void locked_pages(uint64_t first, uint64_t last, Fn fn) {
        while (first < last) {
            const uint64_t next = std::min(last, (first / kPage + 1) * kPage);
            std::lock_guard<std::mutex> guard(lock_of(first));
            fn(first, next);
            first = next;
        }
    }
    void prepare_for_launch();
    std::string describe() const;

  private:
    std::array<std::mutex, 64> locks_;
};

class GmRegistry {
  public:
    static GmRegistry& instance();
    std::shared_ptr<GmBuffer> add(uint8_t* address, uint64_t bytes, bool initialized);
    void remove(const void* address);
    std::shared_ptr<GmBuffer> find(const void* address) const;  // buffer containing the address
    std::shared_ptr<GmBuffer> nearest(
        const void* address) const;  // ... or ending nearest before it

  private:
    mutable std::shared_mutex mutex_;
    std::map<uintptr_t, std::shared_ptr<GmBuffer>> buffers_;
    uint64_t next_number_ = 1;
};

}  // namespace ascendc_emulator
