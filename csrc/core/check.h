// The rules that operators share, each with its text. A rule of one operator stands in its
// check.cpp.
#pragma once

#include <string>
#include <utility>

#include "core/operator.h"

namespace ascend_grad {

std::string to_string(const int64_t* values, int count);  // "(4, 2)"
std::string shape_text(const TensorView& view);
const char* dtype_text(const TensorView& view);

// Scratch memory as a caller gives it; sizes in bytes.
struct GivenWorkspace {
    void* address;
    uint64_t size;       // that the caller states
    uint64_t allocated;  // from the address on; 0 where the process has not all that is needed
    uint64_t needed;
};

// Checks one call's parameters; tensors are named by their index in OperatorInfo. A tensor given to
// any member but not_null is not null.
class Checker {
  public:
    Checker(const OperatorInfo& info, const Arguments& args) : info_(info), args_(args) {}

    const TensorView& tensor(int index) const { return *args_.tensors[index]; }
    const char* name(int index) const { return name(name_of(index)); }
    const char* name(const Name& parameter) const { return parameter.in(args_.interface); }

    Status not_null(int index) const;
    Status not_null(const Name& parameter, bool is_null) const;
    // float32 and float16, and bfloat16 where the product has it.
    Status dtype_is_supported(int index) const;
    Status dtype_equals(int index, int reference) const;
    Status format_equals(int index, int reference) const;
    Status format_is_not_private(int index) const;
    Status rank_is_between(int index, int lowest, int highest) const;
    Status shape_equals(int index, int reference) const;
    // `meaning` says where the shape comes from: "one value per channel".
    Status shape_is(int index, int rank, const int64_t* shape, const char* meaning) const;

    // The last checks of every operator, over the tensors whose bit is set in `active`: views stay
    // inside their storage, outputs overlap nothing, and the product has the operator.
    Status memory_and_product(uint32_t active) const;

    // What only a run can be asked: every tensor that it touches has an address, and the workspace
    // is there, large enough and apart from them.
    Status ready_to_run(const GivenWorkspace& workspace) const;

    Status invalid(int index, std::string text) const {
        return invalid(name_of(index), std::move(text));
    }
    Status invalid(const Name& parameter, std::string text) const;

  private:
    // A result that exists only as a description is spoken of as the input that it follows.
    const Name& name_of(int index) const;
    std::string product() const;  // "on Atlas A2 series (ascend910b)"
    Status view_is_inside_storage(int index) const;
    Status output_overlaps_nothing(int index, uint32_t active) const;
    Status fail(StatusCode code, const char* parameter, std::string text) const;

    const OperatorInfo& info_;
    const Arguments& args_;
};

}  // namespace ascend_grad
