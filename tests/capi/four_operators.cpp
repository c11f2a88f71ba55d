// Each operator once, with results small enough to be computed by hand.
#include "acl_test.h"

static aclrtStream stream;
static uint64_t workspace_size;
static aclOpExecutor* executor;

static void batch_norm() {
    Tensor grad({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), input({2, 2, 2}, {8, 7, 6, 5, 4, 3, 2, 1});
    Tensor mean({2}, {5, 4}), invstd({2}, {2, 0.5f});
    Tensor sum_dy({2}), sum_dy_xmu({2}), grad_weight({2}), grad_bias({2});
    CHECK_OK(aclnnBatchNormReduceBackwardGetWorkspaceSize(
        grad, input, mean, invstd, nullptr, true, true, true, sum_dy, sum_dy_xmu, grad_weight,
        grad_bias, &workspace_size, &executor));
    run_and_wait(aclnnBatchNormReduceBackward, workspace_size, executor, stream);
    CHECK_CLOSE(sum_dy.get(), (std::vector<float>{14, 22}));
    CHECK_CLOSE(sum_dy_xmu.get(),
                (std::vector<float>{1 * 3 + 2 * 2 - 5 * 1 - 6 * 2, 3 * 2 + 4 * 1 - 7 * 2 - 8 * 3}));
    CHECK_CLOSE(grad_weight.get(), (std::vector<float>{-20, -14}));
    CHECK_CLOSE(grad_bias.get(), (std::vector<float>{14, 22}));
}

static void avg_pool() {
    Tensor grad({1, 2, 2}, {4, 8, 12, 16}, ACL_FORMAT_NCL), self({1, 3, 3}, {}, ACL_FORMAT_NCL);
    Tensor grad_input({1, 3, 3}, {}, ACL_FORMAT_NCL);
    const int64_t two = 2, ones[] = {1, 1}, zero = 0;
    aclIntArray* kernel = aclCreateIntArray(&two, 1);
    aclIntArray* stride = aclCreateIntArray(ones, 2);
    aclIntArray* padding = aclCreateIntArray(&zero, 1);
    CHECK_OK(aclnnAvgPool2dBackwardGetWorkspaceSize(grad, self, kernel, stride, padding, false,
                                                    true, 0, 0, grad_input, &workspace_size,
                                                    &executor));
    run_and_wait(aclnnAvgPool2dBackward, workspace_size, executor, stream);
    CHECK_CLOSE(grad_input.get(), (std::vector<float>{1, 3, 2, 4, 10, 6, 3, 7, 4}));
    // A null stride is the kernel: one window.
    Tensor one({1, 1, 1}, {8}, ACL_FORMAT_NCL);
    CHECK_OK(aclnnAvgPool2dBackwardGetWorkspaceSize(one, self, kernel, nullptr, padding, false,
                                                    true, -2, 0, grad_input, &workspace_size,
                                                    &executor));
    run_and_wait(aclnnAvgPool2dBackward, workspace_size, executor, stream);
    CHECK_CLOSE(grad_input.get(), (std::vector<float>{-4, -4, 0, -4, -4, 0, 0, 0, 0}));
    for (aclIntArray* array : {kernel, stride, padding}) CHECK_OK(aclDestroyIntArray(array));
}

static void prelu() {
    Tensor grad({1, 2, 2}, {1, 2, 3, 4}), self({1, 2, 2}, {-1, 2, -3, 0}),
        weight({1, 2, 1}, {0.5f, 2});
    Tensor grad_input({1, 2, 2}), grad_weight({2});
    CHECK_OK(aclnnPreluBackwardGetWorkspaceSize(grad, self, weight, grad_input, grad_weight,
                                                &workspace_size, &executor));
    run_and_wait(aclnnPreluBackward, workspace_size, executor, stream);
    CHECK_CLOSE(grad_input.get(), (std::vector<float>{0.5f, 2, 6, 8}));
    CHECK_CLOSE(grad_weight.get(), (std::vector<float>{-1, -9}));
}

static void softmax() {
    Tensor grad({2, 3}, {1, 0, 0, 0, 4, 2}), output({2, 3}, {0.25f, 0.25f, 0.5f, 0.5f, 0.5f, 0}),
        out({2, 3});
    CHECK_OK(
        aclnnSoftmaxBackwardGetWorkspaceSize(grad, output, -1, out, &workspace_size, &executor));
    run_and_wait(aclnnSoftmaxBackward, workspace_size, executor, stream);
    CHECK_CLOSE(out.get(), (std::vector<float>{0.1875f, -0.0625f, -0.125f, -1, 1, 0}));
}

int main() {
    start();
    CHECK_OK(aclrtCreateStream(&stream));
    batch_norm();
    avg_pool();
    prelu();
    softmax();
    CHECK_OK(aclrtDestroyStream(stream));
    stop();
}
