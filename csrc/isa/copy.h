// Copies of elements, whatever their strides.
#pragma once

#include <cstring>

#include "core/layout.h"

namespace ascend_grad {
namespace {

// Operands of the loops of a copy.
constexpr int kCopyFrom = 0, kCopyTo = 1;

// Runs of kBytes or, kPair, of as many to twice as many: two copies that may overlap. 0: any.
template <int kBytes, bool kPair>
inline void copy_runs(const char* from, char* to, const Loops& loops, int64_t bytes) {
    const int64_t(*stride)[Loops::kMaxOperands] = loops.stride;
    const size_t rest = static_cast<size_t>(bytes - kBytes);
    for (int64_t i = 0; i < loops.extent[0]; ++i) {
        for (int64_t j = 0; j < loops.extent[1]; ++j) {
            const char* p = from + i * stride[0][kCopyFrom] + j * stride[1][kCopyFrom];
            char* q = to + i * stride[0][kCopyTo] + j * stride[1][kCopyTo];
            for (int64_t k = 0; k < loops.extent[2]; ++k) {
                if (kBytes == 0) std::memcpy(q, p, static_cast<size_t>(bytes));
                char first[kBytes + 1], last[kBytes + 1];
                std::memcpy(first, p, kBytes);
                if (kPair) std::memcpy(last, p + rest, kBytes);
                std::memcpy(q, first, kBytes);
                if (kPair) std::memcpy(q + rest, last, kBytes);
                p += stride[2][kCopyFrom];
                q += stride[2][kCopyTo];
            }
        }
    }
}

// Elements of `size` bytes, 2 or 4, in the order in which operand `sequential` has them in memory.
// At most four loops.
inline void copy_elements(const char* from, char* to, int64_t size, Loops loops, int sequential) {
    loops.sort(sequential);
    loops.merge();
    int64_t bytes = size;
    const int inner = loops.count - 1;
    if (inner >= 0 && loops.stride[inner][0] == size && loops.stride[inner][1] == size) {
        bytes *= loops.extent[inner];
        --loops.count;
    }
    Loops nest;
    nest.operands = 2;
    const int64_t none[] = {0, 0};
    for (int i = loops.count; i < 3; ++i) nest.append(1, none);
    const int outer = loops.count > 3 ? 1 : 0;
    for (int i = outer; i < loops.count; ++i) nest.append(loops.extent[i], loops.stride[i]);
    const int64_t count = outer > 0 ? loops.extent[0] : 1;
    for (int64_t i = 0; i < count; ++i) {
        if (bytes == 2) {
            copy_runs<2, false>(from, to, nest, bytes);
        } else if (bytes == 4) {
            copy_runs<4, false>(from, to, nest, bytes);
        } else if (bytes <= 8) {
            copy_runs<4, true>(from, to, nest, bytes);
        } else if (bytes <= 16) {
            copy_runs<8, true>(from, to, nest, bytes);
        } else if (bytes <= 32) {
            copy_runs<16, true>(from, to, nest, bytes);
        } else if (bytes <= 64) {
            copy_runs<32, true>(from, to, nest, bytes);
        } else {
            copy_runs<0, false>(from, to, nest, bytes);
        }
        from += loops.stride[0][kCopyFrom];
        to += loops.stride[0][kCopyTo];
    }
}

}  // namespace
}  // namespace ascend_grad
