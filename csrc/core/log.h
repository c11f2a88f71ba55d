// ASCEND_GRAD_LOG=debug: what is done, on standard error.
#pragma once

#include <string>

#include "core/operator.h"

namespace ascend_grad {

// What is wrong with the variable, "" when nothing.
std::string log_level_error();

bool log_is_debug();
void log_line(const char* text);

struct PlanSummary {
    uint64_t workspace_size;  // bytes
    int64_t moved;            // bytes of tensors
    int64_t tasks;            // that threads share
    int64_t most_threads;     // that had better do so
    const char* copies;       // "operands in tiles", or what Panels::copies() says; "": none

    int threads() const;  // that a call from this thread would use at most
};
void log_plan(const OperatorInfo& info, const Arguments& args, const PlanSummary& plan);
// The same with any description of the plan.
void log_call(const OperatorInfo& info, const Arguments& args, const std::string& plan);

}  // namespace ascend_grad
