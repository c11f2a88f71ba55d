#include "core/log.h"

#include <strings.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "core/check.h"
#include "core/parallel.h"

namespace ascend_grad {

namespace {

const char* log_level() {
    const char* level = std::getenv("ASCEND_GRAD_LOG");
    return level != nullptr ? level : "";
}

bool is_debug(const char* level) {
    return strcasecmp(level, "debug") == 0;
}

}  // namespace

std::string log_level_error() {
    const char* level = log_level();
    if (level[0] == '\0' || is_debug(level)) return "";
    return std::string("ASCEND_GRAD_LOG: no level '") + level + "'; known: debug; unset for none";
}

bool log_is_debug() {
    enum Answer : uint8_t { kUnknown, kNo, kYes };
    static std::atomic<Answer> answer{kUnknown};  // no lock: see environment()
    if (answer == kUnknown) answer = is_debug(log_level()) ? kYes : kNo;
    return answer == kYes;
}

void log_line(const char* text) {
    std::fprintf(stderr, "ascend-grad: %s\n", text);
}

void log_call(const OperatorInfo& info, const Arguments& args, const std::string& plan) {
    std::string text = info.name.in(args.interface);
    text.append(" as on ").append(soc_info(args.soc).name).append(":");
    for (int i = 0; i < info.tensor_count; ++i) {
        const TensorView* view = args.tensors[i];
        if (view == nullptr) continue;
        text.append(i == 0 ? " " : ", ")
            .append(info.tensors[i].name.in(args.interface))
            .append(" ");
        text.append(dtype_text(*view)).append(" ").append(shape_text(*view));
        text.append(" strides ").append(to_string(view->strides, view->stored_rank()));
    }
    log_line(text.append("; ").append(plan).c_str());
}

int PlanSummary::threads() const {
    const int64_t most = std::min({int64_t{threads_for(moved)}, most_threads, tasks});
    return static_cast<int>(std::max<int64_t>(1, most));
}

void log_plan(const OperatorInfo& info, const Arguments& args, const PlanSummary& plan) {
    char numbers[192];
    std::snprintf(numbers, sizeof(numbers),
                  "%lld bytes moved, %lld tasks, up to %d threads, workspace %llu bytes%s%s",
                  static_cast<long long>(plan.moved), static_cast<long long>(plan.tasks),
                  plan.threads(), static_cast<unsigned long long>(plan.workspace_size),
                  plan.copies[0] != '\0' ? ", copies " : "", plan.copies);
    log_call(info, args, numbers);
}

}  // namespace ascend_grad
