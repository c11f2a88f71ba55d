#include <algorithm>
#include <numeric>

#include "core/integers.h"
#include "core/layout.h"
#include "device/costs.h"
#include "device/strided_copy_plan.h"

namespace ascend_grad::device {
namespace {

// Rows: source; columns: target.
constexpr const char* kKernels[kKernelDtypes][kKernelDtypes] = {
    {"strided_copy_float32_float32", "strided_copy_float32_float16",
     "strided_copy_float32_bfloat16"},
    {"strided_copy_float16_float32", "strided_copy_float16_float16",
     "strided_copy_float16_bfloat16"},
    {"strided_copy_bfloat16_float32", "strided_copy_bfloat16_float16",
     "strided_copy_bfloat16_bfloat16"},
};

// The kernel's, for products with DataCopyPad: elements of a tile, and bytes of what it reads or
// writes at once.
constexpr int64_t kTileElements = 6144;
constexpr int64_t kTileBytes = 4 * kTileElements;
constexpr int64_t kMaxGathered = 2048;
constexpr int64_t kMaxRunStride = 128;  // bytes; beyond, reading what lies between does not pay
constexpr int64_t kTransposedRows = 64;
constexpr int64_t kLineBytes = 64;  // that a scalar store touches
// The kernel's for the other products.
constexpr int64_t kColumns = 16;  // at a time
constexpr int64_t kBlockTileBytes = 32 << 10;

// The loops of a copy, target strides positive, innermost last.
Loops loops_of(const TensorView& source, const TensorView& target, StridedCopyTiling& tiling) {
    Loops loops;
    loops.operands = 2;
    for (int axis = 0; axis < target.rank; ++axis) {
        int64_t strides[] = {source.strides[axis], target.strides[axis]};
        if (strides[1] < 0) {
            for (int64_t& stride : strides) stride = -stride;
            tiling.source_begin += (target.shape[axis] - 1) * source.strides[axis];
            tiling.target_begin += (target.shape[axis] - 1) * target.strides[axis];
        }
        loops.append(target.shape[axis], strides);
    }
    loops.sort();
    loops.merge();
    return loops;
}

// Moves the loop whose source elements are neighbours next to the innermost one; false when there
// is none that reads as whole rows.
bool bring_source_row_inside(Loops& loops, int64_t size) {
    const int inner = loops.count - 1;
    for (int i = inner - 1; i >= 0; --i) {
        if (loops.stride[i][0] != size || loops.stride[inner][0] < loops.extent[i] * size) continue;
        for (int k = i; k + 1 < inner; ++k) {
            std::swap(loops.extent[k], loops.extent[k + 1]);
            std::swap(loops.stride[k], loops.stride[k + 1]);
        }
        return true;
    }
    return false;
}

// How the innermost loop is read and written, and in which tiles.
void cut_into_tiles(StridedCopyTiling& tiling, bool transposes, int64_t from_size,
                    int64_t to_size) {
    const int64_t rows = tiling.extent[6], columns = tiling.extent[7];
    const int64_t stride = tiling.source_stride[7];
    const int64_t distance = stride < 0 ? -stride : stride;
    tiling.write = tiling.target_stride[7] == to_size ? STRIDED_COPY_ROWS : STRIDED_COPY_SINGLE;
    int64_t widest = kTileElements;  // columns
    int64_t read_bytes = 0;          // that one more column takes, where it does not lie packed
    if (stride == from_size || columns == 1) {
        tiling.read = STRIDED_COPY_ROWS;
    } else if (transposes) {
        tiling.read = STRIDED_COPY_TRANSPOSED;
        const int64_t height = round_up(std::min(rows, kTransposedRows), 16);
        widest = std::min(kTileElements / height / 16 * 16, kMaxPieces / 16 * 16);
    } else if (stride != 0 && distance % from_size == 0 && distance <= kMaxRunStride) {
        tiling.read = STRIDED_COPY_RUN;
        read_bytes = distance;
        widest = std::min(kMaxGathered, (kTileBytes - kBlockBytes) / distance / 16 * 16);
    } else {
        tiling.read = STRIDED_COPY_SINGLE;
        read_bytes = kBlockBytes;
        widest = kTileBytes / kBlockBytes;
    }
    if (tiling.write == STRIDED_COPY_SINGLE) widest = std::min(widest, kTileBytes / kBlockBytes);
    const int64_t width = std::min(columns, widest);
    const int64_t pitch = round_up(width, 16);
    int64_t height = kTileElements / pitch;
    if (tiling.read == STRIDED_COPY_TRANSPOSED) height = height / 16 * 16;
    if (read_bytes != 0)
        height =
            std::min(height, kTileBytes / round_up(width * read_bytes + from_size, kBlockBytes));
    if (tiling.write == STRIDED_COPY_SINGLE)
        height = std::min(height, kTileBytes / (round_up(width, 8) * kBlockBytes));
    tiling.tile_columns = static_cast<uint32_t>(width);
    tiling.tile_rows =
        static_cast<uint32_t>(std::min({rows, kMaxPieces, std::max<int64_t>(height, 1)}));
}

// Tiles of whole blocks. False where rows of the target are too short or no neighbours.
bool cut_into_block_tiles(StridedCopyTiling& tiling, bool transposes, int64_t from_size,
                          int64_t to_size) {
    const int64_t rows = tiling.extent[6], columns = tiling.extent[7];
    const bool in_rows = tiling.source_stride[7] == from_size;
    if (columns < kColumns || tiling.target_stride[7] != to_size || !(in_rows || transposes)) {
        return false;
    }
    tiling.read = in_rows ? STRIDED_COPY_ROWS : STRIDED_COPY_TRANSPOSED;
    const int64_t elements = kBlockTileBytes / std::max(from_size, to_size);
    int64_t height = in_rows ? kColumns : round_up(std::min(rows, elements / 128), kColumns);
    const int64_t width = std::min(columns, rows == 1 ? elements : elements / height);
    if (in_rows && rows > 1) height = elements / round_up(width, kColumns) / kColumns * kColumns;
    tiling.tile_rows = static_cast<uint32_t>(std::min(rows, height));
    tiling.tile_columns =
        static_cast<uint32_t>(width == columns ? columns : width / kColumns * kColumns);
    return true;
}

// How many items a core's part must be a multiple of, so that no two cores store to one block of a
// target that begins at one.
int64_t items_per_part(const StridedCopyTiling& tiling, int64_t to_size) {
    bool in_blocks = true;
    for (int i = 0; i < 7; ++i) {
        in_blocks =
            in_blocks && (tiling.extent[i] == 1 || tiling.target_stride[i] % kBlockBytes == 0);
    }
    const int64_t strips = divide_up(tiling.extent[7], tiling.tile_columns);
    // Sixteen columns that end a row may begin in the strip before.
    const bool is_narrow =
        strips > 1 && (tiling.extent[7] - 1) % tiling.tile_columns < kColumns - 1;
    if (in_blocks) return is_narrow ? strips : 1;
    if (tiling.target_is_dense == 0) return tiling.items;
    const int64_t plane = tiling.extent[6] * tiling.extent[7] * to_size;
    if (plane % kBlockBytes == 0) return strips;
    return kBlockBytes / std::gcd(plane, kBlockBytes) * strips *
           divide_up(tiling.extent[6], tiling.tile_rows);
}

// Cores for `items` items of that many bytes, each the same number but the last.
uint32_t share(StridedCopyTiling& tiling, int64_t item_bytes, int64_t multiple, uint32_t cores) {
    const int64_t useful = divide_up(tiling.items * item_bytes, kLeastCoreBytes);
    const int64_t wanted = std::clamp<int64_t>(useful, 1, cores);
    tiling.items_per_block = round_up(divide_up(tiling.items, wanted), multiple);
    return static_cast<uint32_t>(divide_up(tiling.items, tiling.items_per_block));
}

}  // namespace

const char* strided_copy_kernel(DataType source, DataType target) {
    const int from = kernel_index(source), to = kernel_index(target);
    return from < 0 || to < 0 ? nullptr : kKernels[from][to];
}

StridedCopyTiling tile_strided_copy(const TensorView& source, const TensorView& target,
                                    bool target_is_aligned, const Product& product,
                                    uint32_t& blocks) {
    StridedCopyTiling tiling{};
    Loops loops = loops_of(source, target, tiling);
    const auto from_size = data_type_size(source.dtype);
    const auto to_size = data_type_size(target.dtype);
    const int inner = loops.count - 1;
    const bool may_transpose = inner > 0 && loops.stride[inner][0] != from_size &&
                               (product.has_byte_copies || (loops.stride[inner][1] == to_size &&
                                                            loops.extent[inner] >= kColumns));
    const bool transposes = may_transpose && bring_source_row_inside(loops, from_size);
    int64_t dense_stride = to_size;
    tiling.target_is_dense = 1;
    for (int i = 0; i < kMaxRank; ++i) {
        const int loop = i - (kMaxRank - loops.count);
        tiling.extent[i] = loop < 0 ? 1 : loops.extent[loop];
        tiling.source_stride[i] = loop < 0 ? from_size : loops.stride[loop][0];
        tiling.target_stride[i] = loop < 0 ? to_size : loops.stride[loop][1];
    }
    for (int loop = loops.count - 1; loop >= 0; --loop) {
        if (loops.stride[loop][1] != dense_stride) tiling.target_is_dense = 0;
        dense_stride *= loops.extent[loop];
    }
    const bool in_blocks =
        !product.has_byte_copies && cut_into_block_tiles(tiling, transposes, from_size, to_size);
    if (!product.has_byte_copies && !in_blocks) {
        tiling.read = STRIDED_COPY_SINGLE;
        // A core's part must not share a line of memory with another's.
        tiling.items = target.numel;
        const bool splits = target_is_aligned && tiling.target_is_dense != 0;
        blocks = share(tiling, to_size, kLineBytes / to_size, splits ? product.cores : 1);
        return tiling;
    }
    if (!in_blocks) cut_into_tiles(tiling, transposes, from_size, to_size);
    tiling.items = divide_up(tiling.extent[6], tiling.tile_rows) *
                   divide_up(tiling.extent[7], tiling.tile_columns);
    for (int i = 0; i < 6; ++i) tiling.items *= tiling.extent[i];
    blocks = share(tiling, target.numel * (from_size + to_size) / tiling.items,
                   in_blocks ? items_per_part(tiling, to_size) : 1, product.cores);
    return tiling;
}

}  // namespace ascend_grad::device
