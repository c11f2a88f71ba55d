// What every operator has: names, tensor parameters, and the arguments of one call.
#pragma once

#include <cstdint>

#include "core/soc.h"
#include "core/status.h"
#include "core/tensor.h"

namespace ascend_grad {

inline constexpr int kMaxTensors = 9;

enum class Role : int32_t {
    kInput,
    kDescription,        // an input whose values are never read
    kOutput,             // may not share memory with anything
    kElementwiseOutput,  // may be exactly one of the inputs
};

struct Parameter {
    Name name;
    Role role;
    int described_by = -1;  // an output's input that gives it its shape and dtype
    bool is_output() const { return role == Role::kOutput || role == Role::kElementwiseOutput; }
};

struct OperatorInfo {
    Name name;
    uint32_t socs;  // bit (1 << Soc) is set where the product has the operator
    int tensor_count;
    Parameter tensors[kMaxTensors];  // in the order of the C prototype: inputs, then outputs
};

constexpr uint32_t soc_bit(Soc soc) {
    return 1u << static_cast<int>(soc);
}

// The tensors of one call; each operator derives its own type with the attributes.
struct Arguments {
    const TensorView* tensors[kMaxTensors] = {};  // null where absent
    Soc soc = kDefaultSoc;
    Interface interface = Interface::kPython;
    bool is_on_device = false;  // addresses are the device's, so that tensors share memory there

    // Whether the call touches that tensor at all; what is not wanted may be anything.
    bool wants(int) const { return true; }
    // The format tag of a tensor that comes without one.
    static Format untagged(int /*rank*/) { return Format::kND; }
};

}  // namespace ascend_grad
