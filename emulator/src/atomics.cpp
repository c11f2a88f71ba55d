#include "atomics.h"

#include <algorithm>
#include <cstring>

#include "launch.h"

namespace ascendc_emulator {
namespace {

template <typename T, typename Compute>
void combine(uint8_t* dst, const uint8_t* src, uint64_t bytes, rt::Atomic op) {
    for (uint64_t i = 0; i + sizeof(T) <= bytes; i += sizeof(T)) {
        T a, b;
        std::memcpy(&a, dst + i, sizeof a);
        std::memcpy(&b, src + i, sizeof b);
        const auto x = static_cast<Compute>(a);
        const auto y = static_cast<Compute>(b);
        const T result = op == rt::Atomic::add   ? static_cast<T>(static_cast<Compute>(x + y))
                         : op == rt::Atomic::max ? (x > y ? a : b)
                                                 : (x < y ? a : b);
        std::memcpy(dst + i, &result, sizeof result);
    }
}

}  // namespace

void apply_atomic(uint8_t* dst, const uint8_t* src, uint64_t bytes, rt::DType dtype,
                  rt::Atomic op) {
    switch (dtype) {
        case rt::DType::f32:
            return combine<float, float>(dst, src, bytes, op);
        case rt::DType::f16:
            return combine<half, float>(dst, src, bytes, op);
        case rt::DType::bf16:
            return combine<bfloat16_t, float>(dst, src, bytes, op);
        case rt::DType::i32:
            return combine<int32_t, int64_t>(dst, src, bytes, op);
        case rt::DType::i16:
            return combine<int16_t, int32_t>(dst, src, bytes, op);
        default:
            return combine<int8_t, int32_t>(dst, src, bytes, op);
    }
}

// Float additions wait here until a synchronisation point, where they are applied core by core, so
// that the sum does not depend on the speed of host threads.
void Core::flush_atomics(const GmBuffer* only) {
    auto keep = pending_atomics.begin();
    for (PendingAtomic& p : pending_atomics) {
        if (only != nullptr && p.buffer.get() != only) {
            if (&*keep != &p) *keep = std::move(p);
            ++keep;
            continue;
        }
        uint64_t done = 0;
        p.buffer->locked_pages(p.offset, p.offset + p.data.size(), [&](uint64_t b, uint64_t e) {
            const uint64_t n = e - b;
            // A page boundary never cuts an element: GM atomics are element aligned.
            apply_atomic(p.buffer->begin + b, p.data.data() + done, n, p.dtype, rt::Atomic::add);
            done += n;
        });
        pending_bytes -= p.data.size();
    }
    pending_atomics.erase(keep, pending_atomics.end());
}

}  // namespace ascendc_emulator
