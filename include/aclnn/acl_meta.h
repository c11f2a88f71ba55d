// Tensors, arrays, scalars, lists and executors: what aclnn operators take.
//
// Functions that return aclnnStatus give ACLNN_ERR_PARAM_NULLPTR for a null pointer and for a
// handle that was destroyed or is none; aclGetRecentErrMsg tells the reason. Destroying null is
// ACLNN_SUCCESS.
#ifndef ASCEND_GRAD_ACLNN_ACL_META_H
#define ASCEND_GRAD_ACLNN_ACL_META_H

#ifdef __cplusplus
#include <cstdint>
#include <cstdlib>
#else
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#endif

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ACLNN_META
#define ACLNN_META
typedef struct aclOpExecutor aclOpExecutor;
typedef struct aclTensor aclTensor;
typedef struct aclScalar aclScalar;
typedef struct aclIntArray aclIntArray;
typedef struct aclFloatArray aclFloatArray;
typedef struct aclBoolArray aclBoolArray;
typedef struct aclTensorList aclTensorList;
typedef struct aclScalarList aclScalarList;

typedef int32_t aclnnStatus;
#ifdef __cplusplus
constexpr aclnnStatus OK = 0;
#else
static const aclnnStatus OK = 0;
#endif
#endif

// Status codes, each unless another header has defined it.
#ifndef ACLNN_SUCCESS
#define ACLNN_SUCCESS 0
#endif
#ifndef ACLNN_ERR_PARAM_NULLPTR
#define ACLNN_ERR_PARAM_NULLPTR 161001
#endif
#ifndef ACLNN_ERR_PARAM_INVALID
#define ACLNN_ERR_PARAM_INVALID 161002
#endif
#ifndef ACLNN_ERR_RUNTIME_ERROR
#define ACLNN_ERR_RUNTIME_ERROR 361001
#endif
#ifndef ACLNN_ERR_INNER
#define ACLNN_ERR_INNER 561000
#endif
#ifndef ACLNN_ERR_INNER_INFERSHAPE_ERROR
#define ACLNN_ERR_INNER_INFERSHAPE_ERROR 561001
#endif
#ifndef ACLNN_ERR_INNER_TILING_ERROR
#define ACLNN_ERR_INNER_TILING_ERROR 561002
#endif
#ifndef ACLNN_ERR_INNER_FIND_KERNEL_ERROR
#define ACLNN_ERR_INNER_FIND_KERNEL_ERROR 561003
#endif
#ifndef ACLNN_ERR_INNER_CREATE_EXECUTOR
#define ACLNN_ERR_INNER_CREATE_EXECUTOR 561101
#endif
#ifndef ACLNN_ERR_INNER_NOT_TRANS_EXECUTOR
#define ACLNN_ERR_INNER_NOT_TRANS_EXECUTOR 561102
#endif
#ifndef ACLNN_ERR_INNER_NULLPTR
#define ACLNN_ERR_INNER_NULLPTR 561103
#endif
#ifndef ACLNN_ERR_INNER_WRONG_ATTR_INFO_SIZE
#define ACLNN_ERR_INNER_WRONG_ATTR_INFO_SIZE 561104
#endif
#ifndef ACLNN_ERR_INNER_KEY_CONFILICT
#define ACLNN_ERR_INNER_KEY_CONFILICT 561105
#endif
#ifndef ACLNN_ERR_INNER_KEY_CONFLICT
#define ACLNN_ERR_INNER_KEY_CONFLICT 561105
#endif
#ifndef ACLNN_ERR_INNER_INVALID_IMPL_MODE
#define ACLNN_ERR_INNER_INVALID_IMPL_MODE 561106
#endif
#ifndef ACLNN_ERR_INNER_OPP_PATH_NOT_FOUND
#define ACLNN_ERR_INNER_OPP_PATH_NOT_FOUND 561107
#endif
#ifndef ACLNN_ERR_INNER_LOAD_JSON_FAILED
#define ACLNN_ERR_INNER_LOAD_JSON_FAILED 561108
#endif
#ifndef ACLNN_ERR_INNER_JSON_VALUE_NOT_FOUND
#define ACLNN_ERR_INNER_JSON_VALUE_NOT_FOUND 561109
#endif
#ifndef ACLNN_ERR_INNER_JSON_FORMAT_INVALID
#define ACLNN_ERR_INNER_JSON_FORMAT_INVALID 561110
#endif
#ifndef ACLNN_ERR_INNER_JSON_DTYPE_INVALID
#define ACLNN_ERR_INNER_JSON_DTYPE_INVALID 561111
#endif
#ifndef ACLNN_ERR_INNER_OPP_KERNEL_PKG_NOT_FOUND
#define ACLNN_ERR_INNER_OPP_KERNEL_PKG_NOT_FOUND 561112
#endif
#ifndef ACLNN_ERR_INNER_OP_FILE_INVALID
#define ACLNN_ERR_INNER_OP_FILE_INVALID 561113
#endif
#ifndef ACLNN_ERR_INNER_ATTR_NUM_OUT_OF_BOUND
#define ACLNN_ERR_INNER_ATTR_NUM_OUT_OF_BOUND 561114
#endif
#ifndef ACLNN_ERR_INNER_ATTR_LEN_NOT_ENOUGH
#define ACLNN_ERR_INNER_ATTR_LEN_NOT_ENOUGH 561115
#endif
#ifndef ACLNN_ERR_INNER_INPUT_NUM_IN_JSON_TOO_LARGE
#define ACLNN_ERR_INNER_INPUT_NUM_IN_JSON_TOO_LARGE 561116
#endif
#ifndef ACLNN_ERR_INNER_INPUT_JSON_IS_NULL
#define ACLNN_ERR_INNER_INPUT_JSON_IS_NULL 561117
#endif
#ifndef ACLNN_ERR_INNER_STATIC_WORKSPACE_INVALID
#define ACLNN_ERR_INNER_STATIC_WORKSPACE_INVALID 561118
#endif
#ifndef ACLNN_ERR_INNER_STATIC_BLOCK_DIM_INVALID
#define ACLNN_ERR_INNER_STATIC_BLOCK_DIM_INVALID 561119
#endif

// A view of memory that it does not own: element (i, j, ...) is at tensorData + itemsize * (offset
// + i * stride[0] + ...). viewDimsNum 0 is a scalar; a null stride means contiguous; strides and
// offset count elements; storageDims is the extent of the block that the view must stay in. Arrays
// are copied. tensorData may be null until the operator runs. Operators judge the values; null is
// returned only for a null array of more than 0 values, more than 25 dimensions, or when memory is
// exhausted.
ACL_FUNC_VISIBILITY aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum,
                                               aclDataType dataType, const int64_t* stride,
                                               int64_t offset, aclFormat format,
                                               const int64_t* storageDims, uint64_t storageDimsNum,
                                               void* tensorData);
// Replaces what a tensor describes. Null viewDims, storageDims or tensorData leave theirs as they
// are. Executors that exist keep to the description of phase 1: with another one than that, but for
// the address, phase 2 is ACLNN_ERR_PARAM_INVALID.
ACL_FUNC_VISIBILITY aclnnStatus aclInitTensor(aclTensor* tensor, const int64_t* viewDims,
                                              uint64_t viewDimsNum, aclDataType dataType,
                                              const int64_t* stride, int64_t offset,
                                              aclFormat format, const int64_t* storageDims,
                                              uint64_t storageDimsNum, void* tensorData);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyTensor(const aclTensor* tensor);

// The arrays are made with new int64_t[]; the caller releases them with delete[].
ACL_FUNC_VISIBILITY aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** viewDims,
                                                uint64_t* viewDimsNum);
ACL_FUNC_VISIBILITY aclnnStatus aclGetStorageShape(const aclTensor* tensor, int64_t** storageDims,
                                                   uint64_t* storageDimsNum);
ACL_FUNC_VISIBILITY aclnnStatus aclGetViewStrides(const aclTensor* tensor, int64_t** stridesValue,
                                                  uint64_t* stridesNum);
ACL_FUNC_VISIBILITY aclnnStatus aclGetViewOffset(const aclTensor* tensor, int64_t* offset);
ACL_FUNC_VISIBILITY aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format);
ACL_FUNC_VISIBILITY aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dataType);
// The base address, without the offset.
ACL_FUNC_VISIBILITY aclnnStatus aclSetRawTensorAddr(aclTensor* tensor, void* addr);
ACL_FUNC_VISIBILITY aclnnStatus aclGetRawTensorAddr(const aclTensor* tensor, void** addr);

// Values are copied. A null pointer makes an array of length 0; a size that no memory could hold is
// refused with null all the same.
ACL_FUNC_VISIBILITY aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size);
ACL_FUNC_VISIBILITY aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size);
ACL_FUNC_VISIBILITY aclBoolArray* aclCreateBoolArray(const bool* value, uint64_t size);
// Null for a null value or a type without a whole number of bytes.
ACL_FUNC_VISIBILITY aclScalar* aclCreateScalar(void* value, aclDataType dataType);
// A list owns its elements: destroying it destroys them. Null when an element is null or destroyed.
ACL_FUNC_VISIBILITY aclTensorList* aclCreateTensorList(const aclTensor* const* value,
                                                       uint64_t size);
ACL_FUNC_VISIBILITY aclScalarList* aclCreateScalarList(const aclScalar* const* value,
                                                       uint64_t size);

ACL_FUNC_VISIBILITY aclnnStatus aclDestroyIntArray(const aclIntArray* array);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyFloatArray(const aclFloatArray* array);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyBoolArray(const aclBoolArray* array);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyScalar(const aclScalar* scalar);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyTensorList(const aclTensorList* array);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyScalarList(const aclScalarList* array);

ACL_FUNC_VISIBILITY aclnnStatus aclGetIntArraySize(const aclIntArray* array, uint64_t* size);
ACL_FUNC_VISIBILITY aclnnStatus aclGetFloatArraySize(const aclFloatArray* array, uint64_t* size);
ACL_FUNC_VISIBILITY aclnnStatus aclGetBoolArraySize(const aclBoolArray* array, uint64_t* size);
ACL_FUNC_VISIBILITY aclnnStatus aclGetTensorListSize(const aclTensorList* tensorList,
                                                     uint64_t* size);
ACL_FUNC_VISIBILITY aclnnStatus aclGetScalarListSize(const aclScalarList* scalarList,
                                                     uint64_t* size);

// An executor serves one run of the operator that made it, unless made repeatable before; then it
// serves any number, and aclDestroyAclOpExecutor must release it, as it may one that never ran.
// ACLNN_ERR_INNER_NULLPTR for a null, used or unknown executor.
ACL_FUNC_VISIBILITY aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor);
ACL_FUNC_VISIBILITY aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor);
// Give later runs another base address for a tensor. index counts the operator's tensor parameters
// in the order of its prototype: inputs, outputs, or both. `tensor` is what phase 1 was given
// there; every place where it was given follows. ACLNN_ERR_PARAM_INVALID for an index beyond the
// parameters, of a tensor that was null in phase 1, or of another tensor.
ACL_FUNC_VISIBILITY aclnnStatus aclSetInputTensorAddr(aclOpExecutor* executor, const size_t index,
                                                      aclTensor* tensor, void* addr);
ACL_FUNC_VISIBILITY aclnnStatus aclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index,
                                                       aclTensor* tensor, void* addr);
ACL_FUNC_VISIBILITY aclnnStatus aclSetTensorAddr(aclOpExecutor* executor, const size_t index,
                                                 aclTensor* tensor, void* addr);
// Older spellings of the same.
ACL_FUNC_VISIBILITY aclnnStatus AclSetInputTensorAddr(aclOpExecutor* executor, const size_t index,
                                                      aclTensor* tensor, void* addr);
ACL_FUNC_VISIBILITY aclnnStatus AclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index,
                                                       aclTensor* tensor, void* addr);
ACL_FUNC_VISIBILITY aclnnStatus AclSetTensorAddr(aclOpExecutor* executor, const size_t index,
                                                 aclTensor* tensor, void* addr);

#ifdef __cplusplus
}
#endif

#endif
