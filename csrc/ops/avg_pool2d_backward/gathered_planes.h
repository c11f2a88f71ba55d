// Planes of any strides, to and from scratch where the planes of one position lie side by side.
#pragma once

#include "isa/copy_block.h"
#include "ops/avg_pool2d_backward/scratch.h"

namespace ascend_grad {
namespace {

// Rows by columns of `count` planes from number `first` on, in memory.
struct PlanePart {
    const Loops& planes;  // at most two
    int operand;          // of these
    int64_t skipped;      // bytes
    int64_t row_stride, column_stride;
    int64_t first;
    int count, rows, columns;
};

// Copies elements of memory to scratch in which planes lie `plane_step` bytes apart and positions
// `step`, or takes them back. `spare`: of copy_block().
template <class T>
inline void copy_planes(char* memory, char* scratch, bool takes_back, int64_t plane_step,
                        int64_t step, const PlanePart& part, char* spare) {
    const int loops = part.planes.count;
    const int64_t inner = loops > 1 ? part.planes.extent[loops - 1] : part.count;
    const auto stride_of = [&](int i) { return i < 0 ? 0 : part.planes.stride[i][part.operand]; };
    const auto copy = [&](char* there, char* here, CopyAxis a, CopyAxis b, CopyAxis c) {
        CopyAxis axes[] = {a, b, c};
        if (!takes_back) return copy_block<T>(here, there, axes, spare);
        for (CopyAxis& axis : axes) std::swap(axis.from, axis.to);
        copy_block<T>(there, here, axes, spare);
    };
    const CopyAxis rows = {part.rows, part.row_stride, part.columns * step};
    const CopyAxis columns = {part.columns, part.column_stride, step};
    for (int64_t done = 0; done < part.count;) {
        const int64_t plane = part.first + done, left = part.count - done;
        const int64_t skipped = loops > 1 ? plane % inner : 0;
        const bool whole = skipped == 0 && left >= inner;
        const CopyAxis run = {whole ? inner : least(inner - skipped, left), stride_of(loops - 1),
                              plane_step};
        const CopyAxis outer = {whole ? left / inner : 1, stride_of(loops - 2), inner * plane_step};
        char* const there = memory + part.planes.offset(plane, part.operand) + part.skipped;
        char* const here = scratch + done * plane_step;
        // The shorter of two axes is the loop around copies.
        const bool by_rows = rows.count < outer.count;
        const CopyAxis& around = by_rows ? rows : outer;
        for (int64_t i = 0; i < around.count; ++i) {
            copy(there + i * around.from, here + i * around.to, by_rows ? outer : rows, run,
                 columns);
        }
        done += outer.count * run.count;
    }
}

// Whether it pays to copy without a transposition: elements of different planes lie side by side,
// or few elements of each plane all apart.
template <class T>
inline bool is_direct(const PlanePart& part) {
    constexpr int64_t kSize = sizeof(T);
    const int inner = part.planes.count - 1;
    if (inner >= 0 && part.planes.stride[inner][part.operand] == kSize) return true;
    return part.column_stride != kSize && part.rows * part.columns <= 16;
}

// to[position * pitch + plane] = the plane's element there. Where that takes a transposition, by
// way of `staging`, which holds all elements and a vector more.
template <class T>
inline void gather_planes(T* to, int pitch, T* staging, const char* from, const PlanePart& part) {
    constexpr int64_t kSize = sizeof(T);
    const bool direct = is_direct<T>(part);
    const int elements = part.rows * part.columns;
    const int64_t plane_step = direct ? kSize : elements * kSize;
    char* first = reinterpret_cast<char*>(direct ? to : staging);
    copy_planes<T>(const_cast<char*>(from), first, false, plane_step,
                   direct ? pitch * kSize : kSize, part,
                   reinterpret_cast<char*>(direct ? staging : to));
    if (direct) return;
    store_columns(reinterpret_cast<char*>(to), pitch * kSize, staging, elements, part.count,
                  elements, false);
}

// The plane's element at a position = from[position * pitch + plane].
template <class T>
inline void scatter_planes(char* to, const T* from, int pitch, T* staging, const PlanePart& part,
                           bool streams) {
    constexpr int64_t kSize = sizeof(T);
    const int elements = part.rows * part.columns;
    const bool direct = is_direct<T>(part);
    const bool dense = part.column_stride == kSize && part.row_stride == part.columns * kSize;
    if (!direct && dense && part.planes.count <= 1) {
        store_columns(to + part.planes.offset(part.first, part.operand) + part.skipped,
                      part.planes.stride[0][part.operand], from, pitch, elements, part.count,
                      streams);
        return;
    }
    if (!direct) {
        store_columns(reinterpret_cast<char*>(staging), elements * kSize, from, pitch, elements,
                      part.count, false);
    }
    const int64_t plane_step = direct ? kSize : elements * kSize;
    copy_planes<T>(to, reinterpret_cast<char*>(direct ? const_cast<T*>(from) : staging), true,
                   plane_step, direct ? pitch * kSize : kSize, part, nullptr);
}

}  // namespace
}  // namespace ascend_grad
