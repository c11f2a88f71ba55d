#include "executor.h"

#include <cxxabi.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace ascend_grad::python {

void Workspace::Free::operator()(void* pointer) const {
    std::free(pointer);
}

Workspace::Workspace(uint64_t size) {
    if (size == 0) return;
    data_.reset(std::aligned_alloc(64, (size + 63) / 64 * 64));
    if (data_ == nullptr) throw std::bad_alloc();
}

namespace {

std::atomic<int> g_fork_generation{0};

struct ForkCounter {
    ForkCounter() {
        pthread_atfork(nullptr, nullptr, [] { ++g_fork_generation; });
    }
};
const ForkCounter g_fork_counter;

}  // namespace

int fork_generation() {
    return g_fork_generation.load(std::memory_order_relaxed);
}

// Not a guard object: when the interpreter is being finalised, taking its lock ends the thread by
// unwinding the stack (Python before 3.14), which must not pass through destructors. The thread
// waits for the end of the process instead.
void run_unlocked(const Executor& executor, void* workspace, std::mutex* mutex) {
    PyThreadState* const state = PyEval_SaveThread();
    if (mutex != nullptr) mutex->lock();
    executor.run(workspace);
    if (mutex != nullptr) mutex->unlock();
    try {
        PyEval_RestoreThread(state);
    } catch (abi::__forced_unwind&) {
        for (;;) pause();
    }
}

py::object PreparedCall::call() {
    if (fork_generation_ != fork_generation()) {
        // A thread that the fork left behind may have held it.
        new (&mutex_) std::mutex;
        fork_generation_ = fork_generation();
    }
    run_unlocked(executor_, workspace_.data(), &mutex_);
    return results_;
}

void register_executor(py::module_& module) {
    py::class_<PreparedCall>(
        module, "Executor",
        "A checked and planned call. Calling it runs the operator on the arrays it was prepared "
        "with and returns their results.")
        .def_property_readonly("workspace_size", &PreparedCall::workspace_size,
                               "Bytes of scratch memory that a run uses.")
        .def_property_readonly("operator", &PreparedCall::operator_name)
        .def("__call__", &PreparedCall::call)
        .def("__repr__", [](const PreparedCall& self) {
            return std::string("<ascend_grad.Executor of ") + self.operator_name() +
                   ", workspace " + std::to_string(self.workspace_size()) + " bytes>";
        });
}

}  // namespace ascend_grad::python
