#include "gm_memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "ascendc_emulator.h"

namespace ascendc_emulator {

GmBuffer::GmBuffer(uint8_t* address, uint64_t size, bool initialized)
    : begin(address),
      bytes(size),
      number(0),
      init(size, initialized),
      stored_garbage(size, false) {}

void GmBuffer::prepare_for_launch() {
    history = std::make_unique<AccessMap>(bytes, kPage);
    stored_garbage.set(0, bytes, false);
    if (!poisoned) return;
    // What differs from the pattern was written by the host since.
    for (uint64_t page = 0; page * InitMap::kPageBytes < bytes; ++page) {
        if (init.page_all(page)) continue;
        const uint64_t end = std::min(bytes, (page + 1) * InitMap::kPageBytes);
        for (uint64_t b = page * InitMap::kPageBytes; b < end; b += 8) {
            const uint64_t n = std::min<uint64_t>(8, end - b);
            if (std::memcmp(begin + b, &kPoison, n) != 0) init.set(b, b + n, true);
        }
    }
}

std::string GmBuffer::describe() const {
    const std::string label =
        name.empty() ? "GM buffer " + std::to_string(number) : "GM '" + name + "'";
    return label + " of " + std::to_string(bytes) + " bytes";
}

GmRegistry& GmRegistry::instance() {
    static auto& registry = *new GmRegistry;  // cores may run while the process ends
    return registry;
}

std::shared_ptr<GmBuffer> GmRegistry::add(uint8_t* address, uint64_t bytes, bool initialized) {
    auto buffer = std::make_shared<GmBuffer>(address, bytes, initialized);
    std::unique_lock<std::shared_mutex> guard(mutex_);
    buffer->number = next_number_++;
    buffers_[reinterpret_cast<uintptr_t>(address)] = buffer;
    return buffer;
}

void GmRegistry::remove(const void* address) {
    std::unique_lock<std::shared_mutex> guard(mutex_);
    buffers_.erase(reinterpret_cast<uintptr_t>(address));
}

std::shared_ptr<GmBuffer> GmRegistry::nearest(const void* address) const {
    std::shared_lock<std::shared_mutex> guard(mutex_);
    auto it = buffers_.upper_bound(reinterpret_cast<uintptr_t>(address));
    if (it == buffers_.begin()) return nullptr;
    return std::prev(it)->second;
}

std::shared_ptr<GmBuffer> GmRegistry::find(const void* address) const {
    auto buffer = nearest(address);
    const auto* p = static_cast<const uint8_t*>(address);
    return buffer && p < buffer->begin + buffer->bytes ? buffer : nullptr;
}

void* GmAlloc(size_t bytes) {
    // Rounded up for the poison words; the registered extent is what was asked for. The gap keeps
    // an address just behind a buffer out of the next one.
    constexpr size_t kGap = 4096;
    const size_t words = (bytes + 7) / 8;
    void* memory = nullptr;
    if (posix_memalign(&memory, 512, words * 8 + kGap) != 0) return nullptr;
    auto* word = static_cast<uint64_t*>(memory);
    std::fill_n(word, words, kPoison);
    auto buffer = GmRegistry::instance().add(static_cast<uint8_t*>(memory), bytes, false);
    buffer->poisoned = true;
    return memory;
}

void GmFree(void* pointer) {
    if (pointer == nullptr) return;
    GmRegistry::instance().remove(pointer);
    std::free(pointer);
}

void register_gm(void* pointer, size_t bytes, const std::string& name, bool initialized) {
    GmRegistry::instance().add(static_cast<uint8_t*>(pointer), bytes, initialized)->name = name;
}

void unregister_gm(void* pointer) {
    GmRegistry::instance().remove(pointer);
}

void name_gm(const void* pointer, const std::string& name) {
    if (auto buffer = GmRegistry::instance().find(pointer)) buffer->name = name;
}

}  // namespace ascendc_emulator
