// CHECK and small helpers for the emulator's C++ tests.
#pragma once

#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "ascendc_emulator.h"
#include "kernel_operator.h"

inline int check_failures = 0;
#define CHECK(condition)                                                       \
    do {                                                                       \
        if (!(condition)) {                                                    \
            ++check_failures;                                                  \
            std::printf("%s:%d: CHECK(%s)\n", __FILE__, __LINE__, #condition); \
        }                                                                      \
    } while (0)

inline void print(const ascendc_emulator::Result& result) {
    for (const auto& r : result.reports) std::printf("%s", r.text().c_str());
}
#define CHECK_CLEAN(result)                \
    do {                                   \
        const auto& result_ = result;      \
        if (!result_.ok()) print(result_); \
        CHECK(result_.ok());               \
    } while (0)

// The host lets a core wait for another, unknown to the emulator; ends when the launch has stopped.
template <typename Ready>
void wait_for_host(Ready ready) {
    while (!ready()) {
        AscendC::PipeBarrier<PIPE_V>();
        std::this_thread::yield();
    }
}

template <typename T>
T* gm(size_t n, T value) {
    T* p = static_cast<T*>(ascendc_emulator::GmAlloc(n * sizeof(T)));
    for (size_t i = 0; i < n; ++i) p[i] = value;
    return p;
}
template <typename T>
T* gm_unwritten(size_t n) {
    return static_cast<T*>(ascendc_emulator::GmAlloc(n * sizeof(T)));
}
template <typename T>
AscendC::GlobalTensor<T> global(T* p, uint64_t n = 0) {
    AscendC::GlobalTensor<T> t;
    t.SetGlobalBuffer(p, n);
    return t;
}
