// GlobalTensor and LocalTensor: places in memory. Checks happen at the instruction that uses them.
#pragma once

#include "ascendc_emulator/macros.h"
#include "ascendc_emulator/params.h"
#include "ascendc_emulator/runtime.h"

namespace AscendC {
inline namespace ASCENDC_EMULATOR_ABI {

namespace rt = ascendc_emulator::rt;

struct ShapeInfo {
    ShapeInfo() = default;
    ShapeInfo(uint8_t dims, const uint32_t sizes[], DataFormat format = DataFormat::ND)
        : ShapeInfo(dims, sizes, dims, sizes, format) {}
    ShapeInfo(uint8_t dims, const uint32_t sizes[], uint8_t original_dims,
              const uint32_t original[], DataFormat format)
        : shapeDim(dims), originalShapeDim(original_dims), dataFormat(format) {
        for (int i = 0; i < dims && i < K_MAX_SHAPE_DIM; ++i) shape[i] = sizes[i];
        for (int i = 0; i < original_dims && i < K_MAX_SHAPE_DIM; ++i)
            originalShape[i] = original[i];
    }
    uint8_t shapeDim = 0;
    uint8_t originalShapeDim = 0;
    uint32_t shape[K_MAX_SHAPE_DIM] = {};
    uint32_t originalShape[K_MAX_SHAPE_DIM] = {};
    DataFormat dataFormat = DataFormat::ND;
};

inline uint64_t GetShapeSize(const ShapeInfo& info) {
    uint64_t size = 1;
    for (int i = 0; i < info.shapeDim; ++i) size *= info.shape[i];
    return size;
}

// What tensor(i) returns: reads and writes stay visible to the checks.
template <typename Tensor, typename T>
class ElementReference {
  public:
    ElementReference(const Tensor& tensor, uint64_t index, rt::Loc loc)
        : tensor_(tensor), index_(index), loc_(loc) {}
    operator T() const { return tensor_.GetValue(index_, loc_); }
    template <typename U, std::enable_if_t<!std::is_same_v<U, T>, int> = 0>
    explicit operator U() const {
        return static_cast<U>(T(*this));
    }
    const ElementReference& operator=(T value) const {
        tensor_.SetValue(index_, value, loc_);
        return *this;
    }
    const ElementReference& operator=(const ElementReference& other) const {
        return *this = T(other);
    }
    const ElementReference& operator+=(T v) const { return *this = static_cast<T>(T(*this) + v); }
    const ElementReference& operator-=(T v) const { return *this = static_cast<T>(T(*this) - v); }
    const ElementReference& operator*=(T v) const { return *this = static_cast<T>(T(*this) * v); }

  private:
    mutable Tensor tensor_;  // SetValue of a GlobalTensor is not const
    uint64_t index_;
    rt::Loc loc_;
};

template <typename T>
class LocalTensor;
enum class SymbolOp : uint8_t { add, sub, mul, div, or_, and_ };
template <typename T>
struct SymbolExpression {
    SymbolOp op;
    LocalTensor<T> a, b;
};
template <typename T>
struct SymbolCompare {
    CMPMODE mode;
    LocalTensor<T> a, b;
};
// Carries the line of `dst = a + b` into operator=, which cannot have default arguments.
template <typename Expression>
struct Assigned {
    Assigned(const Expression& e, rt::Loc l = rt::Loc::here()) : expression(e), loc(l) {}
    const Expression& expression;
    rt::Loc loc;
};

template <typename T>
class LocalTensor {
  public:
    using PrimType = T;

    LocalTensor() {
        ub.dtype = rt::dtype_of<T>();
        ub.element_size = sizeof(T);
    }
    explicit LocalTensor(const rt::UbTensor& place) : ub(place) {
        ub.dtype = rt::dtype_of<T>();
        ub.element_size = sizeof(T);
    }
    LocalTensor(const LocalTensor&) = default;
    LocalTensor& operator=(const LocalTensor&) = default;

    LocalTensor operator[](uint32_t offset) const {
        LocalTensor t(*this);
        const uint64_t bytes = uint64_t(offset) * sizeof(T);
        t.ub.address += static_cast<uint32_t>(bytes);
        t.ub.bytes = bytes < ub.bytes ? static_cast<uint32_t>(ub.bytes - bytes) : 0;
        return t;
    }
    T GetValue(uint32_t index, rt::Loc loc = rt::Loc::here()) const {
        T value;
        rt::load_ub(ub, index, &value, loc);
        return value;
    }
    template <typename U>
    void SetValue(uint32_t index, U value, rt::Loc loc = rt::Loc::here()) const {
        const T v = static_cast<T>(value);
        rt::store_ub(ub, index, &v, loc);
    }
    ElementReference<LocalTensor, T> operator()(uint32_t index,
                                                rt::Loc loc = rt::Loc::here()) const {
        return {*this, index, loc};
    }
    template <typename U>
    LocalTensor<U> ReinterpretCast() const {
        return LocalTensor<U>(ub);
    }
    T* GetPhyAddr(uint32_t offset = 0) const {
        return reinterpret_cast<T*>(rt::ub_pointer(ub, uint64_t(offset) * sizeof(T)));
    }
    uint32_t GetSize() const { return ub.bytes / sizeof(T); }
    void SetSize(uint32_t elements) { ub.bytes = elements * static_cast<uint32_t>(sizeof(T)); }
    uint32_t GetLength() const { return ub.bytes; }
    void SetBufferLen(uint32_t bytes) { ub.bytes = bytes; }
    int32_t GetPosition() const { return static_cast<int32_t>(ub.position); }
    void SetUserTag(int32_t tag) { tag_ = tag; }
    int32_t GetUserTag() const { return tag_; }
    void SetShapeInfo(const ShapeInfo& info) { shapeInfo_ = info; }
    ShapeInfo GetShapeInfo() const { return shapeInfo_; }
    template <typename U>
    void SetAddrWithOffset(LocalTensor<U>& source, uint32_t offset) {
        *this = source[offset].template ReinterpretCast<T>();
    }

    SymbolExpression<T> operator+(const LocalTensor& b) const { return {SymbolOp::add, *this, b}; }
    SymbolExpression<T> operator-(const LocalTensor& b) const { return {SymbolOp::sub, *this, b}; }
    SymbolExpression<T> operator*(const LocalTensor& b) const { return {SymbolOp::mul, *this, b}; }
    SymbolExpression<T> operator/(const LocalTensor& b) const { return {SymbolOp::div, *this, b}; }
    SymbolExpression<T> operator|(const LocalTensor& b) const { return {SymbolOp::or_, *this, b}; }
    SymbolExpression<T> operator&(const LocalTensor& b) const { return {SymbolOp::and_, *this, b}; }
    SymbolCompare<T> operator<(const LocalTensor& b) const { return {CMPMODE::LT, *this, b}; }
    SymbolCompare<T> operator>(const LocalTensor& b) const { return {CMPMODE::GT, *this, b}; }
    SymbolCompare<T> operator==(const LocalTensor& b) const { return {CMPMODE::EQ, *this, b}; }
    SymbolCompare<T> operator<=(const LocalTensor& b) const { return {CMPMODE::LE, *this, b}; }
    SymbolCompare<T> operator>=(const LocalTensor& b) const { return {CMPMODE::GE, *this, b}; }
    SymbolCompare<T> operator!=(const LocalTensor& b) const { return {CMPMODE::NE, *this, b}; }
    void operator=(Assigned<SymbolExpression<T>> assigned);
    void operator=(Assigned<SymbolCompare<float>> assigned);
    void operator=(Assigned<SymbolCompare<half>> assigned);

    rt::UbTensor ub;
    ShapeInfo shapeInfo_;

  private:
    int32_t tag_ = 0;
};

template <typename T>
class GlobalTensor {
  public:
    using PrimType = T;

    GlobalTensor() {
        gm.dtype = rt::dtype_of<T>();
        gm.element_size = sizeof(T);
    }
    void SetGlobalBuffer(__gm__ T* buffer, uint64_t elements, rt::Loc loc = rt::Loc::here()) {
        SetGlobalBuffer(buffer);
        bufferSize_ = elements;
        rt::bound_gm(gm, elements, loc);
    }
    void SetGlobalBuffer(__gm__ T* buffer) {
        gm.address = gm.origin = reinterpret_cast<uint8_t*>(buffer);
        bufferSize_ = 0;
    }
    GlobalTensor operator[](uint64_t offset) const {
        GlobalTensor t(*this);
        t.gm.address += offset * sizeof(T);
        t.bufferSize_ = offset < bufferSize_ ? bufferSize_ - offset : 0;
        return t;
    }
    T GetValue(uint64_t index, rt::Loc loc = rt::Loc::here()) const {
        T value;
        rt::load_gm(gm, index, &value, loc);
        return value;
    }
    void SetValue(uint64_t index, T value, rt::Loc loc = rt::Loc::here()) {
        rt::store_gm(gm, index, &value, loc);
    }
    ElementReference<GlobalTensor, T> operator()(uint64_t index,
                                                 rt::Loc loc = rt::Loc::here()) const {
        return {*this, index, loc};
    }
    const __gm__ T* GetPhyAddr() const { return reinterpret_cast<const T*>(gm.address); }
    __gm__ T* GetPhyAddr(uint64_t offset) const {
        return reinterpret_cast<T*>(gm.address) + offset;
    }
    uint64_t GetSize() const { return bufferSize_; }
    void SetShapeInfo(const ShapeInfo& info) { shapeInfo_ = info; }
    ShapeInfo GetShapeInfo() const { return shapeInfo_; }
    template <CacheRwMode mode = CacheRwMode::RW>
    void SetL2CacheHint(CacheMode hint) {
        cacheMode_ = hint;
    }

    rt::GmTensor gm;
    uint64_t bufferSize_ = 0;
    ShapeInfo shapeInfo_;
    CacheMode cacheMode_ = CacheMode::CACHE_MODE_NORMAL;
};

}  // namespace ASCENDC_EMULATOR_ABI
}  // namespace AscendC
