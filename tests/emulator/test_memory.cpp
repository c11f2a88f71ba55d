// A launch whose memory runs out: each allocation fails once, and the process goes on.
#include <atomic>
#include <cstdlib>
#include <new>

#include "check.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ALLOCATES_BY_ITSELF
#endif
#endif

#ifdef ALLOCATES_BY_ITSELF
int main() {
    return 77;
}
#else

static std::atomic<int> allocations_until_failure{-1};  // negative: none fails

void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
    if (allocations_until_failure >= 0 && allocations_until_failure-- == 0) return nullptr;
    return std::malloc(bytes);
}
void* operator new(size_t bytes) {
    if (void* memory = operator new(bytes, std::nothrow)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
    std::free(memory);
}

namespace {

using namespace AscendC;

// Two cores wait for each other, so that one has to end when the other does.
void kernel(int32_t* counts, float* x) {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> in;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(in, 1, 256);
    pipe.InitBuffer(buffer, 64);
    auto t = in.AllocTensor<float>();
    DataCopy(t, global(x), 64);
    in.EnQue(t);
    t = in.DeQue<float>();
    SyncAll(global(counts), buffer.Get<int32_t>());
    in.FreeTensor(t);
}

void allocations_that_fail() {
    int32_t* counts = gm<int32_t>(16, 0);
    float* x = gm<float>(64, 1.0f);
    bool all_succeeded = false;
    int refused = 0;
    for (int successes = 0; !all_succeeded; ++successes) {
        std::memset(counts, 0, 64);
        ascendc_emulator::Result result;
        allocations_until_failure = successes;
        try {
            result = ascendc_emulator::run(__CCE_AICORE__, "k", 2, {}, kernel, counts, x);
        } catch (const std::bad_alloc&) {  // of what the caller's own call needs
        }
        all_succeeded = allocations_until_failure.exchange(-1) >= 0;
        for (const auto& report : result.reports) CHECK(report.rule == "launch");
        refused += !result.ok();
        if (all_succeeded) CHECK_CLEAN(result);
    }
    CHECK(refused > 20);
    ascendc_emulator::GmFree(counts);
    ascendc_emulator::GmFree(x);
}

}  // namespace

int main() {
    allocations_that_fail();
    std::printf("%d failures\n", check_failures);
    return check_failures != 0;
}
#endif
