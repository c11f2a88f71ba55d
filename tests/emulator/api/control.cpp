// Tensors, queues, pools, events, masks, core identity and synchronisation between cores.
#include "operands.h"

namespace {

__aicore__ inline void tensors(Operands& u, GM_ADDR x) {
    GlobalTensor<float> g;
    g.SetGlobalBuffer((__gm__ float*)x);
    g.SetGlobalBuffer((__gm__ float*)x, 2048);
    g.SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE);
    const bool whole = g[8].GetSize() == 2040 && g.GetPhyAddr() == g[0].GetPhyAddr(0);
    g.SetValue(0, g.GetValue(0));
#if __CCE_AICORE__ == 220
    DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE, DcciDst::CACHELINE_OUT>(g);
#endif
#if __CCE_AICORE__ == 200
    DataCacheCleanAndInvalid<float, CacheLine::SINGLE_CACHE_LINE>(g);
#endif
    LocalTensor<float> t = u.dst<float>();
    t.SetSize(64);
    t.SetValue(0, t.GetValue(1) + (whole ? 1.0f : 0.0f));
    t(1) = t(0);
    (void)t.ReinterpretCast<half>().GetSize();
    (void)t.GetPhyAddr(8);
    PipeBarrier<PIPE_ALL>();
}

__aicore__ inline void queues(TPipe& pipe, GM_ADDR x, GM_ADDR z) {
    TQue<QuePosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> through;
    TBufPool<TPosition::VECCALC> pool;
    TBuf<TPosition::VECCALC> part;
    pipe.InitBuffer(in, 2, 256);
    pipe.InitBuffer(out, 2, 256);
    pipe.InitBufPool(pool, 1024);
    pool.InitBuffer(through, 1, 256);
    pool.InitBuffer(part, 256);
    GlobalTensor<float> source, target;
    source.SetGlobalBuffer((__gm__ float*)x);
    target.SetGlobalBuffer((__gm__ float*)z);
    LocalTensor<float> a = in.AllocTensor<float>();
    DataCopy(a, source, 64);
    in.EnQue(a);
    (void)(in.HasTensorInQue() && in.VacantInQue() && in.HasIdleBuffer() &&
           in.GetTensorCountInQue());
    a = in.DeQue<float>();
    LocalTensor<float> b = out.AllocTensor<float>();
    LocalTensor<float> half0 = part.Get<float>(32), half1 = part.GetWithOffset<float>(32, 128);
    Adds(half0, a, 1.0f, 32);
    Muls(half1, a[32], 2.0f, 32);
    Add(b, half0, half1, 32);
    Sub(b[32], half0, half1, 32);
    out.EnQue<float>(b);
    in.FreeTensor(a);
    b = out.DeQue<float>();
    DataCopy(target, b, 64);
    out.FreeTensor(b);
    LocalTensor<float> c = through.AllocTensor<float>();
    DataCopy(c, source, 64);
    through.EnQue(c);
    c = through.DeQue<float>();
    PipeBarrier<PIPE_MTE3>();
    DataCopy(target, c, 64);
    through.FreeTensor(c);
}

__aicore__ inline void events_and_masks(TPipe& pipe, Operands& u) {
    (void)GetTPipePtr();
    TEventID id = pipe.AllocEventID<HardEvent::MTE2_V>();
    SetFlag<HardEvent::MTE2_V>(id);
    WaitFlag<HardEvent::MTE2_V>(id);
    pipe.ReleaseEventID<HardEvent::MTE2_V>(id);
    (void)pipe.FetchEventID(HardEvent::V_MTE3);
    PipeBarrier<PIPE_V>();
    PipeBarrier<PIPE_MTE2>();
    PipeBarrier<PIPE_MTE3>();
    PipeBarrier<PIPE_ALL>();
    SetMaskCount();
    SetVectorMask<float, MaskMode::COUNTER>(0, 100);
    Adds<float, false>(u.dst<float>(), u.src0<float>(), 1.0f, MASK_PLACEHOLDER, 1,
                       UnaryRepeatParams());
    SetMaskNorm();
    SetVectorMask<float, MaskMode::NORMAL>(0, 0xff);
    Add<float, false>(u.dst<float>(), u.src0<float>(), u.src1<float>(), MASK_PLACEHOLDER, 2,
                      BinaryRepeatParams());
    ResetMask();
}

__aicore__ inline void cores(Operands& u, GM_ADDR workspace) {
    if ASCEND_IS_AIC {
        return;
    }
    const int64_t core = GetBlockIdx(), number = GetBlockNum();
    if (GetSubBlockIdx() >= GetSubBlockNum() || GetTaskRation() > 2) Trap();
    GlobalTensor<int32_t> counters, pairs, chain;
    counters.SetGlobalBuffer((__gm__ int32_t*)workspace, 64);
    pairs.SetGlobalBuffer((__gm__ int32_t*)workspace + 64, 128);
    chain.SetGlobalBuffer((__gm__ int32_t*)workspace + 192, 64);
    LocalTensor<int32_t> ub = u.temporary<int32_t>();
    PipeBarrier<PIPE_ALL>();
    SyncAll(counters, ub);
    if (core > 0) IBWait(pairs, ub, int32_t(core) - 1, 0);
    if (core + 1 < number) IBSet(pairs, ub, int32_t(core), 0);
#if __CCE_AICORE__ != 100
    InitDetermineComputeWorkspace(chain, ub);
    WaitPreBlock(chain, ub);
    NotifyNextBlock(chain, ub);
#endif
#if __CCE_AICORE__ == 220
    SyncAll<true>();
    CrossCoreSetFlag<0, PIPE_MTE3>(3);
    CrossCoreWaitFlag(3);
#endif
}

}  // namespace

extern "C" __global__ __aicore__ void control(GM_ADDR x, GM_ADDR z, GM_ADDR workspace) {
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    TPipe pipe;
    Operands u;
    u.init(pipe, x);
    cores(u, workspace);
    if (GetBlockIdx() == 0) {
        tensors(u, x);
        queues(pipe, x, z);
        events_and_masks(pipe, u);
    }
    pipe.Reset();
}
