// API behind the elementwise families: buffers, events, tensor operators, caches, accumulators.
#include "check.h"

using namespace AscendC;

namespace {

constexpr int kArch = __CCE_AICORE__;

ascendc_emulator::Result run(const std::function<void()>& body) {
    return ascendc_emulator::launch(kArch, "kernel", 1, body, ascendc_emulator::Options());
}

// Loads n elements into a fresh TBuf and waits for everything.
template <typename T>
LocalTensor<T> loaded(TPipe& pipe, TBuf<TPosition::VECCALC>& buffer, T* from, uint32_t n) {
    pipe.InitBuffer(buffer, n * static_cast<uint32_t>(sizeof(T)));
    auto t = buffer.Get<T>();
    DataCopy(t, global(from), n);
    PipeBarrier<PIPE_ALL>();
    return t;
}
template <typename T>
void stored(T* to, const LocalTensor<T>& t, uint32_t n) {
    PipeBarrier<PIPE_ALL>();
    DataCopy(global(to), t, n);
    PipeBarrier<PIPE_ALL>();
}

void tensor_operators() {
    float* x = gm<float>(64, 3.0f);
    float* z = gm_unwritten<float>(64);
    uint8_t* bits = gm_unwritten<uint8_t>(32);
    CHECK_CLEAN(run([&] {
        TPipe pipe;
        TBuf<TPosition::VECCALC> a, b, c;
        auto t = loaded(pipe, a, x, 64);
        pipe.InitBuffer(b, 256);
        pipe.InitBuffer(c, 32);
        auto r = b.Get<float>();
        r = t + t;
        r = r * t;
        r = r / t;
        r = r - t;
        auto mask = c.Get<uint8_t>();
        mask = t == r;
        SetFlag<HardEvent::V_S>(0);
        WaitFlag<HardEvent::V_S>(0);
        r(5) = r(4) + 1.0f;
        r(6) += 2.0f;
        CHECK(r.GetSize() == 64 && r[16].GetSize() == 48);
        CHECK(r.ReinterpretCast<half>().GetSize() == 128);
        CHECK(*r.GetPhyAddr(5) == 4.0f);
        stored(z, r, 64);
        DataCopy(global(bits), mask, 32);
    }));
    CHECK(z[0] == 3.0f && z[5] == 4.0f && z[6] == 5.0f && bits[7] == 0xff);
    for (void* p : {static_cast<void*>(x), static_cast<void*>(z), static_cast<void*>(bits)})
        ascendc_emulator::GmFree(p);
}

#if __CCE_AICORE__ == 220
// Destinations that share the span of a source but none of the bytes that are still to be read.
void legal_overlaps() {
    CHECK_CLEAN(run([&] {
        TPipe pipe;
        TBuf<TPosition::VECCALC> buffer;
        pipe.InitBuffer(buffer, 4096);
        auto t = buffer.Get<half>();
        Duplicate(t, half(1.0f), 2048);
        DataCopy(t, t, 512);                    // onto itself
        DataCopy(t[16], t, {8, 1, 1, 1});       // every second block to the gap behind it
        DataCopy(t, t[16], {8, 1, 1, 1});       // and back
        WholeReduceSum(t, t, 128, 8, 1, 1, 8);  // a sum lies before what is read next
        PairReduceSum(t, t, 8, 128, 1, 1, 8);   // half a repeat each
        Cast(t, buffer.Get<float>(), RoundMode::CAST_NONE, 512);  // to the begin of the source
        LocalTensor<half> rows[16];
        for (uint32_t i = 0; i < 16; ++i) rows[i] = t[i * 16];
        const TransDataTo5HDParams twice(false, false, 2, 16, 16);
        TransDataTo5HD<half>(rows, rows, twice);  // blocks turned where they lie
        uint64_t count = 0;
        const GatherMaskParams rows_apart = {1, 2, 16, 0};
        GatherMask(t[128], t, uint8_t(1), true, 128, rows_apart, count);  // between two rows
        const GatherMaskParams neighbours = {1, 2, 8, 0};
        GatherMask(t, t, uint8_t(1), true, 128, neighbours, count);  // packed to the front
        TBuf<TPosition::VECCALC> index;
        pipe.InitBuffer(index, 512);
        auto offsets = index.Get<uint32_t>();
        for (uint32_t i = 0; i < 128; ++i) offsets.SetValue(i, i < 64 ? 2 * i : 2048 + 2 * i);
        PipeBarrier<PIPE_ALL>();
        Gather(t[128], t, offsets, 0, 128);  // between the pieces that it reads
    }));
}
#endif

void pools_and_binding() {
    float* x = gm<float>(64, 3.0f);
    float* z = gm_unwritten<float>(64);
    CHECK_CLEAN(run([&] {
        TPipe pipe;
        CHECK(GetTPipePtr() == &pipe);
        TBufPool<TPosition::VECCALC> pool, other;
        pipe.InitBufPool(pool, 4096);
        pipe.InitBufPool(other, 4096, pool);
        {
            TQue<TPosition::VECIN, 1> in;
            pool.InitBuffer(in, 2, 1024);
            auto t = in.AllocTensor<float>();
            CHECK(in.HasIdleBuffer() && !in.HasTensorInQue());
            DataCopy(t, global(x), 64);
            in.EnQue(t);
            CHECK(in.HasTensorInQue() && in.GetTensorCountInQue() == 1 && !in.VacantInQue());
            t = in.DeQue<float>();
            in.FreeTensor(t);
            pool.Reset();
        }
        TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> through;
        other.InitBuffer(through, 2, 1024);
        auto t = through.AllocTensor<float>();
        DataCopy(t, global(x), 64);
        through.EnQue(t);
        t = through.DeQue<float>();
        DataCopy(global(z), t, 64);
        through.FreeTensor(t);
    }));
    CHECK(z[63] == 3.0f);
    ascendc_emulator::GmFree(x);
    ascendc_emulator::GmFree(z);
}

void event_ids() {
    CHECK_CLEAN(run([] {
        TPipe pipe;
        const auto first = pipe.AllocEventID<HardEvent::V_S>();
        const auto second = pipe.FetchEventID<HardEvent::V_S>();
        CHECK(first != second && pipe.FetchEventID(HardEvent::V_S) == second);
        SetFlag<HardEvent::V_S>(second);
        CHECK(pipe.FetchEventID(HardEvent::V_S) == second);  // what is set is not reserved
        WaitFlag<HardEvent::V_S>(second);
        pipe.ReleaseEventID<HardEvent::V_S>(first);
        CHECK(pipe.FetchEventID(HardEvent::V_S) == first);
        TQueSync<PIPE_MTE2, PIPE_V> sync;
        sync.SetFlag(0);
        sync.WaitFlag(0);
    }));
}

void fills_and_scalars() {
    float* z = gm_unwritten<float>(100);
    CHECK_CLEAN(run([&] {
        InitOutput(global(z), 100u, 2.5f);
        SetFlag<HardEvent::MTE3_S>(0);
        WaitFlag<HardEvent::MTE3_S>(0);
        auto g = global(z, 100);
        CHECK(g.GetValue(99) == 2.5f && g.GetSize() == 100);
        CHECK(ScalarCountLeadingZero(1) == 63 && ScalarGetCountOfValue<1>(7) == 3);
        CHECK(ScalarGetSFFValue<1>(8) == 3);
    }));
    CHECK(z[0] == 2.5f);
    ascendc_emulator::GmFree(z);
}

#if __CCE_AICORE__ != 100
void data_cache() {
    float* x = gm<float>(16, 0.0f);
    CHECK_CLEAN(run([&] {
        TPipe pipe;
        TBuf<TPosition::VECCALC> buffer;
        pipe.InitBuffer(buffer, 64);
        auto g = global(x);
        g.SetValue(3, 7.0f);
        DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE>(g);
        SetFlag<HardEvent::S_MTE2>(0);
        WaitFlag<HardEvent::S_MTE2>(0);
        auto t = buffer.Get<float>();
        DataCopy(t, g, 8);
        SetFlag<HardEvent::MTE2_S>(0);
        WaitFlag<HardEvent::MTE2_S>(0);
        CHECK(t.GetValue(3) == 7.0f);
    }));
    ascendc_emulator::GmFree(x);
}

void pattern_tensor() {
    uint32_t* x = gm<uint32_t>(64, 0);
    for (uint32_t i = 0; i < 64; ++i) x[i] = i;
    uint32_t* pattern = gm<uint32_t>(8, 0x80000001u);
    uint32_t* z = gm<uint32_t>(64, 0);
    CHECK_CLEAN(run([&] {
        TPipe pipe;
        TBuf<TPosition::VECCALC> a, b, c;
        auto t = loaded(pipe, a, x, 64);
        auto p = loaded(pipe, b, pattern, 8);
        auto r = loaded(pipe, c, z, 64);
        uint64_t n = 0;
        GatherMask(r, t, p, false, 0, GatherMaskParams{1, 1, 8, 0}, n);
        CHECK(n == 4 && GetGatherMaskRemainCount() == 4);
        stored(z, r, 64);
    }));
    CHECK(z[0] == 0 && z[1] == 31 && z[2] == 32 && z[3] == 63);
    ascendc_emulator::Options collecting;
    collecting.collect = true;
    const auto refused = ascendc_emulator::launch(
        kArch, "refused", 1,
        [&] {
            TPipe pipe;
            TBuf<TPosition::VECCALC> a, c;
            auto t = loaded(pipe, a, x, 64);
            auto r = loaded(pipe, c, z, 64);
            uint64_t n = 0;
            GatherMask(r, t, 1, false, 0, GatherMaskParams{1, 1, 8, 0}, n);
            CHECK(n == 32);
            GatherMask(r, t, 0, false, 0, GatherMaskParams{1, 1, 8, 0}, n);
            CHECK(n == 0 && GetGatherMaskRemainCount() == 0);
        },
        collecting);
    CHECK(refused.reports.size() == 1 && refused.reports[0].rule == "illegal-argument");
    for (uint32_t* p : {x, pattern, z}) ascendc_emulator::GmFree(p);
}
#endif

#if __CCE_AICORE__ == 220
void accumulators() {
    float* x = gm<float>(512, 1.0f);
    x[200] = 5.0f;
    CHECK_CLEAN(run([&] {
        TPipe pipe;
        TBuf<TPosition::VECCALC> a, b;
        auto t = loaded(pipe, a, x, 512);
        pipe.InitBuffer(b, 1024);
        auto r = b.Get<float>();
        ReduceSum(r, t, r[64], 512);
        CHECK(r.GetValue(0) == 516.0f);  // the count form has written it by the scalar unit
        SetFlag<HardEvent::V_S>(0);
        WaitFlag<HardEvent::V_S>(0);
        CHECK(GetAccVal<float>() == 516.0f);
        ReduceMax(r, t, r[64], 512, true);
        SetFlag<HardEvent::V_S>(0);
        WaitFlag<HardEvent::V_S>(0);
        float value = 0, index = 0;
        GetReduceMaxMinCount(value, index);
        uint32_t position;
        std::memcpy(&position, &index, 4);
        CHECK(value == 5.0f && position == 200);
        RepeatReduceSum(r, t, 4, 64, 1, 1, 1, 8);
        SetFlag<HardEvent::V_S>(0);
        WaitFlag<HardEvent::V_S>(0);
        CHECK(r.GetValue(0) == 64.0f && r.GetValue(3) == 68.0f);
    }));
    ascendc_emulator::GmFree(x);
}

void atomic_extremes() {
    int16_t* x = gm<int16_t>(32, 5);
    CHECK_CLEAN(run([&] {
        TPipe pipe;
        TQue<TPosition::VECOUT, 1> out;
        pipe.InitBuffer(out, 1, 64);
        for (int i = 0; i < 2; ++i) {
            auto t = out.AllocTensor<int16_t>();
            Duplicate(t, static_cast<int16_t>(i == 0 ? 9 : 7), 32);
            out.EnQue(t);
            t = out.DeQue<int16_t>();
            if (i == 0) SetAtomicMax<int16_t>();
            if (i == 1) SetAtomicMin<int16_t>();
            DataCopyPad(global(x), t, DataCopyExtParams{1, 6, 0, 0, 0});
            SetAtomicNone();
            out.FreeTensor(t);
        }
    }));
    CHECK(x[0] == 7 && x[2] == 7 && x[3] == 5);
    ascendc_emulator::GmFree(x);
}

void block_gather() {
    uint32_t* x = gm<uint32_t>(128, 0);
    for (uint32_t i = 0; i < 128; ++i) x[i] = i;
    uint32_t* offsets = gm<uint32_t>(8, 0);
    for (uint32_t i = 0; i < 8; ++i) offsets[i] = (7 - i) * 32;
    uint32_t* z = gm_unwritten<uint32_t>(64);
    CHECK_CLEAN(run([&] {
        TPipe pipe;
        TBuf<TPosition::VECCALC> a, b, c;
        auto t = loaded(pipe, a, x, 128);
        auto o = loaded(pipe, b, offsets, 8);
        pipe.InitBuffer(c, 256);
        auto r = c.Get<uint32_t>();
        Gatherb(r, t, o, 1, GatherRepeatParams{1, 8});
        stored(z, r, 64);
    }));
    CHECK(z[0] == 56 && z[63] == 7);
    ascendc_emulator::GmFree(x);
    ascendc_emulator::GmFree(offsets);
    ascendc_emulator::GmFree(z);
}

void conversions_by_scale() {
    half* z = gm_unwritten<half>(64);
    int32_t* x = gm<int32_t>(64, 300);
    CHECK_CLEAN(run([&] {
        TPipe pipe;
        TBuf<TPosition::VECCALC> a, b;
        auto t = loaded(pipe, a, x, 64);
        pipe.InitBuffer(b, 128);
        SetDeqScale(half(0.5f));
        Cast(b.Get<half>(), t, RoundMode::CAST_NONE, 64u);
        stored(z, b.Get<half>(), 64);
        CHECK((ScalarCast<float, int32_t, RoundMode::CAST_CEIL>(2.25f)) == 3);
        CHECK(float(ToBfloat16(1.00390625f)) == 1.0f);
    }));
    CHECK(float(z[9]) == 150.0f);
    ascendc_emulator::GmFree(z);
    ascendc_emulator::GmFree(x);
}
#endif

#if __CCE_AICORE__ == 200
void scattering() {
    float* x = gm<float>(8, 0.0f);
    for (int i = 0; i < 8; ++i) x[i] = static_cast<float>(i);
    uint32_t* offsets = gm<uint32_t>(8, 0);
    for (uint32_t i = 0; i < 8; ++i) offsets[i] = (7 - i) * 4;
    float* z = gm<float>(8, 0.0f);
    CHECK_CLEAN(run([&] {
        TPipe pipe;
        TBuf<TPosition::VECCALC> a, b, c;
        auto t = loaded(pipe, a, x, 8);
        auto o = loaded(pipe, b, offsets, 8);
        auto r = loaded(pipe, c, z, 8);
        Scatter(r, t, o, 0u, 8u);
        stored(z, r, 8);
    }));
    CHECK(z[0] == 7.0f && z[7] == 0.0f);
    ascendc_emulator::GmFree(x);
    ascendc_emulator::GmFree(offsets);
    ascendc_emulator::GmFree(z);
}
#endif

}  // namespace

int main() {
    if (on_910b) tensor_operators();
    pools_and_binding();
    event_ids();
    fills_and_scalars();
#if __CCE_AICORE__ != 100
    data_cache();
    pattern_tensor();
#endif
#if __CCE_AICORE__ == 220
    accumulators();
    legal_overlaps();
    atomic_extremes();
    block_gather();
    conversions_by_scale();
#endif
#if __CCE_AICORE__ == 200
    scattering();
#endif
    std::printf("%d failures\n", check_failures);
    return check_failures != 0;
}
