// A process forks while another of its threads calls the library for the first time: the child
// works on its own.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "acl_test.h"

static void calls() {
    const aclError code = aclInit(nullptr);
    CHECK(code == ACL_SUCCESS || code == ACL_ERROR_REPEAT_INITIALIZE);
    CHECK_OK(aclrtSetDevice(0));
    const Shape shape = {2, 50};
    const std::vector<float> grad_values = values_like(shape, 1),
                             output_values = values_like(shape, 2);
    Tensor grad(shape, grad_values), output(shape, output_values), out(shape);
    aclrtStream stream;
    aclrtEvent event;
    CHECK_OK(aclrtCreateStream(&stream));
    CHECK_OK(aclrtCreateEvent(&event));
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    CHECK_OK(aclnnSoftmaxBackwardGetWorkspaceSize(grad, output, 1, out, &size, &executor));
    CHECK_OK(aclnnSoftmaxBackward(nullptr, size, executor, stream));
    CHECK_OK(aclrtRecordEvent(event, stream));
    CHECK_OK(aclrtSynchronizeEvent(event));
    CHECK_CLOSE(out.get(), softmax_reference(grad_values, output_values, 50));
    CHECK_OK(aclrtDestroyEvent(event));
    CHECK_OK(aclrtDestroyStream(stream));
}

// Runs `body` in a child, which must end well.
template <class Body>
static void in_child(Body body) {
    std::fflush(stderr);
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        body();
        std::_Exit(0);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main() {
    for (int i = 0; i < 300; ++i) {
        in_child([i] {
            std::thread first(calls);
            std::this_thread::sleep_for(std::chrono::microseconds(i % 100 * 5));
            in_child(calls);
            first.join();
        });
    }
}
