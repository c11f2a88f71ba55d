// A stream's thread does not depend on the stack that the process gives its threads by default.
#include <pthread.h>

#include "acl_test.h"

int main() {
    // Too few bytes for OpenMP's threads, whose stacks are the program's affair.
    const Shape shape = {4, 40, 40};
    pthread_attr_t attributes;
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstacksize(&attributes, 128 << 10) == 0);
    CHECK(pthread_setattr_default_np(&attributes) == 0);
    start();
    const std::vector<float> grad_values = values_like(shape, 1),
                             output_values = values_like(shape, 2);
    Tensor grad(shape, grad_values), output(shape, output_values), out(shape);
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    CHECK_OK(aclnnSoftmaxBackwardGetWorkspaceSize(grad, output, 1, out, &size, &executor));
    run_and_wait(aclnnSoftmaxBackward, size, executor, nullptr);
    // Along the middle axis: a column of a plane at a time.
    std::vector<float> grad_column(40), output_column(40), column(40);
    const std::vector<float> values = out.get();
    for (size_t plane = 0; plane < values.size(); plane += 1600) {
        for (size_t first = plane; first < plane + 40; ++first) {
            for (size_t i = 0; i < 40; ++i) {
                grad_column[i] = grad_values[first + 40 * i];
                output_column[i] = output_values[first + 40 * i];
                column[i] = values[first + 40 * i];
            }
            CHECK_CLOSE(column, softmax_reference(grad_column, output_column, 40));
        }
    }
    stop();
}
