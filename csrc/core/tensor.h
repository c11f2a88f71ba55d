// A strided view of somebody else's memory.
#pragma once

#include <cstdint>

#include "core/dtype.h"

namespace ascend_grad {

inline constexpr int kMaxRank = 8;

// What is wrong with a view before its elements are looked at.
enum class ViewDefect : int32_t {
    kNone,
    kNegativeExtent,
    kNegativeStride,
    kNegativeOffset,
    kOverflow,          // extents, strides or offset do not fit 63 bits
    kLeavesStorage,     // an element lies outside the storage
    kLeavesAllocation,  // an element lies outside the allocated block, or that was freed
};

struct TensorView {
    void* data = nullptr;  // address of element (0, ..., 0)
    DataType dtype = DataType::kUndefined;
    Format format = Format::kND;
    ViewDefect defect = ViewDefect::kNone;
    int32_t rank = 0;   // may exceed kMaxRank; then only the first kMaxRank extents are stored
    int64_t numel = 1;  // product of all extents
    int64_t shape[kMaxRank];           // set up to the rank, as the strides are
    int64_t strides[kMaxRank];         // bytes
    bool is_described = false;         // a result that Python leaves to us, before it exists
    const char* dtype_name = nullptr;  // the caller's name of a dtype that DataType lacks
    int64_t offset = 0, storage = 0;   // in elements, as C describes it; for messages

    bool is_empty() const { return numel == 0; }
    // Extents that are stored.
    int stored_rank() const { return rank < 0 ? 0 : rank < kMaxRank ? rank : kMaxRank; }
};

// Sets rank, shape, numel and the strides of a contiguous tensor of view.dtype.
void set_contiguous(TensorView& view, int rank, const int64_t* shape);
// An axis's stride, of a caller's number of `unit` bytes. What does not fit becomes the nearest
// that has a magnitude(), and false is returned.
bool set_stride(TensorView& view, int axis, int64_t stride, int64_t unit);
// Sets rank, shape, strides and numel from a caller's numbers: strides are multiples of `unit`
// bytes, null for a contiguous tensor of such elements. What they get wrong becomes the view's
// defect; numel is 1 then.
void set_shape(TensorView& view, int64_t rank, const int64_t* shape, const int64_t* strides,
               int64_t unit);
// Element 0; a defect where others would lie outside the address space.
void set_address(TensorView& view, void* data);

// The view with the shape of the other, to which it broadcasts by NumPy's rules.
TensorView broadcast(const TensorView& view, const TensorView& shape);

// True when the two views have the same address, dtype, shape and strides (where an extent exceeds
// 1).
bool is_same_view(const TensorView& a, const TensorView& b);
// Addresses that a view spans; of one without elements or memory, begin equals end and nothing
// meets it.
struct AddressRange {
    intptr_t begin;  // lowest byte
    intptr_t end;    // one past the highest
    bool is_empty() const { return begin == end; }
    bool meets(const AddressRange& other) const { return begin < other.end && other.begin < end; }
};
AddressRange addresses_of(const TensorView& view);
// True when some byte belongs to both views. Exact up to a bounded search, beyond which it says
// true.
bool share_memory(const TensorView& a, const TensorView& b);
// True when two different indices of the view, which is not empty, reach a common byte.
bool overlaps_itself(const TensorView& view);

}  // namespace ascend_grad
