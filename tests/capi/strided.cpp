// Views with gaps, other orders of axes and offsets, in and out: equal bits as contiguous tensors,
// nothing written beside the elements.
#include "acl_test.h"

static aclrtStream stream;
static uint64_t workspace_size;
static aclOpExecutor* executor;

// How a tensor of the four axes' shape lies in memory.
struct Layout {
    Shape (*strides)(const Shape&);
    int64_t offset;
};

static Shape contiguous(const Shape&) {
    return {};
}
static Shape channels_last(const Shape& s) {
    return {s[1] * s[2] * s[3], 1, s[3] * s[1], s[1]};
}
static Shape reversed_with_gaps(const Shape& s) {
    Shape strides(s.size());
    int64_t step = 3;
    for (size_t i = 0; i < s.size(); ++i) {
        strides[i] = step;
        step = step * s[i] + 5;
    }
    return strides;
}

static const Layout kLayouts[] = {
    {contiguous, 0}, {contiguous, 7}, {channels_last, 0}, {reversed_with_gaps, 2}};
static const Shape kShape = {2, 20, 6, 5};
static const Shape kChannels = {20};

struct Operand : Tensor {
    Operand(const Shape& shape, const Layout& layout, unsigned seed)
        : Tensor(shape, seed != 0 ? values_like(shape, seed) : std::vector<float>{},
                 ACL_FORMAT_NCHW, layout.strides(shape), layout.offset, 40) {}
};

static std::vector<float> joined(std::vector<float> a, const std::vector<float>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

static std::vector<float> softmax(const Layout& in, const Layout& out) {
    Operand grad(kShape, in, 1), output(kShape, out, 2), result(kShape, in, 0);
    CHECK_OK(
        aclnnSoftmaxBackwardGetWorkspaceSize(grad, output, 1, result, &workspace_size, &executor));
    run_and_wait(aclnnSoftmaxBackward, workspace_size, executor, stream);
    return result.get();
}

static std::vector<float> prelu(const Layout& in, const Layout& out) {
    Operand grad(kShape, in, 1), self(kShape, out, 2), grad_input(kShape, out, 0);
    Tensor weight(kChannels, values_like(kChannels, 3), ACL_FORMAT_ND, {4}, 1),
        grad_weight(kChannels, {}, ACL_FORMAT_ND, {3});
    CHECK_OK(aclnnPreluBackwardGetWorkspaceSize(grad, self, weight, grad_input, grad_weight,
                                                &workspace_size, &executor));
    run_and_wait(aclnnPreluBackward, workspace_size, executor, stream);
    return joined(grad_input.get(), grad_weight.get());
}

static std::vector<float> avg_pool(const Layout& in, const Layout& out) {
    const Shape pooled = {2, 20, 3, 2};
    Operand grad(pooled, in, 1), self(kShape, in, 0), grad_input(kShape, out, 0);
    const int64_t two = 2, zero = 0;
    aclIntArray* kernel = aclCreateIntArray(&two, 1);
    aclIntArray* padding = aclCreateIntArray(&zero, 1);
    CHECK_OK(aclnnAvgPool2dBackwardGetWorkspaceSize(grad, self, kernel, nullptr, padding, false,
                                                    true, 0, 0, grad_input, &workspace_size,
                                                    &executor));
    // An executor keeps what it needs: its arrays and tensors may go before it runs.
    CHECK_OK(aclDestroyIntArray(kernel));
    CHECK_OK(aclDestroyIntArray(padding));
    run_and_wait(aclnnAvgPool2dBackward, workspace_size, executor, stream);
    return grad_input.get();
}

static std::vector<float> batch_norm(const Layout& in, const Layout& out) {
    Operand grad(kShape, in, 1), input(kShape, out, 2);
    Tensor mean(kChannels, values_like(kChannels, 3), ACL_FORMAT_NCHW, {2}, 3),
        invstd(kChannels, values_like(kChannels, 4));
    Tensor sum_dy_xmu(kChannels, {}, ACL_FORMAT_NCHW, {5}, 1), grad_bias(kChannels),
        unused(kChannels);
    // What grad_weight is given is not looked at: it is not wanted.
    CHECK_OK(aclnnBatchNormReduceBackwardGetWorkspaceSize(
        grad, input, mean, invstd, nullptr, true, false, true, unused, sum_dy_xmu,
        reinterpret_cast<aclTensor*>(stream), grad_bias, &workspace_size, &executor));
    run_and_wait(aclnnBatchNormReduceBackward, workspace_size, executor, stream);
    return joined(sum_dy_xmu.get(), grad_bias.get());
}

int main() {
    start();
    CHECK_OK(aclrtCreateStream(&stream));
    for (auto* run : {softmax, prelu, avg_pool, batch_norm}) {
        const std::vector<float> wanted = run(kLayouts[0], kLayouts[0]);
        CHECK(wanted != std::vector<float>(wanted.size(), 0.0f));
        for (const Layout& in : kLayouts) {
            for (const Layout& out : kLayouts) CHECK(run(in, out) == wanted);
        }
    }
    CHECK_OK(aclrtDestroyStream(stream));
    stop();
}
