// Several cores: barriers, pairwise flags, ordered chains, atomics, more blocks than cores.
#include <atomic>
#include <numeric>

#include "check.h"

using namespace AscendC;
using ascendc_emulator::Options;

namespace {

constexpr int kArch = __CCE_AICORE__;

ascendc_emulator::Result run(uint32_t blocks, const std::function<void()>& body,
                             const Options& options = Options()) {
    return ascendc_emulator::launch(kArch, "kernel", blocks, body, options);
}

// Every core stores (core + 1) in its slot, all meet, core 0 sums.
void sum_over_cores(bool soft) {
    const uint32_t cores = on_910b ? 48 : on_310p ? 8 : 32;
    float* slots = gm_unwritten<float>(cores * 128);
    float* total = gm_unwritten<float>(8);
    int32_t* flags = gm<int32_t>(cores * 8, 0);
    const auto result = run(cores, [&] {
        TPipe pipe;
        TBuf<TPosition::VECCALC> a, b;
        TQue<TPosition::VECOUT, 1> out;
        pipe.InitBuffer(a, 8192);
        pipe.InitBuffer(b, cores * 32);
        pipe.InitBuffer(out, 1, 512);
        auto mine = out.AllocTensor<float>();
        Duplicate(mine, static_cast<float>(GetBlockIdx() + 1), 128);
        out.EnQue(mine);
        mine = out.DeQue<float>();
        DataCopy(global(slots)[GetBlockIdx() * 128], mine, 128);
        out.FreeTensor(mine);
        for (int round = 0; round < 3; ++round) {
#if __CCE_AICORE__ == 220
            if (!soft) SyncAll();
#endif
            if (soft) SyncAll(global(flags, cores * 8), b.Get<int32_t>());
        }
        if (GetBlockIdx() != 0) return;
        auto sum = a.Get<float>(), next = sum[1024];
        Duplicate(sum, 0.0f, 8);
        for (uint32_t i = 0; i < cores; ++i) {
            SetFlag<HardEvent::V_MTE2>(0);
            WaitFlag<HardEvent::V_MTE2>(0);
            DataCopy(next, global(slots)[i * 128], 8);
            SetFlag<HardEvent::MTE2_V>(0);
            WaitFlag<HardEvent::MTE2_V>(0);
            Add(sum, sum, next, 8);
        }
        SetFlag<HardEvent::V_MTE3>(0);
        WaitFlag<HardEvent::V_MTE3>(0);
        DataCopy(global(total), sum, 8);
    });
    CHECK_CLEAN(result);
    CHECK(total[0] == static_cast<float>(cores * (cores + 1) / 2));
    for (void* p :
         {static_cast<void*>(slots), static_cast<void*>(total), static_cast<void*>(flags)})
        ascendc_emulator::GmFree(p);
}

// The counters of the soft barrier stay in the workspace.
void soft_sync_twice() {
    int32_t* flags = gm<int32_t>(2 * 8, 0);
    const auto kernel = [&] {
        TPipe pipe;
        TBuf<TPosition::VECCALC> buffer;
        pipe.InitBuffer(buffer, 64);
        for (int i = 0; i < 3; ++i) SyncAll(global(flags, 16), buffer.Get<int32_t>());
    };
    CHECK_CLEAN(run(2, kernel));
    CHECK(flags[0] == 3 && flags[8] == 3);
    const auto again = run(2, kernel);
    CHECK(!again.ok() && again.reports[0].rule == "workspace-not-zero");
    ascendc_emulator::GmFree(flags);
}

// Core i adds to one GM block after core i - 1, by IBSet and IBWait or by the ordered chain.
void ordered_additions(bool chain) {
    const uint32_t cores = 6;
    float* target = gm<float>(8, 0.0f);
    int32_t* flags = gm<int32_t>(cores * 8 * 2, 0);
    const auto result = run(cores, [&] {
        TPipe pipe;
        TBuf<TPosition::VECCALC> a, b;
        pipe.InitBuffer(a, 512);
        pipe.InitBuffer(b, cores * 32);
        auto ub = b.Get<int32_t>();
        auto workspace = global(flags, cores * 16);
        const auto me = static_cast<int32_t>(GetBlockIdx());
#if __CCE_AICORE__ != 100
        if (chain) {
            InitDetermineComputeWorkspace(workspace, ub);
            WaitPreBlock(workspace, ub);
        }
#endif
        if (!chain && me > 0) IBWait(workspace, ub, me - 1, 0);
        auto value = a.Get<float>(), old = value[64];
        DataCopy(old, global(target), 8);
        SetFlag<HardEvent::MTE2_V>(0);
        WaitFlag<HardEvent::MTE2_V>(0);
        Muls(old, old, 2.0f, 8);
        Adds(value, old, static_cast<float>(me), 8);
        SetFlag<HardEvent::V_MTE3>(0);
        WaitFlag<HardEvent::V_MTE3>(0);
        DataCopy(global(target), value, 8);
#if __CCE_AICORE__ != 100
        if (chain) NotifyNextBlock(workspace, ub);
#endif
        if (!chain) IBSet(workspace, ub, me, 0);
    });
    CHECK_CLEAN(result);
    float want = 0;
    for (uint32_t i = 0; i < cores; ++i) want = want * 2 + static_cast<float>(i);
    CHECK(target[0] == want);
    ascendc_emulator::GmFree(target);
    ascendc_emulator::GmFree(flags);
}

template <typename T>
std::vector<T> atomic_sum(uint32_t cores, T start, size_t* notes = nullptr) {
    T* target = gm<T>(64, start);
    Options options;
    options.notes = notes != nullptr;
    const auto result = run(
        cores,
        [&] {
            TPipe pipe;
            TQue<TPosition::VECOUT, 1> out;
            pipe.InitBuffer(out, 1, 256);
            auto mine = out.AllocTensor<T>();
            for (int i = 0; i < 64; ++i)
                mine.SetValue(i, static_cast<T>(0.1f * static_cast<float>(GetBlockIdx() + i + 1) *
                                                (sizeof(T) == 4 ? 1.0f : 4.0f)));
            SetFlag<HardEvent::S_MTE3>(0);
            WaitFlag<HardEvent::S_MTE3>(0);
            out.EnQue(mine);
            mine = out.DeQue<T>();
            SetAtomicAdd<T>();
            DataCopy(global(target), mine, 64);
            SetAtomicNone();
            out.FreeTensor(mine);
        },
        options);
    CHECK_CLEAN(result);
    if (notes != nullptr)
        for (const auto& r : result.reports) *notes += r.rule == "float-atomic-order";
    std::vector<T> values(target, target + 64);
    ascendc_emulator::GmFree(target);
    return values;
}

void atomics() {
    // Core by core, rounded each time, whatever the threads did.
    const auto first = atomic_sum<float>(8, 1.0f);
    float want = 1.0f;
    for (int core = 0; core < 8; ++core) want += 0.1f * static_cast<float>(core + 1);
    CHECK(first[0] == want);
    for (int i = 0; i < 5; ++i) {
        const auto again = atomic_sum<float>(8, 1.0f);
        CHECK(std::memcmp(first.data(), again.data(), 64 * sizeof(float)) == 0);
    }
    size_t notes = 0;
    atomic_sum<float>(4, 1.0f, &notes);
    CHECK(notes == 3);  // every core but the first adds to what another has added
#if __CCE_AICORE__ == 220
    atomic_sum<int32_t>(4, 1, &notes);
    CHECK(notes == 3);
    half h(1.0f);
    for (int core = 0; core < 8; ++core)
        h = half(float(h) + float(half(0.1f * static_cast<float>(core + 1) * 4.0f)));
    CHECK(float(atomic_sum<half>(8, half(1.0f))[0]) == float(h));
    CHECK(atomic_sum<int32_t>(8, 5)[9] == 5 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1);
#endif
}

void more_blocks_than_cores() {
    constexpr uint32_t kBlocks = 150;
    int32_t* target = gm_unwritten<int32_t>(kBlocks * 8);
    const auto result = run(kBlocks, [&] {
        CHECK(GetBlockNum() == kBlocks);
        TPipe pipe;
        TQue<TPosition::VECOUT, 1> out;
        pipe.InitBuffer(out, 1, 32);
        auto t = out.AllocTensor<int32_t>();
        Duplicate(t, static_cast<int32_t>(GetBlockIdx()), 8);
        out.EnQue(t);
        t = out.DeQue<int32_t>();
        DataCopy(global(target)[GetBlockIdx() * 8], t, 8);
        out.FreeTensor(t);
    });
    CHECK_CLEAN(result);
    for (uint32_t b = 0; b < kBlocks; ++b) CHECK(target[b * 8] == static_cast<int32_t>(b));
    ascendc_emulator::GmFree(target);
}

// In MIX mode of the split product a block has two vector cores.
void mix_mode() {
    Options options;
    options.kernel_mode = KernelMode::MIX_MODE;
    std::vector<int> seen(8, 0);
    const auto result = run(
        4,
        [&] {
            CHECK(GetBlockNum() == 4);
            seen[static_cast<size_t>(GetBlockIdx())] = 1 + static_cast<int>(GetSubBlockIdx());
            if ASCEND_IS_AIC
                CHECK(false);
        },
        options);
    CHECK_CLEAN(result);
    CHECK(std::accumulate(seen.begin(), seen.end(), 0) == (on_910b ? 12 : 4));
}

#if __CCE_AICORE__ == 220
void cross_core_flags() {
    const uint32_t cores = 5;
    int32_t* slots = gm_unwritten<int32_t>(cores * 8);
    int32_t* seen = gm_unwritten<int32_t>(cores * 8);
    const auto result = run(cores, [&] {
        TPipe pipe;
        TQue<TPosition::VECOUT, 1> out;
        TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> through;
        pipe.InitBuffer(out, 1, 32);
        pipe.InitBuffer(through, 1, 32);
        auto t = out.AllocTensor<int32_t>();
        Duplicate(t, static_cast<int32_t>(GetBlockIdx() * 10), 8);
        out.EnQue(t);
        t = out.DeQue<int32_t>();
        DataCopy(global(slots)[GetBlockIdx() * 8], t, 8);
        out.FreeTensor(t);
        CrossCoreSetFlag<0, PIPE_MTE3>(3);
        CrossCoreWaitFlag(3);
        auto c = through.AllocTensor<int32_t>();
        DataCopy(c, global(slots)[(GetBlockIdx() + 1) % cores * 8], 8);
        through.EnQue(c);
        c = through.DeQue<int32_t>();
        DataCopy(global(seen)[GetBlockIdx() * 8], c, 8);
        through.FreeTensor(c);
    });
    CHECK_CLEAN(result);
    for (uint32_t b = 0; b < cores; ++b)
        CHECK(seen[b * 8] == static_cast<int32_t>((b + 1) % cores * 10));
    ascendc_emulator::GmFree(slots);
    ascendc_emulator::GmFree(seen);
}

// Who waits for a flag goes on after the last of the cores that set it.
void cross_core_time() {
    std::vector<int64_t> before(3), after(3);
    CHECK_CLEAN(run(3, [&] {
        const auto me = static_cast<size_t>(GetBlockIdx());
        TPipe pipe;
        TBuf<TPosition::VECCALC> buffer;
        pipe.InitBuffer(buffer, 65536);
        auto t = buffer.Get<float>();
        Duplicate(t, 1.0f, 16384);
        for (size_t i = 0; i < 100 * me; ++i) Adds(t, t, 1.0f, 16384);
        PipeBarrier<PIPE_ALL>();
        before[me] = GetSystemCycle();
        CrossCoreSetFlag<0, PIPE_V>(0);
        CrossCoreWaitFlag(0);
        after[me] = GetSystemCycle();
    }));
    CHECK(before[0] < before[1] && before[1] < before[2]);
    for (int64_t time : after) CHECK(time > before[2]);
}

// The first wait is for the first flag, even when the host has let the other core set the second.
void flags_in_turn() {
    int32_t* slots = gm<int32_t>(16, 0);
    std::atomic<bool> both_set{false};
    const auto result = run(2, [&] {
        TPipe pipe;
        TBuf<TPosition::VECCALC> buffer;
        pipe.InitBuffer(buffer, 32);
        auto t = buffer.Get<int32_t>();
        if (GetBlockIdx() == 0) {
            Duplicate(t, 1, 8);
            SetFlag<HardEvent::V_MTE3>(0);
            WaitFlag<HardEvent::V_MTE3>(0);
            CrossCoreSetFlag<0, PIPE_MTE3>(1);
            DataCopy(global(slots), t, 8);
            CrossCoreSetFlag<0, PIPE_MTE3>(1);
            both_set = true;
        } else {
            wait_for_host([&] { return both_set.load(); });
            CrossCoreSetFlag<0, PIPE_MTE3>(1);
            CrossCoreWaitFlag(1);
            DataCopy(t, global(slots), 8);  // needs the second flag
        }
    });
    CHECK(result.reports.size() == 1 && result.reports[0].rule == "gm-race");
    ascendc_emulator::GmFree(slots);
}
#endif

}  // namespace

int main() {
    if (on_910b) sum_over_cores(false);
    sum_over_cores(true);
    soft_sync_twice();
    ordered_additions(false);
    if (!on_910) ordered_additions(true);
    atomics();
    more_blocks_than_cores();
    mix_mode();
#if __CCE_AICORE__ == 220
    cross_core_flags();
    cross_core_time();
    flags_in_turn();
#endif
    std::printf("%d failures\n", check_failures);
    return check_failures != 0;
}
