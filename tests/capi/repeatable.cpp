// One executor, many runs: with other values, other addresses, other workspaces; and what a change
// of address may break.
#include <algorithm>

#include "acl_test.h"

static const Shape kShape = {3, 4};

int main() {
    start();
    aclrtStream stream;
    CHECK_OK(aclrtCreateStream(&stream));
    const std::vector<float> grad_values = values_like(kShape, 1),
                             other_values = values_like(kShape, 5);
    const std::vector<float> output_values = values_like(kShape, 2);
    Tensor grad(kShape, grad_values), output(kShape, output_values), out(kShape);
    Tensor other_grad(kShape, other_values), other_out(kShape);
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    CHECK_OK(aclnnSoftmaxBackwardGetWorkspaceSize(grad, output, 1, out, &size, &executor));
    CHECK_OK(aclSetAclOpExecutorRepeatable(executor));
    const auto run = [&] { run_and_wait(aclnnSoftmaxBackward, size, executor, stream); };
    for (int i = 0; i < 3; ++i) {
        run();
        CHECK_CLOSE(out.get(), softmax_reference(grad_values, output_values, 4));
        out.set({});
    }
    grad.set(other_values);
    run();
    CHECK_CLOSE(out.get(), softmax_reference(other_values, output_values, 4));

    // Other addresses, through the executor or through the tensor.
    grad.set(grad_values);
    out.set({});
    CHECK_OK(aclSetInputTensorAddr(executor, 0, grad, other_grad.memory()));
    CHECK_OK(aclSetOutputTensorAddr(executor, 0, out, other_out.memory()));
    run();
    CHECK_CLOSE(other_out.get(), softmax_reference(other_values, output_values, 4));
    CHECK(out.get() == std::vector<float>(12, Tensor::kGap));
    void* address = nullptr;
    CHECK_OK(aclGetRawTensorAddr(grad, &address));
    CHECK(address == other_grad.memory());
    CHECK_OK(aclSetRawTensorAddr(grad, grad.memory()));
    CHECK_OK(AclSetTensorAddr(executor, 2, out, out.memory()));
    run();
    CHECK_CLOSE(out.get(), softmax_reference(grad_values, output_values, 4));

    // An address is judged again where it changes: exactly in place is legal, a shifted overlap is
    // not.
    CHECK_OK(AclSetOutputTensorAddr(executor, 0, out, output.memory()));
    run();
    CHECK_CLOSE(output.get(), softmax_reference(grad_values, output_values, 4));
    output.set(output_values);
    CHECK_OK(aclSetTensorAddr(executor, 2, out, static_cast<char*>(output.memory()) + 4));
    for (int i = 0; i < 2; ++i) {
        CHECK_FAILS(ACLNN_ERR_PARAM_INVALID, aclnnSoftmaxBackward(nullptr, 0, executor, stream),
                    "out", "inside memory");
    }
    Tensor large({16}, {});
    CHECK_OK(aclSetTensorAddr(executor, 2, out, large.memory()));
    CHECK_OK(AclSetInputTensorAddr(executor, 0, grad, static_cast<char*>(large.memory()) + 16));
    CHECK_FAILS(ACLNN_ERR_PARAM_INVALID, aclnnSoftmaxBackward(nullptr, 0, executor, stream), "out",
                "overlap", "gradOutput");
    CHECK_OK(aclSetInputTensorAddr(executor, 0, grad, nullptr));
    CHECK_FAILS(ACLNN_ERR_PARAM_NULLPTR, aclnnSoftmaxBackward(nullptr, 0, executor, stream),
                "gradOutput", "address");
    CHECK_OK(aclSetInputTensorAddr(executor, 0, grad, grad.memory()));
    CHECK_OK(aclSetOutputTensorAddr(executor, 0, out, out.memory()));
    run();
    CHECK_CLOSE(out.get(), softmax_reference(grad_values, output_values, 4));

    CHECK_FAILS(ACLNN_ERR_PARAM_INVALID, aclSetInputTensorAddr(executor, 2, out, nullptr), "index",
                "2");
    CHECK_FAILS(ACLNN_ERR_PARAM_INVALID, aclSetOutputTensorAddr(executor, 1, out, nullptr), "index",
                "1");
    CHECK_FAILS(ACLNN_ERR_PARAM_INVALID, aclSetTensorAddr(executor, 3, out, nullptr), "index", "3");
    CHECK_FAILS(ACLNN_ERR_PARAM_INVALID, aclSetInputTensorAddr(executor, 0, output, nullptr),
                "tensor", "gradOutput");
    CHECK_FAILS(ACLNN_ERR_INNER_NULLPTR, aclSetInputTensorAddr(executor, 0, nullptr, nullptr),
                "tensor");
    CHECK_OK(aclDestroyAclOpExecutor(executor));
    CHECK_FAILS(ACLNN_ERR_INNER_NULLPTR, aclSetInputTensorAddr(executor, 0, grad, nullptr),
                "executor", "destroyed");

    // A description that is changed after phase 1 is refused, until it is that of phase 1 again.
    aclTensor* changed = aclCreateTensor(kShape.data(), 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND,
                                         kShape.data(), 2, out.memory());
    CHECK_OK(aclnnSoftmaxBackwardGetWorkspaceSize(grad, output, 1, changed, &size, &executor));
    CHECK_OK(aclSetAclOpExecutorRepeatable(executor));
    out.set({});
    float two[12];
    std::fill_n(two, 12, Tensor::kGap);
    const int64_t length = 2, extents[] = {4, 3};
    const auto init = [&](const int64_t* shape, uint64_t rank, aclDataType dtype, int64_t offset,
                          void* memory) {
        return aclInitTensor(changed, shape, rank, dtype, nullptr, offset, ACL_FORMAT_ND, shape,
                             rank, memory);
    };
    const auto is_refused = [&] {
        CHECK_FAILS(ACLNN_ERR_PARAM_INVALID, aclnnSoftmaxBackward(nullptr, 0, executor, stream),
                    "aclnnSoftmaxBackward: out:", "address", "aclInitTensor", "phase 1");
    };
    CHECK_OK(init(&length, 1, ACL_FLOAT, 0, two));
    is_refused();
    CHECK_OK(init(extents, 2, ACL_FLOAT, 0, two));
    is_refused();
    CHECK_OK(init(kShape.data(), 2, ACL_FLOAT16, 0, two));
    is_refused();
    CHECK_OK(init(kShape.data(), 2, ACL_FLOAT, 1, two));
    is_refused();
    for (const float value : two) CHECK(value == Tensor::kGap);
    CHECK(out.get() == std::vector<float>(12, Tensor::kGap));
    CHECK_OK(init(kShape.data(), 2, ACL_FLOAT, 0, other_out.memory()));
    other_out.set({});
    run();
    CHECK_CLOSE(other_out.get(), softmax_reference(grad_values, output_values, 4));
    CHECK_OK(aclDestroyAclOpExecutor(executor));
    CHECK_OK(aclDestroyTensor(changed));

    // A tensor that had no address in phase 1 gets one before the run; it may be destroyed between.
    aclTensor* late = aclCreateTensor(kShape.data(), 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND,
                                      kShape.data(), 2, nullptr);
    CHECK_OK(aclnnSoftmaxBackwardGetWorkspaceSize(late, output, 1, out, &size, &executor));
    CHECK_OK(aclSetRawTensorAddr(late, grad.memory()));
    run();
    CHECK_CLOSE(out.get(), softmax_reference(grad_values, output_values, 4));
    CHECK_OK(aclnnSoftmaxBackwardGetWorkspaceSize(late, output, 1, out, &size, &executor));
    CHECK_OK(aclDestroyTensor(late));
    out.set({});
    run();
    CHECK_CLOSE(out.get(), softmax_reference(grad_values, output_values, 4));
    CHECK_OK(aclrtDestroyStream(stream));
    stop();
}
