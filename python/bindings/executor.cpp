#include "executor.h"

#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "blocks.h"
#include "errors.h"
#include "instances.h"

namespace ascend_grad::python {

void Workspace::Free::operator()(void* pointer) const {
    if (block_bytes == 0) return std::free(pointer);
    return_block({pointer, block_bytes});
}

Workspace::Workspace(uint64_t size) {
    if (size <= sizeof(small_)) return;
    if (const Block block = take_block(size); block.address != nullptr) {
        large_ = {block.address, Free{block.size}};
        return;
    }
    large_.reset(std::aligned_alloc(64, (size + 63) / 64 * 64));
    if (large_ == nullptr) throw std::bad_alloc();
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

void CpuRun::run(std::mutex& mutex) {
    run_on_cpu(executor_, [&] {
        mutex.lock();
        executor_.run(workspace_.data());
        mutex.unlock();
    });
}

void DeviceRun::run() const {
    const Status status = device_.run(*call_);
    if (!status.ok()) raise(status);
}

py::object PreparedCall::call() {
    if (fork_generation_ != fork_generation()) {
        // A thread that the fork left behind may have held it.
        new (&mutex_) std::mutex;
        fork_generation_ = fork_generation();
    }
    if (CpuRun* const run = std::get_if<CpuRun>(&run_)) {
        run->run(mutex_);
    } else {
        std::get<DeviceRun>(run_).run();
    }
    return results_;
}

namespace {

PyObject* call_executor(PyObject* self, PyObject* arguments, PyObject* keywords) {
    return result_of([&] {
        const bool has_keywords = keywords != nullptr && PyDict_GET_SIZE(keywords) > 0;
        if (has_keywords || PyTuple_GET_SIZE(arguments) > 0)
            throw py::type_error("Executor: a call takes no arguments");
        return py::handle(self).cast<PreparedCall&>().call();
    });
}

}  // namespace

void register_executor(py::module_& module) {
    py::class_<PreparedCall>(
        module, "Executor",
        "A checked and planned call. Calling it runs the operator on the arrays it was prepared "
        "with and returns their results.",
        py::custom_type_setup(
            [](PyHeapTypeObject* type) { type->ht_type.tp_call = call_executor; }))
        .def_property_readonly("workspace_size", &PreparedCall::workspace_size,
                               "Bytes of scratch memory that a run uses.")
        .def_property_readonly("operator", &PreparedCall::operator_name)
        .def("__repr__", [](const PreparedCall& self) {
            return std::string("<ascend_grad.Executor of ") + self.operator_name() +
                   ", workspace " + std::to_string(self.workspace_size()) + " bytes>";
        });
    refuse_bare_new(module.attr("Executor"));
}

}  // namespace ascend_grad::python
