// What CANN's public headers lack: the values of an aclIntArray.
#ifndef ASCEND_GRAD_ACL_INT_ARRAY_H
#define ASCEND_GRAD_ACL_INT_ARRAY_H

#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// *values points to aclGetIntArraySize(array) numbers, valid as long as the array.
ACLNN_API aclnnStatus aclGetIntArrayValues(const aclIntArray* array, const int64_t** values);

#ifdef __cplusplus
}
#endif

#endif
