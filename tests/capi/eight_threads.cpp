// Eight threads, each with its own stream, tensors and errors.
#include <thread>

#include "acl_test.h"

static void work(unsigned seed) {
    CHECK_OK(aclrtSetDevice(0));
    aclrtStream stream;
    CHECK_OK(aclrtCreateStream(&stream));
    const Shape shape = {static_cast<int64_t>(seed) + 1, 100};
    const std::vector<float> grad_values = values_like(shape, seed),
                             output_values = values_like(shape, seed + 100);
    const std::vector<float> wanted = softmax_reference(grad_values, output_values, 100);
    const Shape channels = {100};
    const std::string bad_dim = std::to_string(7 + seed);
    for (int round = 0; round < 30; ++round) {
        Tensor grad(shape, grad_values), output(shape, output_values), out(shape), sums(channels);
        Tensor mean(channels, values_like(channels, 3)), invstd(channels, values_like(channels, 4));
        uint64_t size = 0;
        aclOpExecutor* executor = nullptr;
        CHECK_FAILS(
            ACLNN_ERR_PARAM_INVALID,
            aclnnSoftmaxBackwardGetWorkspaceSize(grad, output, 7 + seed, out, &size, &executor),
            "dim", bad_dim.c_str());
        CHECK_OK(aclnnSoftmaxBackwardGetWorkspaceSize(grad, output, -1, out, &size, &executor));
        run_and_wait(aclnnSoftmaxBackward, size, executor, stream);
        CHECK_CLOSE(out.get(), wanted);
        CHECK_OK(aclnnBatchNormReduceBackwardGetWorkspaceSize(grad, output, mean, invstd, nullptr,
                                                              false, false, true, nullptr, nullptr,
                                                              nullptr, sums, &size, &executor));
        run_and_wait(aclnnBatchNormReduceBackward, size, executor, stream);
        std::vector<float> totals(100);
        for (size_t i = 0; i < grad_values.size(); ++i) totals[i % 100] += grad_values[i];
        CHECK_CLOSE(sums.get(), totals);
        CHECK(message().find(bad_dim) != std::string::npos);  // still this thread's own
    }
    CHECK_OK(aclrtDestroyStream(stream));
    CHECK_OK(aclrtResetDevice(0));
}

// One stream and one set of inputs for all threads.
static void share(aclrtStream stream, aclTensor* grad, aclTensor* output,
                  const std::vector<float>& wanted) {
    for (int round = 0; round < 30; ++round) {
        Tensor out({4, 100});
        uint64_t size = 0;
        aclOpExecutor* executor = nullptr;
        CHECK_OK(aclnnSoftmaxBackwardGetWorkspaceSize(grad, output, 1, out, &size, &executor));
        run_and_wait(aclnnSoftmaxBackward, size, executor, stream);
        CHECK_CLOSE(out.get(), wanted);
    }
}

int main() {
    start();
    std::vector<std::thread> threads;
    for (unsigned seed = 0; seed < 8; ++seed) threads.emplace_back(work, seed);
    for (std::thread& thread : threads) thread.join();
    threads.clear();

    const Shape shape = {4, 100};
    const std::vector<float> grad_values = values_like(shape, 1),
                             output_values = values_like(shape, 2);
    Tensor grad(shape, grad_values), output(shape, output_values);
    aclrtStream stream;
    CHECK_OK(aclrtCreateStream(&stream));
    const std::vector<float> wanted = softmax_reference(grad_values, output_values, 100);
    for (int i = 0; i < 8; ++i) threads.emplace_back([&] { share(stream, grad, output, wanted); });
    for (std::thread& thread : threads) thread.join();
    CHECK_OK(aclrtDestroyStream(stream));
    stop();
}
