// What the caches hold, and when to write past them.
#pragma once

#include <initializer_list>

#include "core/tensor.h"

namespace ascend_grad {

// numel * bytes_per_element, or the largest number where that does not fit.
int64_t saturated_bytes(int64_t numel, int64_t bytes_per_element);

// When stores past the caches gain something: whenever others would read the lines that they write,
// or not as long as a large third cache keeps these (measured: results of pooling, and of softmax
// by way of a buffer).
enum class Gain { kAlways, kOnceNotKept };

// Whether an output that is written once should bypass the caches: where a call moves as many bytes
// as the caches hold, or `early` two thirds as many. Same bits either way.
bool streaming_pays(int64_t bytes, bool early, Gain gain);

// Whether stores to runs of so many elements, one after the other from element 0 on, fill whole
// cache lines: lines that are streamed in parts take up to fifty times as long (measured on Granite
// Rapids).
bool has_whole_lines(const TensorView& view, std::initializer_list<int64_t> runs);
// Whether all of these are multiples of a cache line.
bool are_whole_lines(std::initializer_list<int64_t> bytes);

}  // namespace ascend_grad
