// Seconds for z = x + y, 16 MiB per tensor on 48 cores with all checks: bench_add [repetitions].
#include <chrono>

#include "check.h"

using namespace AscendC;

static void add(float* x, float* y, float* z, uint32_t n) {
    constexpr uint32_t kTile = 4096;
    TPipe pipe;
    TQue<TPosition::VECIN, 1> a, b;
    TQue<TPosition::VECOUT, 1> c;
    pipe.InitBuffer(a, 2, kTile * 4);
    pipe.InitBuffer(b, 2, kTile * 4);
    pipe.InitBuffer(c, 2, kTile * 4);
    for (uint64_t i = static_cast<uint64_t>(GetBlockIdx()) * kTile; i < n;
         i += static_cast<uint64_t>(GetBlockNum()) * kTile) {
        auto ta = a.AllocTensor<float>(), tb = b.AllocTensor<float>();
        DataCopy(ta, global(x)[i], kTile);
        DataCopy(tb, global(y)[i], kTile);
        a.EnQue(ta);
        b.EnQue(tb);
        ta = a.DeQue<float>();
        tb = b.DeQue<float>();
        auto tc = c.AllocTensor<float>();
        Add(tc, ta, tb, kTile);
        c.EnQue(tc);
        a.FreeTensor(ta);
        b.FreeTensor(tb);
        tc = c.DeQue<float>();
        DataCopy(global(z)[i], tc, kTile);
        c.FreeTensor(tc);
    }
}

int main(int argc, char** argv) {
    constexpr uint32_t kCount = 4u << 20;
    float *x = gm<float>(kCount, 1.0f), *y = gm<float>(kCount, 2.0f),
          *z = gm_unwritten<float>(kCount);
    for (int i = 0; i < (argc > 1 ? std::atoi(argv[1]) : 1); ++i) {
        const auto start = std::chrono::steady_clock::now();
        const auto result = ascendc_emulator::run(__CCE_AICORE__, "add", 48,
                                                  ascendc_emulator::options_from_environment(), add,
                                                  x, y, z, kCount);
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
        CHECK_CLEAN(result);
        CHECK(z[kCount - 1] == 3.0f);
        std::printf("%.3f s\n", seconds.count());
    }
    return check_failures != 0;
}
