// Shapes with which SoftmaxBackward's tilings are tried: beyond 2^32 elements, next to powers of
// two, with extents of 1. Outer, length, inner.
#pragma once

#include <cstdint>

inline constexpr int64_t kHardSoftmax[][3] = {
    {1, 1, 1},         {1, 2, 1},          {3, 1, 7},          {1000000, 10, 1},
    {8, 32000, 1},     {64, 1000, 49},     {1, 1024, 4096},    {1, 16, 262144},
    {1, 1 << 30, 1},   {1, 5000000001, 1}, {1, 3, 1500000001}, {5000000001, 2, 1},
    {1, 70001, 70001}, {70001, 70001, 1},  {7, 1 << 20, 3},    {1, 1, 4294967311},
    {2, 2, 1LL << 31}, {1, 1LL << 32, 15}, {4, 21, 263169},    {124, 3, 4243},
    {5000, 77, 7},     {1872, 12, 107},    {8000, 20, 40}};
