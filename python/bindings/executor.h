// A prepared call as Python holds it.
#pragma once

#include <cxxabi.h>
#include <pybind11/pybind11.h>
#include <unistd.h>

#include <memory>
#include <mutex>
#include <utility>
#include <variant>

#include "core/executor.h"
#include "device.h"

namespace ascend_grad::python {

namespace py = pybind11;

// Scratch memory of one call, aligned to a cache line. A little of it allocates nothing.
class Workspace {
  public:
    explicit Workspace(uint64_t size);
    void* data() { return large_ != nullptr ? large_.get() : small_; }

  private:
    struct Free {
        size_t block_bytes;  // 0: not of a block
        void operator()(void* pointer) const;
    };
    alignas(64) unsigned char small_[1024];
    std::unique_ptr<void, Free> large_{nullptr, Free{0}};
};

// How many forks lie between the first process and this one.
int fork_generation();

// Calls `work` without the interpreter's lock. `work` must not throw.
//
// Not a guard object: when the interpreter is being finalised, taking its lock ends the thread by
// unwinding the stack (Python before 3.14), which must not pass through destructors. The thread
// waits for the end of the process instead.
template <class Work>
void run_unlocked(const Work& work) {
    PyThreadState* const state = PyEval_SaveThread();
    work();
    try {
        PyEval_RestoreThread(state);
    } catch (abi::__forced_unwind&) {
        for (;;) pause();
    }
}

// run_unlocked() of a call on the CPU, unless it is over before the lock would be given up. One
// that moves nothing may still have many zeros to write.
template <class Work>
void run_on_cpu(const Executor& executor, const Work& work) {
    constexpr int64_t kLeastBytes = 16384;
    if (executor.moved_bytes > 0 && executor.moved_bytes < kLeastBytes) {
        work();
    } else {
        run_unlocked(work);
    }
}

// A call on the CPU, with its workspace.
class CpuRun {
  public:
    explicit CpuRun(const Executor& executor)
        : executor_(executor), workspace_(executor.workspace_size) {}
    const OperatorInfo& info() const { return *executor_.info; }
    uint64_t workspace_size() const { return executor_.workspace_size; }
    // `mutex` is held meanwhile.
    void run(std::mutex& mutex);

  private:
    Executor executor_;
    Workspace workspace_;
};

// A call on another device.
class DeviceRun {
  public:
    DeviceRun(const Device& device, std::unique_ptr<device::Call> call)
        : device_(device), call_(std::move(call)) {}
    const OperatorInfo& info() const { return *call_->info; }
    uint64_t workspace_size() const { return call_->plan.workspace_size; }
    // Calls of one device take turns anyway. Raises what the device reports.
    void run() const;

  private:
    Device device_;
    std::unique_ptr<device::Call> call_;
};

using Run = std::variant<CpuRun, DeviceRun>;

class PreparedCall {
  public:
    PreparedCall(Run run, py::object results, py::object owners)
        : run_(std::move(run)), results_(std::move(results)), owners_(std::move(owners)) {}

    uint64_t workspace_size() const {
        return std::visit([](const auto& run) { return run.workspace_size(); }, run_);
    }
    const char* operator_name() const {
        return std::visit([](const auto& run) { return run.info().name.python; }, run_);
    }
    py::object call();

  private:
    Run run_;
    std::mutex mutex_;  // one run at a time: runs share the workspace and the outputs
    int fork_generation_ = fork_generation();
    py::object results_;
    py::object owners_;
};

void register_executor(py::module_& module);

}  // namespace ascend_grad::python
