/* The C interface from C: softmax backward of one row. */
#include <stdio.h>

#include "acl/acl.h"
#include "aclnnop/aclnn_avgpool2d_backward.h"
#include "aclnnop/aclnn_batch_norm_backward_reduce.h"
#include "aclnnop/aclnn_prelu_backward.h"
#include "aclnnop/aclnn_softmax_backward.h"

#define CHECK(call)                                                                          \
    do {                                                                                     \
        const int status = (call);                                                           \
        if (status != ACL_SUCCESS) {                                                         \
            fprintf(stderr, "%s: %d: %s\n", #call, status, aclGetRecentErrMsg());            \
            return 1;                                                                        \
        }                                                                                    \
    } while (0)

int main(void) {
    const float grad[] = {1, 0, 0}, output[] = {0.25f, 0.25f, 0.5f};
    const int64_t shape[] = {1, 3};
    const float *values[] = {grad, output, NULL};
    void *memory[3];
    aclTensor *tensors[3];
    float result[3];
    uint64_t workspace_size = 0;
    void *workspace = NULL;
    aclOpExecutor *executor = NULL;
    aclrtStream stream;
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream));
    for (int i = 0; i < 3; ++i) {
        CHECK(aclrtMalloc(&memory[i], sizeof(grad), ACL_MEM_MALLOC_HUGE_FIRST));
        if (values[i] != NULL) {
            CHECK(aclrtMemcpy(memory[i], sizeof(grad), values[i], sizeof(grad), ACL_MEMCPY_HOST_TO_DEVICE));
        }
        tensors[i] = aclCreateTensor(shape, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, shape, 2, memory[i]);
    }
    CHECK(aclnnSoftmaxBackwardGetWorkspaceSize(tensors[0], tensors[1], 1, tensors[2], &workspace_size, &executor));
    if (workspace_size > 0) CHECK(aclrtMalloc(&workspace, workspace_size, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclnnSoftmaxBackward(workspace, workspace_size, executor, stream));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtMemcpy(result, sizeof(result), memory[2], sizeof(result), ACL_MEMCPY_DEVICE_TO_HOST));
    for (int i = 0; i < 3; ++i) printf("%g\n", (double)result[i]);
    for (int i = 0; i < 3; ++i) {
        CHECK(aclDestroyTensor(tensors[i]));
        CHECK(aclrtFree(memory[i]));
    }
    if (workspace != NULL) CHECK(aclrtFree(workspace));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
