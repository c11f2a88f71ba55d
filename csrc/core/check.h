// The rules that operators share, each with its text. A rule of one operator stands in its
// check.cpp.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>

#include "core/operator.h"

namespace ascend_grad {

[[gnu::cold]] std::string to_string(const int64_t* values, int count);  // "(4, 2)"
[[gnu::cold]] std::string shape_text(const TensorView& view);
[[gnu::cold]] const char* dtype_text(const TensorView& view);

// Scratch memory as a caller gives it; sizes in bytes.
struct GivenWorkspace {
    void* address;
    uint64_t size;       // that the caller states
    uint64_t allocated;  // from the address on; 0 where the process has not all that is needed
    uint64_t needed;
};

// A set of tensors, by their index in OperatorInfo.
class Tensors {
  public:
    constexpr Tensors(std::initializer_list<int> indices) {
        for (int index : indices) bits_ |= 1u << index;
    }
    constexpr bool has(int index) const { return (bits_ >> index & 1) != 0; }
    // The first of them for which `is_found`, -1 where there is none.
    template <class Predicate>
    int first(const Predicate& is_found) const {
        for (uint32_t left = bits_; left != 0; left &= left - 1) {
            const int index = __builtin_ctz(left);
            if (is_found(index)) return index;
        }
        return -1;
    }
    constexpr Tensors operator|(const Tensors& other) const {
        Tensors tensors = *this;
        tensors.bits_ |= other.bits_;
        return tensors;
    }

  private:
    uint32_t bits_ = 0;
};

// Checks one call's parameters; tensors are named by their index in OperatorInfo. A tensor given to
// any member but not_null is not null. Of several tensors the first that breaks the rule is named.
class Checker {
  public:
    Checker(const OperatorInfo& info, const Arguments& args) : info_(info), args_(args) {}

    const TensorView& tensor(int index) const { return *args_.tensors[index]; }
    const char* name(int index) const { return name(name_of(index)); }
    const char* name(const Name& parameter) const { return parameter.in(args_.interface); }

    Status not_null(Tensors tensors) const;
    Status not_null(const Name& parameter, bool is_null) const;
    // float32 and float16, and bfloat16 where the product has it.
    Status dtype_is_supported(Tensors tensors) const;
    Status dtype_equals(Tensors tensors, int reference) const;
    Status format_equals(int index, int reference) const;
    Status format_is_not_private(Tensors tensors) const;
    Status rank_is_between(Tensors tensors, int lowest, int highest) const;
    Status shape_equals(int index, int reference) const;
    // `meaning` says where the shape comes from: "one value per channel".
    Status shape_is(Tensors tensors, int rank, const int64_t* shape, const char* meaning) const;

    // The last checks of every operator, over the tensors that the call uses: views stay inside
    // their storage, outputs overlap nothing, and the product has the operator.
    Status memory_and_product(Tensors active) const;

    // What only a run can be asked: every tensor that it touches has an address, on a device one
    // that suits its dtype, and the workspace is there, large enough and apart from them.
    Status ready_to_run(const GivenWorkspace& workspace) const;

    [[gnu::cold]] Status invalid(int index, std::string text) const {
        return invalid(name_of(index), std::move(text));
    }
    [[gnu::cold]] Status invalid(const Name& parameter, std::string text) const;

  private:
    // A result that exists only as a description is spoken of as the input that it follows.
    const Name& name_of(int index) const;
    std::string product() const;  // "on Atlas A2 series (ascend910b)"
    Status view_is_inside_storage(Tensors tensors) const;
    // `ranges` of all tensors; empty ones of those that the check leaves out.
    Status output_overlaps_nothing(int index, const AddressRange* ranges) const;
    [[gnu::cold]] Status fail(StatusCode code, const char* parameter, std::string text) const;

    const OperatorInfo& info_;
    const Arguments& args_;
};

}  // namespace ascend_grad
