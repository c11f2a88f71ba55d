// Boxes of elements in somebody's memory, made dense and float, and back.
#pragma once

#include "isa/stage.h"

namespace ascend_grad {
namespace {

// Outermost first; strides in bytes.
struct Box {
    static constexpr int kAxes = 3;
    int extent[kAxes];
    int64_t stride[kAxes];
};

// The same elements in the same order; axes that one stride walks are joined, for longer runs.
inline Box joined(const Box& box) {
    Box result = {{1, 1, 1}, {0, 0, 0}};
    int outer = Box::kAxes;
    for (int axis = Box::kAxes - 1; axis >= 0; --axis) {
        if (box.extent[axis] == 1) continue;
        if (outer < Box::kAxes && box.stride[axis] == result.extent[outer] * result.stride[outer]) {
            result.extent[outer] *= box.extent[axis];
        } else {
            --outer;
            result.extent[outer] = box.extent[axis];
            result.stride[outer] = box.stride[axis];
        }
    }
    return result;
}

// function(place in the dense array, its pitch, offset in bytes, tile) for tiles that make up the
// box.
template <class T, class Function>
inline void for_each_tile(const Box& elements, const Function& function) {
    constexpr int64_t kSize = sizeof(T);
    const Box box = joined(elements);
    const int plane = box.extent[1] * box.extent[2];
    const bool planes_are_near =
        box.stride[0] == kSize && box.stride[1] != kSize && box.stride[2] != kSize;
    const int tiles = box.extent[planes_are_near ? 1 : 0];
    for (int i = 0; i < tiles; ++i) {
        if (planes_are_near) {
            const Tile tile = {box.stride[0], box.stride[2], box.extent[0], box.extent[2]};
            function(i * box.extent[2], plane, i * box.stride[1], tile);
        } else {
            const Tile tile = {box.stride[1], box.stride[2], box.extent[1], box.extent[2]};
            function(i * plane, box.extent[2], i * box.stride[0], tile);
        }
    }
}
template <class T>
inline void load_box(float* to, const char* from, const Box& box) {
    for_each_tile<T>(box, [&](int place, int pitch, int64_t offset, const Tile& tile) {
        load_tile<T>(to + place, pitch, from + offset, tile);
    });
}
template <class T>
inline void store_box(char* to, const float* from, const Box& box) {
    for_each_tile<T>(box, [&](int place, int pitch, int64_t offset, const Tile& tile) {
        store_tile<T>(to + offset, from + place, pitch, tile);
    });
}

// Of a dtype known at run time. What is up to fifteen elements behind the dense array may be
// overwritten, or be read by store_box().
inline void load_box(DataType dtype, float* to, const char* from, const Box& box) {
    switch (dtype) {
        case DataType::kFloat16:
            return load_box<Float16>(to, from, box);
        case DataType::kBFloat16:
            return load_box<BFloat16>(to, from, box);
        default:
            return load_box<float>(to, from, box);
    }
}
inline void store_box(DataType dtype, char* to, const float* from, const Box& box) {
    switch (dtype) {
        case DataType::kFloat16:
            return store_box<Float16>(to, from, box);
        case DataType::kBFloat16:
            return store_box<BFloat16>(to, from, box);
        case DataType::kFloat64:
            return store_box<double>(to, from, box);
        default:
            return store_box<float>(to, from, box);
    }
}

}  // namespace
}  // namespace ascend_grad
