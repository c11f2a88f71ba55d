// A prepared call as Python holds it.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <mutex>
#include <utility>

#include "core/executor.h"

namespace ascend_grad::python {

namespace py = pybind11;

// Scratch memory of one call, aligned to a cache line.
class Workspace {
  public:
    explicit Workspace(uint64_t size);
    void* data() const { return data_.get(); }

  private:
    struct Free {
        void operator()(void* pointer) const;
    };
    std::unique_ptr<void, Free> data_;
};

// How many forks lie between the first process and this one.
int fork_generation();

// Runs without the interpreter's lock.
void run_unlocked(const Executor& executor, void* workspace, std::mutex* mutex);

class PreparedCall {
  public:
    PreparedCall(const Executor& executor, py::object results, py::object owners)
        : executor_(executor),
          workspace_(executor.workspace_size),
          results_(std::move(results)),
          owners_(std::move(owners)) {}

    uint64_t workspace_size() const { return executor_.workspace_size; }
    const char* operator_name() const { return executor_.info->name.python; }
    py::object call();

  private:
    Executor executor_;
    Workspace workspace_;
    std::mutex mutex_;  // one run at a time: runs share the workspace and the outputs
    int fork_generation_ = fork_generation();
    py::object results_;
    py::object owners_;
};

void register_executor(py::module_& module);

}  // namespace ascend_grad::python
