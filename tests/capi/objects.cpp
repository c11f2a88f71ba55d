// Tensors, arrays, scalars and lists give back what they were made of.
#include "acl_test.h"

static void tensors() {
    const Shape shape = {2, 3}, strides = {5, 1}, storage = {4, 5};
    int anything = 0;
    aclTensor* tensor = aclCreateTensor(shape.data(), 2, ACL_BF16, strides.data(), 4,
                                        ACL_FORMAT_NCHW, storage.data(), 2, &anything);
    int64_t *values = nullptr, offset = 0;
    uint64_t count = 0;
    const auto gives = [&](aclnnStatus (*get)(const aclTensor*, int64_t**, uint64_t*),
                           const Shape& wanted) {
        CHECK_OK(get(tensor, &values, &count));
        CHECK(Shape(values, values + count) == wanted);
        delete[] values;
        CHECK_FAILS(ACLNN_ERR_PARAM_NULLPTR, get(nullptr, &values, &count), "tensor");
        CHECK_STATUS(ACLNN_ERR_PARAM_NULLPTR, get(tensor, nullptr, &count));
        CHECK_STATUS(ACLNN_ERR_PARAM_NULLPTR, get(tensor, &values, nullptr));
    };
    gives(aclGetViewShape, shape);
    gives(aclGetViewStrides, strides);
    gives(aclGetStorageShape, storage);
    aclFormat format = ACL_FORMAT_UNDEFINED;
    aclDataType dtype = ACL_DT_UNDEFINED;
    void* address = nullptr;
    CHECK_OK(aclGetViewOffset(tensor, &offset));
    CHECK_OK(aclGetFormat(tensor, &format));
    CHECK_OK(aclGetDataType(tensor, &dtype));
    CHECK_OK(aclGetRawTensorAddr(tensor, &address));
    CHECK(offset == 4 && format == ACL_FORMAT_NCHW && dtype == ACL_BF16 && address == &anything);
    CHECK_FAILS(ACLNN_ERR_PARAM_NULLPTR, aclGetViewOffset(tensor, nullptr), "offset");
    CHECK_FAILS(ACLNN_ERR_PARAM_NULLPTR, aclGetFormat(nullptr, &format), "tensor");
    CHECK_FAILS(ACLNN_ERR_PARAM_NULLPTR, aclGetRawTensorAddr(tensor, nullptr), "addr");
    CHECK_FAILS(ACLNN_ERR_PARAM_NULLPTR, aclSetRawTensorAddr(nullptr, nullptr), "tensor");
    CHECK_OK(aclSetRawTensorAddr(tensor, nullptr));
    CHECK_OK(aclGetRawTensorAddr(tensor, &address));
    CHECK(address == nullptr);

    // Null arrays and a null address leave theirs; the rest is replaced.
    const Shape cube = {2, 2, 2};
    CHECK_OK(aclInitTensor(tensor, cube.data(), 3, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0,
                           &anything));
    gives(aclGetViewShape, cube);
    gives(aclGetViewStrides, {4, 2, 1});
    gives(aclGetStorageShape, storage);
    CHECK_OK(aclInitTensor(tensor, nullptr, 0, ACL_FLOAT16, nullptr, 1, ACL_FORMAT_ND, cube.data(),
                           3, nullptr));
    gives(aclGetViewShape, cube);
    gives(aclGetStorageShape, cube);
    CHECK_OK(aclGetRawTensorAddr(tensor, &address));
    CHECK(address == &anything);
    CHECK_FAILS(ACLNN_ERR_PARAM_NULLPTR,
                aclInitTensor(nullptr, cube.data(), 3, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND,
                              nullptr, 0, nullptr),
                "tensor");
    CHECK_OK(aclDestroyTensor(tensor));

    tensor =
        aclCreateTensor(nullptr, 0, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, &anything);
    CHECK(tensor != nullptr);
    gives(aclGetViewShape, {});
    CHECK_OK(aclDestroyTensor(tensor));
}

template <class Handle>
static void has_size(aclnnStatus (*get)(const Handle*, uint64_t*), Handle* handle,
                     uint64_t wanted) {
    uint64_t size = 77;
    CHECK(handle != nullptr);
    CHECK_OK(get(handle, &size));
    CHECK(size == wanted);
    CHECK_STATUS(ACLNN_ERR_PARAM_NULLPTR, get(nullptr, &size));
    CHECK_STATUS(ACLNN_ERR_PARAM_NULLPTR, get(handle, nullptr));
}

static void arrays() {
    const int64_t ints[] = {1, 2, 3};
    const float floats[] = {1, 2};
    const bool bools[] = {true};
    aclIntArray* int_array = aclCreateIntArray(ints, 3);
    aclIntArray* empty = aclCreateIntArray(nullptr, 0);
    aclIntArray* from_null = aclCreateIntArray(nullptr, 5);
    aclFloatArray* float_array = aclCreateFloatArray(floats, 2);
    aclBoolArray* bool_array = aclCreateBoolArray(bools, 1);
    has_size(aclGetIntArraySize, int_array, 3);
    has_size(aclGetIntArraySize, empty, 0);
    has_size(aclGetIntArraySize, from_null, 0);
    has_size(aclGetFloatArraySize, float_array, 2);
    has_size(aclGetBoolArraySize, bool_array, 1);
    for (aclIntArray* array : {int_array, empty, from_null}) CHECK_OK(aclDestroyIntArray(array));
    CHECK_OK(aclDestroyFloatArray(float_array));
    CHECK_OK(aclDestroyBoolArray(bool_array));
    CHECK_FAILS(ACLNN_ERR_PARAM_NULLPTR, aclDestroyBoolArray(bool_array), "destroyed");
}

static void lists() {
    float value = 1;
    const aclScalar* scalars[] = {aclCreateScalar(&value, ACL_FLOAT),
                                  aclCreateScalar(&value, ACL_FLOAT)};
    CHECK(aclCreateScalar(nullptr, ACL_FLOAT) == nullptr &&
          aclCreateScalar(&value, ACL_STRING) == nullptr);
    aclScalarList* scalar_list = aclCreateScalarList(scalars, 2);
    has_size(aclGetScalarListSize, scalar_list, 2);
    const int64_t one = 1;
    const aclTensor* tensors[] = {
        aclCreateTensor(&one, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &one, 1, nullptr), nullptr};
    CHECK(aclCreateTensorList(tensors, 2) == nullptr);
    aclTensorList* tensor_list = aclCreateTensorList(tensors, 1);
    has_size(aclGetTensorListSize, tensor_list, 1);
    // A list takes its elements with it.
    CHECK_OK(aclDestroyScalarList(scalar_list));
    CHECK_FAILS(ACLNN_ERR_PARAM_NULLPTR, aclDestroyScalar(scalars[0]), "destroyed");
    CHECK_OK(aclDestroyTensorList(tensor_list));
    CHECK_FAILS(ACLNN_ERR_PARAM_NULLPTR, aclDestroyTensor(tensors[0]), "destroyed");
    CHECK_FAILS(ACLNN_ERR_PARAM_NULLPTR, aclDestroyTensorList(tensor_list), "destroyed");
    CHECK_OK(aclDestroyScalarList(nullptr));
}

int main() {
    tensors();
    arrays();
    lists();
}
