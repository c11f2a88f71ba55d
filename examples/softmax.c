/* CANN's C interface on the CPU: the gradient of softmax for one row.
 *
 *     gcc -std=c11 softmax.c $(ascend-grad config --cflags --libs) -o softmax && ./softmax
 */
#include <stdio.h>

#include "acl/acl.h"
#include "aclnnop/aclnn_softmax_backward.h"

#define CHECK(call)                                                               \
    do {                                                                          \
        const int status = (call);                                                \
        if (status != ACL_SUCCESS) {                                              \
            fprintf(stderr, "%s: %d: %s\n", #call, status, aclGetRecentErrMsg()); \
            return 1;                                                             \
        }                                                                         \
    } while (0)

int main(void) {
    const float grad_output[] = {1, 0, 0}, output[] = {0.25f, 0.25f, 0.5f};
    const float *inputs[] = {grad_output, output};
    float result[3];
    const size_t bytes = sizeof(result);
    const int64_t shape[] = {1, 3};
    void *memory[3], *workspace = NULL;
    aclTensor *tensors[3];
    aclrtStream stream;

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream));
    for (int i = 0; i < 3; ++i) {
        CHECK(aclrtMalloc(&memory[i], bytes, ACL_MEM_MALLOC_HUGE_FIRST));
        if (i < 2) CHECK(aclrtMemcpy(memory[i], bytes, inputs[i], bytes, ACL_MEMCPY_HOST_TO_DEVICE));
        tensors[i] = aclCreateTensor(shape, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, shape, 2, memory[i]);
    }

    /* Phase 1 checks and plans, phase 2 queues the work. */
    uint64_t workspace_size = 0;
    aclOpExecutor *executor = NULL;
    CHECK(aclnnSoftmaxBackwardGetWorkspaceSize(tensors[0], tensors[1], 1, tensors[2], &workspace_size, &executor));
    if (workspace_size > 0) CHECK(aclrtMalloc(&workspace, workspace_size, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclnnSoftmaxBackward(workspace, workspace_size, executor, stream));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtMemcpy(result, bytes, memory[2], bytes, ACL_MEMCPY_DEVICE_TO_HOST));
    printf("%g %g %g\n", (double)result[0], (double)result[1], (double)result[2]);

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
