// The boundary between the templates of the API headers and the compiled runtime. Everything that
// can be decided without the element type is behind these functions, so a kernel file compiles
// fast.
#pragma once

#include <cstdint>

#include "ascendc_emulator/enums.h"
#include "ascendc_emulator/float16.h"

namespace ascendc_emulator::rt {

// Where in the kernel's source an API call stands; filled by the default argument of every API
// function.
struct Loc {
    const char* file = nullptr;
    int line = 0;
    static constexpr Loc here(const char* f = __builtin_FILE(), int l = __builtin_LINE()) {
        return {f, l};
    }
};

enum class DType : uint8_t { f32, f16, bf16, i8, u8, i16, u16, i32, u32, i64, u64, other };

template <typename T>
constexpr DType dtype_of() {
    if constexpr (std::is_same_v<T, float>) return DType::f32;
    if constexpr (std::is_same_v<T, half>) return DType::f16;
    if constexpr (std::is_same_v<T, bfloat16_t>) return DType::bf16;
    if constexpr (std::is_same_v<T, bool>) return DType::u8;
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
        constexpr bool s = std::is_signed_v<T>;
        if constexpr (sizeof(T) == 1) return s ? DType::i8 : DType::u8;
        if constexpr (sizeof(T) == 2) return s ? DType::i16 : DType::u16;
        if constexpr (sizeof(T) == 4) return s ? DType::i32 : DType::u32;
        if constexpr (sizeof(T) == 8) return s ? DType::i64 : DType::u64;
    }
    return DType::other;
}

// A place in UB: start address, the length the tensor object claims, and the allocation it came
// from.
struct UbTensor {
    uint32_t address = 0;
    uint32_t bytes = 0;
    uint32_t buffer = 0;      // 0: never allocated
    uint32_t generation = 0;  // of the buffer at AllocTensor; a later one means the tensor is stale
    DType dtype = DType::other;
    uint8_t element_size = 1;
    AscendC::TPosition position = AscendC::TPosition::MAX;
};

// A place in GM. `origin` is what SetGlobalBuffer got: it tells which buffer the tensor belongs to.
struct GmTensor {
    uint8_t* address = nullptr;
    uint8_t* origin = nullptr;
    DType dtype = DType::other;
    uint8_t element_size = 1;
};

// Which elements of a repeat take part.
struct Mask {
    enum Kind : uint8_t { kCount, kBits, kRegister } kind = kCount;
    uint64_t low = 0;  // element count (kCount) or bits of elements 0..63
    uint64_t high = 0;
};

// One operand of a vector instruction; strides in 32-byte blocks.
struct Operand {
    UbTensor tensor;
    uint32_t block_stride = 1;
    uint32_t repeat_stride = 8;
};

enum class Op : uint8_t {
    // binary
    add,
    sub,
    mul,
    div,
    max,
    min,
    and_,
    or_,
    add_relu,
    sub_relu,
    mul_add_dst,
    fused_mul_add,
    fused_mul_add_relu,
    // unary
    exp,
    ln,
    abs,
    reciprocal,
    sqrt,
    rsqrt,
    relu,
    not_,
    copy,
    // tensor and scalar
    adds,
    muls,
    maxs,
    mins,
    leaky_relu,
    shift_left,
    shift_right,
    axpy,
    duplicate,
    count_
};

// An elementwise instruction in any of its call forms.
struct VectorCall {
    const char* name = nullptr;
    Op op = Op::add;
    uint8_t sources = 0;
    bool counted = false;  // count form: `count` contiguous elements
    uint64_t count = 0;
    Mask mask;
    int64_t repeat = 1;
    Operand dst, src0, src1;
    uint64_t scalar = 0;  // bits of the scalar operand
    bool flag = false;    // ShiftRight: round
};

void elementwise(const VectorCall& call, Loc loc);
void cast(const VectorCall& call, AscendC::RoundMode mode, Loc loc);
void scalar_cast(DType dst, DType src, AscendC::RoundMode mode, const void* from, void* to,
                 Loc loc);
void compare(const VectorCall& call, AscendC::CMPMODE mode, bool scalar, bool to_register, Loc loc);
void select(const VectorCall& call, const UbTensor& sel_mask, AscendC::SELMODE mode, bool scalar,
            Loc loc);
void select_by_register(const VectorCall& call, Loc loc);
void move_compare_mask(const UbTensor& tensor, bool to_register, Loc loc);

// Reductions inside repeats. dst.repeat_stride is in the instruction's own unit.
enum class Reduce : uint8_t {
    whole_sum,
    whole_max,
    whole_min,
    block_sum,
    block_max,
    block_min,
    pair_sum
};
void reduce_repeats(const VectorCall& call, Reduce kind, AscendC::ReduceOrder order, Loc loc);
// ReduceSum/Max/Min over everything; call.counted selects the form; src1 is the work tensor.
enum class ReduceAll : uint8_t { sum, max, min };
void reduce_all(const VectorCall& call, ReduceAll kind, bool with_index, Loc loc);
void last_reduce_result(uint64_t* value_bits, uint64_t* index_bits, bool sum, Loc loc);

void create_index(const VectorCall& call, Loc loc);
void brcb(const UbTensor& dst, const UbTensor& src, int repeat, int dst_blk, int dst_rep, Loc loc);
void gather(const VectorCall& call, const UbTensor& offsets, uint32_t base, Loc loc);
void gather_blocks(const UbTensor& dst, const UbTensor& src, const UbTensor& offsets, int repeat,
                   int dst_blk, int dst_rep, Loc loc);
void scatter(const VectorCall& call, const UbTensor& offsets, uint32_t base, Loc loc);
struct GatherMaskCall {
    UbTensor dst, src;
    bool use_pattern_tensor = false;
    UbTensor pattern_tensor;
    uint8_t pattern = 0;
    bool reduce_mode = false;
    uint32_t mask = 0;
    uint32_t src0_blk = 1, repeat = 0, src0_rep = 8, src1_rep = 8;
};
uint64_t gather_mask(const GatherMaskCall& call, Loc loc);
uint64_t last_gather_mask_count();
void transpose16(const UbTensor& dst, const UbTensor& src, Loc loc);
void trans_data_to_5hd(const UbTensor (&dst)[16], const UbTensor (&src)[16], bool dst_high,
                       bool src_high, int repeat, int dst_rep, int src_rep, Loc loc);
void broadcast(const UbTensor& dst, const UbTensor& src, const UbTensor* tmp, int dims, int axis,
               const uint32_t* dst_shape, const uint32_t* src_shape, Loc loc);

// Data movement. Lengths and strides in bytes here; the headers convert.
struct CopyCall {
    const char* name = "DataCopy";
    uint32_t block_count = 1;
    uint64_t block_bytes = 0;
    uint64_t src_gap = 0;  // end of a block to the start of the next, bytes
    uint64_t dst_gap = 0;
    bool pad = false;  // DataCopyPad: byte-exact on the GM side
    bool is_pad = false;
    uint8_t left = 0, right = 0;  // elements
    uint64_t pad_bits = 0;
    uint64_t requested_bytes = 0;  // count form: what the caller asked for before rounding
    bool counted = false;
};
void copy_in(const UbTensor& dst, const GmTensor& src, const CopyCall& call, Loc loc);
void copy_out(const GmTensor& dst, const UbTensor& src, const CopyCall& call, Loc loc);
void copy_local(const UbTensor& dst, const UbTensor& src, const CopyCall& call, Loc loc);
void init_output(const GmTensor& dst, uint64_t elements, uint64_t value_bits, Loc loc);

// Scalar access.
void load_ub(const UbTensor& t, uint64_t index, void* value, Loc loc);
void store_ub(const UbTensor& t, uint64_t index, const void* value, Loc loc);
void bound_gm(const GmTensor& t, uint64_t elements, Loc loc);  // SetGlobalBuffer with a size
void load_gm(const GmTensor& t, uint64_t index, void* value, Loc loc);
void store_gm(const GmTensor& t, uint64_t index, const void* value, Loc loc);
uint8_t* ub_pointer(const UbTensor& t, uint64_t byte_offset);
UbTensor ub_tensor_at(uint64_t pointer);  // inverse of ub_pointer
void clean_cache(const uint8_t* address, bool entire, Loc loc);

// Pipe, queues, buffers.
uint64_t pipe_create(Loc loc);
void pipe_destroy(uint64_t pipe) noexcept;
void pipe_reset(uint64_t pipe, Loc loc);
uint32_t queue_init(AscendC::TPosition src, AscendC::TPosition dst, uint32_t depth, uint32_t number,
                    uint32_t bytes, uint32_t pool, Loc loc);
uint32_t buffer_init(AscendC::TPosition position, uint32_t bytes, uint32_t pool, Loc loc);
uint32_t pool_init(AscendC::TPosition position, uint32_t bytes, uint32_t share_with,
                   uint32_t parent, Loc loc);
void pool_reset(uint32_t pool, Loc loc);
UbTensor queue_alloc(uint32_t queue, Loc loc);
void queue_enque(uint32_t queue, const UbTensor& t, Loc loc);
void queue_enque(uint32_t queue, const UbTensor& t, AscendC::TPosition src, AscendC::TPosition dst,
                 Loc loc);
UbTensor queue_deque(uint32_t queue, Loc loc);
UbTensor queue_deque(uint32_t queue, AscendC::TPosition src, AscendC::TPosition dst, Loc loc);
void queue_free(uint32_t queue, const UbTensor& t, Loc loc);
enum class QueueFact { vacant, has_tensor, count, has_idle };
int32_t queue_fact(uint32_t queue, QueueFact fact);
void queue_free_all_events(uint32_t queue, Loc loc);
UbTensor buffer_get(uint32_t buffer, uint64_t offset_bytes, uint64_t bytes, bool whole, Loc loc);
UbTensor absolute_ub(AscendC::TPosition position, uint32_t offset, uint32_t bytes, Loc loc);

// Events, barriers, masks, atomics.
void set_flag(AscendC::HardEvent event, int32_t id, Loc loc);
void wait_flag(AscendC::HardEvent event, int32_t id, Loc loc);
AscendC::TEventID fetch_event(AscendC::HardEvent event, Loc loc);
AscendC::TEventID alloc_event(AscendC::HardEvent event, Loc loc);
void release_event(AscendC::HardEvent event, AscendC::TEventID id, Loc loc);
void pipe_barrier(pipe_t pipe, Loc loc);
void set_mask(uint64_t high, uint64_t low, AscendC::MaskMode mode);
void set_mask_mode(AscendC::MaskMode mode);
void reset_mask();
enum class Atomic : uint8_t { none, add, max, min };
void set_atomic(Atomic op, DType dtype, Loc loc);
void set_deq_scale(float scale);

// Cores and cross-core synchronisation.
int64_t block_index();
int64_t block_number();
int64_t sub_block_index();
int64_t sub_block_number();
int64_t task_ratio();
int64_t system_cycle();
void sync_all(Loc loc);
void sync_all_soft(const GmTensor& gm, uint64_t gm_elements, const UbTensor& ub, int32_t used_cores,
                   Loc loc);
void ib_set(const GmTensor& gm, const UbTensor& ub, int32_t block, int32_t event, Loc loc);
void ib_wait(const GmTensor& gm, const UbTensor& ub, int32_t block, int32_t event, Loc loc);
void determine_init(const GmTensor& gm, const UbTensor& ub, Loc loc);
void determine_wait(const GmTensor& gm, const UbTensor& ub, Loc loc);
void determine_notify(const GmTensor& gm, const UbTensor& ub, Loc loc);
void cross_core_set(int mode, pipe_t pipe, uint16_t flag, Loc loc);
void cross_core_wait(int mode, pipe_t pipe, uint16_t flag, Loc loc);
void trap(Loc loc);
void kernel_assert_failed(const char* condition, Loc loc);
void dump(const UbTensor& t, uint32_t desc, uint32_t count, Loc loc);
void dump(const GmTensor& t, uint32_t desc, uint32_t count, Loc loc);

extern thread_local int32_t core_type;
uint8_t* system_workspace();

}  // namespace ascendc_emulator::rt
