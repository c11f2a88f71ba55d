// TPipe, TQue, TQueBind, TBuf, TBufPool: handles to the core's buffers and queues in the runtime.
#pragma once

#include "ascendc_emulator/tensor.h"

namespace AscendC {
inline namespace ASCENDC_EMULATOR_ABI {

class TPipe;

constexpr bool is_ub_position(TPosition p) {
    return p == TPosition::VECIN || p == TPosition::VECOUT || p == TPosition::VECCALC;
}

template <TPosition src, TPosition dst, int32_t depth, auto mask = 0>
class TQueBind {
    static_assert((is_ub_position(src) || src == TPosition::GM) &&
                      (is_ub_position(dst) || dst == TPosition::GM),
                  "the emulator has vector cores: queue positions are GM, VECIN, VECOUT, VECCALC");

  public:
    static constexpr TPosition srcPosition = src;
    static constexpr TPosition dstPosition = dst;
    static constexpr int32_t queDepth = depth;

    template <typename T>
    LocalTensor<T> AllocTensor(rt::Loc loc = rt::Loc::here()) {
        return LocalTensor<T>(rt::queue_alloc(handle_, loc));
    }
    template <typename T>
    bool EnQue(const LocalTensor<T>& tensor, rt::Loc loc = rt::Loc::here()) {
        rt::queue_enque(handle_, tensor.ub, loc);
        return true;
    }
    template <TPosition from, TPosition to, typename T>
    bool EnQue(const LocalTensor<T>& tensor, rt::Loc loc = rt::Loc::here()) {
        rt::queue_enque(handle_, tensor.ub, from, to, loc);
        return true;
    }
    template <typename T>
    LocalTensor<T> DeQue(rt::Loc loc = rt::Loc::here()) {
        return LocalTensor<T>(rt::queue_deque(handle_, loc));
    }
    template <TPosition from, TPosition to, typename T>
    LocalTensor<T> DeQue(rt::Loc loc = rt::Loc::here()) {
        return LocalTensor<T>(rt::queue_deque(handle_, from, to, loc));
    }
    template <typename T>
    void FreeTensor(LocalTensor<T>& tensor, rt::Loc loc = rt::Loc::here()) {
        rt::queue_free(handle_, tensor.ub, loc);
    }
    bool VacantInQue() { return rt::queue_fact(handle_, rt::QueueFact::vacant) != 0; }
    bool HasTensorInQue() { return rt::queue_fact(handle_, rt::QueueFact::has_tensor) != 0; }
    int32_t GetTensorCountInQue() { return rt::queue_fact(handle_, rt::QueueFact::count); }
    bool HasIdleBuffer() { return rt::queue_fact(handle_, rt::QueueFact::has_idle) != 0; }
    void FreeAllEvent(rt::Loc loc = rt::Loc::here()) { rt::queue_free_all_events(handle_, loc); }

  protected:
    friend class TPipe;
    template <TPosition, uint32_t>
    friend class TBufPool;
    void init(uint8_t number, uint32_t bytes, uint32_t pool, rt::Loc loc) {
        handle_ = rt::queue_init(src, dst, depth, number, bytes, pool, loc);
    }
    uint32_t handle_ = 0;
};

constexpr TPosition queue_source(TPosition p) {
    return p == TPosition::VECIN ? TPosition::GM : p;
}
constexpr TPosition queue_target(TPosition p) {
    return p == TPosition::VECOUT ? TPosition::GM : p;
}

template <TPosition pos, int32_t depth, auto mask = 0>
class TQue : public TQueBind<queue_source(pos), queue_target(pos), depth, mask> {};

template <TPosition pos = TPosition::VECCALC>
class TBuf {
    static_assert(is_ub_position(pos), "the emulator's TBuf positions are VECIN, VECOUT, VECCALC");

  public:
    template <typename T>
    LocalTensor<T> Get(rt::Loc loc = rt::Loc::here()) {
        return LocalTensor<T>(rt::buffer_get(handle_, 0, 0, true, loc));
    }
    template <typename T>
    LocalTensor<T> Get(uint32_t elements, rt::Loc loc = rt::Loc::here()) {
        return LocalTensor<T>(
            rt::buffer_get(handle_, 0, uint64_t(elements) * sizeof(T), false, loc));
    }
    template <typename T>
    LocalTensor<T> GetWithOffset(uint32_t elements, uint32_t byte_offset,
                                 rt::Loc loc = rt::Loc::here()) {
        return LocalTensor<T>(
            rt::buffer_get(handle_, byte_offset, uint64_t(elements) * sizeof(T), false, loc));
    }
    template <typename T>
    LocalTensor<T> AllocTensor(rt::Loc loc = rt::Loc::here()) {
        return Get<T>(loc);
    }
    template <typename T>
    void FreeTensor(LocalTensor<T>&) {}

  private:
    friend class TPipe;
    template <TPosition, uint32_t>
    friend class TBufPool;
    uint32_t handle_ = 0;
};

template <TPosition pos, uint32_t buffers = 4>
class TBufPool {
  public:
    template <TPosition src, TPosition dst, int32_t depth, auto mask>
    bool InitBuffer(TQueBind<src, dst, depth, mask>& que, uint8_t num, uint32_t len,
                    rt::Loc loc = rt::Loc::here()) {
        que.init(num, len, handle_, loc);
        return true;
    }
    template <TPosition p>
    bool InitBuffer(TBuf<p>& buf, uint32_t len, rt::Loc loc = rt::Loc::here()) {
        buf.handle_ = rt::buffer_init(p, len, handle_, loc);
        return true;
    }
    template <TPosition p, uint32_t n>
    bool InitBufPool(TBufPool<p, n>& pool, uint32_t len, rt::Loc loc = rt::Loc::here()) {
        pool.handle_ = rt::pool_init(p, len, 0, handle_, loc);
        return true;
    }
    template <TPosition p, uint32_t n, TPosition q, uint32_t m>
    bool InitBufPool(TBufPool<p, n>& pool, uint32_t len, TBufPool<q, m>& share,
                     rt::Loc loc = rt::Loc::here()) {
        pool.handle_ = rt::pool_init(p, len, share.handle_, handle_, loc);
        return true;
    }
    void Reset(rt::Loc loc = rt::Loc::here()) { rt::pool_reset(handle_, loc); }

  private:
    friend class TPipe;
    template <TPosition, uint32_t>
    friend class TBufPool;
    uint32_t handle_ = 0;
};

class TPipe {
  public:
    TPipe(rt::Loc loc = rt::Loc::here()) { Init(loc); }
    ~TPipe() { Destroy(); }
    TPipe(const TPipe&) = delete;
    TPipe& operator=(const TPipe&) = delete;

    void Init(rt::Loc loc = rt::Loc::here());
    void Destroy();
    void Reset(rt::Loc loc = rt::Loc::here()) { rt::pipe_reset(id_, loc); }
    template <TPosition src, TPosition dst, int32_t depth, auto mask>
    bool InitBuffer(TQueBind<src, dst, depth, mask>& que, uint8_t num, uint32_t len,
                    rt::Loc loc = rt::Loc::here()) {
        que.init(num, len, 0, loc);
        return true;
    }
    template <TPosition pos>
    bool InitBuffer(TBuf<pos>& buf, uint32_t len, rt::Loc loc = rt::Loc::here()) {
        buf.handle_ = rt::buffer_init(pos, len, 0, loc);
        return true;
    }
    template <TPosition pos, uint32_t n>
    bool InitBufPool(TBufPool<pos, n>& pool, uint32_t len, rt::Loc loc = rt::Loc::here()) {
        pool.handle_ = rt::pool_init(pos, len, 0, 0, loc);
        return true;
    }
    template <TPosition pos, uint32_t n, TPosition pos2, uint32_t n2>
    bool InitBufPool(TBufPool<pos, n>& pool, uint32_t len, TBufPool<pos2, n2>& share,
                     rt::Loc loc = rt::Loc::here()) {
        pool.handle_ = rt::pool_init(pos, len, share.handle_, 0, loc);
        return true;
    }
    template <HardEvent event>
    TEventID AllocEventID(rt::Loc loc = rt::Loc::here()) {
        return rt::alloc_event(event, loc);
    }
    template <HardEvent event>
    void ReleaseEventID(TEventID id, rt::Loc loc = rt::Loc::here()) {
        rt::release_event(event, id, loc);
    }
    template <HardEvent event>
    TEventID FetchEventID(rt::Loc loc = rt::Loc::here()) {
        return rt::fetch_event(event, loc);
    }
    TEventID FetchEventID(HardEvent event, rt::Loc loc = rt::Loc::here()) {
        return rt::fetch_event(event, loc);
    }
    template <TPosition pos, typename T>
    LocalTensor<T> GetAbsAddr(int32_t offset, int32_t size, rt::Loc loc = rt::Loc::here()) const {
        return LocalTensor<T>(rt::absolute_ub(pos, static_cast<uint32_t>(offset),
                                              static_cast<uint32_t>(size * sizeof(T)), loc));
    }

  private:
    uint64_t id_ = 0;
};

inline thread_local TPipe* current_pipe = nullptr;

inline void TPipe::Destroy() {
    if (id_ != 0) rt::pipe_destroy(id_);
    if (current_pipe == this) current_pipe = nullptr;
    id_ = 0;
}

inline void TPipe::Init(rt::Loc loc) {
    Destroy();
    id_ = rt::pipe_create(loc);
    current_pipe = this;
}

}  // namespace ASCENDC_EMULATOR_ABI
}  // namespace AscendC

inline AscendC::TPipe* GetTPipePtr() {
    return AscendC::current_pipe;
}
