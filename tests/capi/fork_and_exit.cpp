// A forked child works on its own; a process may end while work is queued.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "acl_test.h"

static const Shape kShape = {256, 1000};

static void softmax(aclTensor* grad, aclTensor* output, aclTensor* out, aclrtStream stream) {
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    CHECK_OK(aclnnSoftmaxBackwardGetWorkspaceSize(grad, output, 1, out, &size, &executor));
    CHECK_OK(aclnnSoftmaxBackward(nullptr, size, executor, stream));
}

static void wait_for(pid_t child) {
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main() {
    start();
    aclrtStream stream, blocked;
    aclrtEvent event;
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtCreateStream(&blocked));
    CHECK_OK(aclrtCreateEvent(&event));
    const std::vector<float> grad_values = values_like(kShape, 1),
                             output_values = values_like(kShape, 2);
    const std::vector<float> wanted = softmax_reference(grad_values, output_values, 1000);
    Tensor grad(kShape, grad_values), output(kShape, output_values), out(kShape);
    softmax(grad, output, out, stream);  // fork_during_first_calls has those
    CHECK_OK(aclrtSynchronizeStream(stream));
    CHECK_OK(aclrtStreamWaitEvent(blocked, event));
    CHECK_OK(aclrtMemsetAsync(out.memory(), 4, 0, 4, blocked));

    // Forks while this thread's stream is at work and another thread calls in.
    std::atomic<bool> is_calling{true};
    std::thread caller([&] {
        while (is_calling) CHECK_OK(aclrtSynchronizeStream(stream));
    });
    // ... and one is inside a run of an executor that the child uses, too.
    const Shape small = {4, 2};
    Tensor small_grad(small, grad_values), small_output(small, output_values), small_out(small);
    aclOpExecutor* shared = nullptr;
    uint64_t shared_size = 0;
    CHECK_OK(aclnnSoftmaxBackwardGetWorkspaceSize(small_grad, small_output, 1, small_out,
                                                  &shared_size, &shared));
    CHECK_OK(aclSetAclOpExecutorRepeatable(shared));
    std::thread runner([&] {
        while (is_calling) CHECK_OK(aclnnSoftmaxBackward(nullptr, shared_size, shared, stream));
    });
    for (int i = 0; i < 10; ++i) {
        softmax(grad, output, out, stream);
        std::fflush(stderr);
        const pid_t child = fork();
        if (child == 0) {
            alarm(60);
            out.set({});
            CHECK_OK(aclrtSynchronizeStream(stream));  // what was queued is the parent's
            CHECK_OK(aclrtSynchronizeStream(blocked));
            softmax(grad, output, out, stream);
            CHECK_OK(aclnnSoftmaxBackward(nullptr, shared_size, shared, stream));
            CHECK_OK(aclrtRecordEvent(event, stream));
            CHECK_OK(aclrtStreamWaitEvent(blocked, event));
            CHECK_OK(aclrtSynchronizeDevice());
            CHECK_CLOSE(out.get(), wanted);
            CHECK_OK(aclrtDestroyStream(blocked));
            softmax(grad, output, out, stream);
            std::exit(0);  // with work in the queue
        }
        wait_for(child);
        CHECK_OK(aclrtSynchronizeStream(stream));
        CHECK_CLOSE(out.get(), wanted);
    }
    is_calling = false;
    caller.join();
    runner.join();
    // Ends with a stream that waits for ever and one with work to do.
    for (int i = 0; i < 100; ++i) softmax(grad, output, out, stream);
    std::exit(0);
}
