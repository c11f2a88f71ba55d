// Events, barriers, mask registers, core identity, cross-core synchronisation, debugging aids.
#pragma once

#include <cstdio>

#include "ascendc_emulator/calls.h"
#include "ascendc_emulator/macros.h"

namespace AscendC {
inline namespace ASCENDC_EMULATOR_ABI {

template <HardEvent event>
void SetFlag(int32_t id, rt::Loc loc = rt::Loc::here()) {
    rt::set_flag(event, id, loc);
}
template <HardEvent event>
void WaitFlag(int32_t id, rt::Loc loc = rt::Loc::here()) {
    rt::wait_flag(event, id, loc);
}
template <pipe_t pipe>
void PipeBarrier(rt::Loc loc = rt::Loc::here()) {
    static_assert(pipe != PIPE_S, "AscendC::PipeBarrier<PIPE_S> is illegal: it hangs the core");
    rt::pipe_barrier(pipe, loc);
}
constexpr HardEvent event_between(pipe_t src, pipe_t dst) {
    if (src == PIPE_MTE2 && dst == PIPE_V) return HardEvent::MTE2_V;
    if (src == PIPE_V && dst == PIPE_MTE2) return HardEvent::V_MTE2;
    if (src == PIPE_MTE3 && dst == PIPE_V) return HardEvent::MTE3_V;
    if (src == PIPE_V && dst == PIPE_MTE3) return HardEvent::V_MTE3;
    if (src == PIPE_MTE3 && dst == PIPE_MTE2) return HardEvent::MTE3_MTE2;
    if (src == PIPE_MTE2 && dst == PIPE_MTE3) return HardEvent::MTE2_MTE3;
    if (src == PIPE_S && dst == PIPE_V) return HardEvent::S_V;
    if (src == PIPE_V && dst == PIPE_S) return HardEvent::V_S;
    if (src == PIPE_S && dst == PIPE_MTE2) return HardEvent::S_MTE2;
    if (src == PIPE_MTE2 && dst == PIPE_S) return HardEvent::MTE2_S;
    if (src == PIPE_S && dst == PIPE_MTE3) return HardEvent::S_MTE3;
    if (src == PIPE_MTE3 && dst == PIPE_S) return HardEvent::MTE3_S;
    return HardEvent::MAX;
}
template <pipe_t src, pipe_t dst>
class TQueSync {
  public:
    void SetFlag(TEventID id, rt::Loc loc = rt::Loc::here()) { rt::set_flag(event(), id, loc); }
    void WaitFlag(TEventID id, rt::Loc loc = rt::Loc::here()) { rt::wait_flag(event(), id, loc); }

  private:
    static constexpr HardEvent event() { return event_between(src, dst); }
};
#if __CCE_AICORE__ >= 220
template <MemDsbT kind>
void DataSyncBarrier(rt::Loc loc = rt::Loc::here()) {
    rt::pipe_barrier(PIPE_ALL, loc);
}
#endif

template <typename T, MaskMode mode = MaskMode::NORMAL>
void SetVectorMask(uint64_t high, uint64_t low) {
    rt::set_mask(high, low, mode);
}
template <typename T, MaskMode mode = MaskMode::NORMAL>
void SetVectorMask(int32_t length) {
    if (mode == MaskMode::COUNTER) return rt::set_mask(0, static_cast<uint64_t>(length), mode);
    const uint64_t full = ~uint64_t(0);
    const uint64_t low = length >= 64 ? full : (uint64_t(1) << length) - 1;
    const uint64_t high = length <= 64    ? 0
                          : length >= 128 ? full
                                          : (uint64_t(1) << (length - 64)) - 1;
    rt::set_mask(high, low, mode);
}
inline void SetMaskCount() {
    rt::set_mask_mode(MaskMode::COUNTER);
}
inline void SetMaskNorm() {
    rt::set_mask_mode(MaskMode::NORMAL);
}
inline void ResetMask() {
    rt::reset_mask();
}

inline int64_t GetBlockIdx() {
    return rt::block_index();
}
inline int64_t GetBlockNum() {
    return rt::block_number();
}
inline int64_t GetSubBlockIdx() {
    return rt::sub_block_index();
}
inline int64_t GetSubBlockNum() {
    return rt::sub_block_number();
}
inline int64_t GetTaskRation() {
    return rt::task_ratio();
}
inline int64_t GetSystemCycle() {
    return rt::system_cycle();
}
// The user's part of the workspace: what the test program passed, as in CANN's CPU twin.
inline GM_ADDR GetUserWorkspace(GM_ADDR workspace) {
    return workspace;
}
inline void SetSysWorkspace(GM_ADDR) {}
inline void GetArchVersion(uint32_t& version) {
    version = __CCE_AICORE__;
}
inline void Trap(rt::Loc loc = rt::Loc::here()) {
    rt::trap(loc);
}
constexpr int16_t GetDataBlockSizeInBytes() {
    return ONE_BLK_SIZE;
}

template <bool isAIVOnly = true>
void SyncAll(rt::Loc loc = rt::Loc::here()) {
    static_assert(on_910b && (isAIVOnly || !isAIVOnly),
                  "AscendC::SyncAll() by hardware does not exist on " ASCENDC_EMULATOR_SOC_NAME
                  ": use SyncAll(gm, ub)");
    rt::sync_all(loc);
}
template <bool isAIVOnly = true>
void SyncAll(const GlobalTensor<int32_t>& gm, const LocalTensor<int32_t>& ub, int32_t usedCores = 0,
             rt::Loc loc = rt::Loc::here()) {
    rt::sync_all_soft(gm.gm, gm.GetSize(), ub.ub, usedCores, loc);
}
template <bool isAIVOnly = true>
void IBSet(const GlobalTensor<int32_t>& gm, const LocalTensor<int32_t>& ub, int32_t block,
           int32_t event, rt::Loc loc = rt::Loc::here()) {
    rt::ib_set(gm.gm, ub.ub, block, event, loc);
}
template <bool isAIVOnly = true>
void IBWait(const GlobalTensor<int32_t>& gm, const LocalTensor<int32_t>& ub, int32_t block,
            int32_t event, rt::Loc loc = rt::Loc::here()) {
    rt::ib_wait(gm.gm, ub.ub, block, event, loc);
}
#if __CCE_AICORE__ >= 200
inline void InitDetermineComputeWorkspace(GlobalTensor<int32_t>& gm, LocalTensor<int32_t>& ub,
                                          rt::Loc loc = rt::Loc::here()) {
    rt::determine_init(gm.gm, ub.ub, loc);
}
inline void WaitPreBlock(GlobalTensor<int32_t>& gm, LocalTensor<int32_t>& ub,
                         rt::Loc loc = rt::Loc::here()) {
    rt::determine_wait(gm.gm, ub.ub, loc);
}
inline void NotifyNextBlock(GlobalTensor<int32_t>& gm, LocalTensor<int32_t>& ub,
                            rt::Loc loc = rt::Loc::here()) {
    rt::determine_notify(gm.gm, ub.ub, loc);
}
#endif
#if __CCE_AICORE__ == 220
template <uint8_t modeId, pipe_t pipe>
void CrossCoreSetFlag(uint16_t flag, rt::Loc loc = rt::Loc::here()) {
    static_assert(modeId <= 2, "AscendC::CrossCoreSetFlag: mode is 0, 1 or 2");
    rt::cross_core_set(modeId, pipe, flag, loc);
}
template <uint8_t modeId = 0, pipe_t pipe = PIPE_S>
void CrossCoreWaitFlag(uint16_t flag, rt::Loc loc = rt::Loc::here()) {
    rt::cross_core_wait(modeId, pipe, flag, loc);
}
#endif

template <typename T>
void DumpTensor(const LocalTensor<T>& t, uint32_t desc, uint32_t count,
                rt::Loc loc = rt::Loc::here()) {
    rt::dump(t.ub, desc, count, loc);
}
template <typename T>
void DumpTensor(const GlobalTensor<T>& t, uint32_t desc, uint32_t count,
                rt::Loc loc = rt::Loc::here()) {
    rt::dump(t.gm, desc, count, loc);
}
template <typename... Args>
void PRINTF(const char* format, Args&&... args) {
    std::printf(format, args...);
}
inline void ICachePreLoad(int64_t) {}
inline void PrintTimeStamp(uint32_t) {}

inline int64_t ScalarCountLeadingZero(uint64_t v) {
    return v == 0 ? 64 : __builtin_clzll(v);
}
template <int value>
int64_t ScalarGetCountOfValue(uint64_t v) {
    static_assert(value == 0 || value == 1, "AscendC::ScalarGetCountOfValue: 0 or 1");
    return value == 1 ? __builtin_popcountll(v) : 64 - __builtin_popcountll(v);
}
template <int value>
int64_t ScalarGetSFFValue(uint64_t v) {
    static_assert(value == 0 || value == 1, "AscendC::ScalarGetSFFValue: 0 or 1");
    const uint64_t bits = value == 1 ? v : ~v;
    return bits == 0 ? -1 : __builtin_ctzll(bits);
}

}  // namespace ASCENDC_EMULATOR_ABI
}  // namespace AscendC

inline uint8_t* GetSysWorkSpacePtr() {
    return ascendc_emulator::rt::system_workspace();
}

// The intrinsics below the API that kernels call directly now and then.
inline void pipe_barrier(pipe_t pipe,
                         ascendc_emulator::rt::Loc loc = ascendc_emulator::rt::Loc::here()) {
    ascendc_emulator::rt::pipe_barrier(pipe, loc);
}
inline void set_flag(pipe_t src, pipe_t dst, event_t id,
                     ascendc_emulator::rt::Loc loc = ascendc_emulator::rt::Loc::here()) {
    ascendc_emulator::rt::set_flag(AscendC::event_between(src, dst), id, loc);
}
inline void wait_flag(pipe_t src, pipe_t dst, event_t id,
                      ascendc_emulator::rt::Loc loc = ascendc_emulator::rt::Loc::here()) {
    ascendc_emulator::rt::wait_flag(AscendC::event_between(src, dst), id, loc);
}
