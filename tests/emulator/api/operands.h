// UB operands for the kernels here, filled from GM.
#pragma once

#include "kernel_operator.h"
using namespace AscendC;

class Operands {
  public:
    __aicore__ inline void init(TPipe& pipe, GM_ADDR x) {
        GlobalTensor<uint32_t> source;
        source.SetGlobalBuffer((__gm__ uint32_t*)x, 2048);
        for (auto& buffer : buffers) {
            pipe.InitBuffer(buffer, 8192);
            LocalTensor<uint32_t> whole = buffer.Get<uint32_t>();
            DataCopy(whole, source, 2048);
        }
        PipeBarrier<PIPE_ALL>();
    }
    template <typename T>
    __aicore__ inline LocalTensor<T> dst() {
        return buffers[0].Get<T>();
    }
    template <typename T>
    __aicore__ inline LocalTensor<T> src0() {
        return buffers[1].Get<T>();
    }
    template <typename T>
    __aicore__ inline LocalTensor<T> src1() {
        return buffers[2].Get<T>();
    }
    template <typename T>
    __aicore__ inline LocalTensor<T> mask() {
        return buffers[3].Get<T>();
    }
    __aicore__ inline LocalTensor<uint32_t> offsets() { return mask<uint32_t>(); }
    template <typename T>
    __aicore__ inline LocalTensor<T> temporary() {
        return buffers[4].Get<T>();
    }
    uint64_t bits[2] = {0xff, 0};

  private:
    TBuf<TPosition::VECCALC> buffers[5];
};
