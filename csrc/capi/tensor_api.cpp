#include <algorithm>

#include "capi/objects.h"
#include "capi/raw_value.h"

using namespace ascend_grad;
using namespace ascend_grad::capi;

namespace {

constexpr uint64_t kMaxDimensions = 25;

Status check_dims(const char* function, const char* parameter, const int64_t* values,
                  uint64_t count) {
    if (count > 0 && values == nullptr)
        return null_argument(StatusCode::kParamNullptr, function, parameter);
    if (count <= kMaxDimensions) return {};
    return {StatusCode::kParamInvalid, function, parameter,
            "must have at most 25 dimensions, got " + std::to_string(count)};
}

// A null stride means contiguous. Products that do not fit wrap: such a shape is refused when the
// tensor is used.
std::vector<int64_t> strides_of(const std::vector<int64_t>& shape, const int64_t* stride) {
    if (stride != nullptr) return {stride, stride + shape.size()};
    std::vector<int64_t> strides(shape.size());
    uint64_t next = 1;
    for (size_t i = shape.size(); i-- > 0;) {
        strides[i] = static_cast<int64_t>(next);
        next *= static_cast<uint64_t>(std::max<int64_t>(shape[i], 1));
    }
    return strides;
}

// A copy of one of the tensor's arrays for the caller.
int give_array(const char* function, const aclTensor* handle, std::vector<int64_t> Tensor::*member,
               const char* values_parameter, int64_t** values, const char* count_parameter,
               uint64_t* count) {
    std::shared_ptr<const Tensor> tensor;
    Status status = find_object(tensors(), function, "tensor", handle, tensor);
    if (status.ok() && values == nullptr) {
        status = null_argument(StatusCode::kParamNullptr, function, values_parameter);
    }
    if (status.ok() && count == nullptr) {
        status = null_argument(StatusCode::kParamNullptr, function, count_parameter);
    }
    if (!status.ok()) return report(status);
    const std::vector<int64_t>& source = (*tensor).*member;
    auto* const copy = new int64_t[source.size()];
    std::copy(source.begin(), source.end(), copy);
    *values = copy;
    *count = source.size();
    return ACLNN_SUCCESS;
}

// One number of the tensor for the caller.
template <class Result, class Get>
int give_value(const char* function, const aclTensor* handle, const char* parameter, Result* result,
               const Get& get) {
    std::shared_ptr<const Tensor> tensor;
    Status status = find_object(tensors(), function, "tensor", handle, tensor);
    if (status.ok() && result == nullptr)
        status = null_argument(StatusCode::kParamNullptr, function, parameter);
    if (status.ok()) *result = get(*tensor);
    return report(status);
}

}  // namespace

aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum, aclDataType dataType,
                           const int64_t* stride, int64_t offset, aclFormat format,
                           const int64_t* storageDims, uint64_t storageDimsNum, void* tensorData) {
    aclTensor* result = nullptr;
    guarded(__func__, kAclnnCodes, [&](const char* function) -> int {
        Status status = check_dims(function, "viewDims", viewDims, viewDimsNum);
        if (status.ok()) status = check_dims(function, "storageDims", storageDims, storageDimsNum);
        if (!status.ok()) return report(status);
        std::vector<int64_t> shape(viewDims, viewDims + viewDimsNum);
        std::vector<int64_t> strides = strides_of(shape, stride);
        result = static_cast<aclTensor*>(tensors().insert(
            std::make_shared<const Tensor>(Tensor{std::move(shape),
                                                  std::move(strides),
                                                  {storageDims, storageDims + storageDimsNum},
                                                  offset,
                                                  static_cast<DataType>(raw_value(dataType)),
                                                  static_cast<Format>(raw_value(format)),
                                                  static_cast<char*>(tensorData)})));
        return ACLNN_SUCCESS;
    });
    return result;
}

aclnnStatus aclInitTensor(aclTensor* tensor, const int64_t* viewDims, uint64_t viewDimsNum,
                          aclDataType dataType, const int64_t* stride, int64_t offset,
                          aclFormat format, const int64_t* storageDims, uint64_t storageDimsNum,
                          void* tensorData) {
    return guarded(__func__, kAclnnCodes, [&](const char* function) -> int {
        std::shared_ptr<const Tensor> old;
        Status status = find_object(tensors(), function, "tensor", tensor, old);
        if (status.ok() && viewDims != nullptr)
            status = check_dims(function, "viewDims", viewDims, viewDimsNum);
        if (status.ok() && storageDims != nullptr) {
            status = check_dims(function, "storageDims", storageDims, storageDimsNum);
        }
        if (!status.ok()) return report(status);
        Tensor made = *old;
        if (viewDims != nullptr) {
            made.shape.assign(viewDims, viewDims + viewDimsNum);
            made.strides = strides_of(made.shape, stride);
        }
        if (storageDims != nullptr)
            made.storage_shape.assign(storageDims, storageDims + storageDimsNum);
        if (tensorData != nullptr) made.address = static_cast<char*>(tensorData);
        made.offset = offset;
        made.dtype = static_cast<DataType>(raw_value(dataType));
        made.format = static_cast<Format>(raw_value(format));
        tensors().replace(tensor, std::make_shared<const Tensor>(std::move(made)));
        return ACLNN_SUCCESS;
    });
}

aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** viewDims, uint64_t* viewDimsNum) {
    return guarded(__func__, kAclnnCodes, [&](const char* function) {
        return give_array(function, tensor, &Tensor::shape, "viewDims", viewDims, "viewDimsNum",
                          viewDimsNum);
    });
}

aclnnStatus aclGetStorageShape(const aclTensor* tensor, int64_t** storageDims,
                               uint64_t* storageDimsNum) {
    return guarded(__func__, kAclnnCodes, [&](const char* function) {
        return give_array(function, tensor, &Tensor::storage_shape, "storageDims", storageDims,
                          "storageDimsNum", storageDimsNum);
    });
}

aclnnStatus aclGetViewStrides(const aclTensor* tensor, int64_t** stridesValue,
                              uint64_t* stridesNum) {
    return guarded(__func__, kAclnnCodes, [&](const char* function) {
        return give_array(function, tensor, &Tensor::strides, "stridesValue", stridesValue,
                          "stridesNum", stridesNum);
    });
}

aclnnStatus aclGetViewOffset(const aclTensor* tensor, int64_t* offset) {
    return guarded(__func__, kAclnnCodes, [&](const char* function) {
        return give_value(function, tensor, "offset", offset,
                          [](const Tensor& t) { return t.offset; });
    });
}

aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format) {
    return guarded(__func__, kAclnnCodes, [&](const char* function) {
        return give_value(function, tensor, "format", format,
                          [](const Tensor& t) { return static_cast<aclFormat>(t.format); });
    });
}

aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dataType) {
    return guarded(__func__, kAclnnCodes, [&](const char* function) {
        return give_value(function, tensor, "dataType", dataType,
                          [](const Tensor& t) { return static_cast<aclDataType>(t.dtype); });
    });
}

aclnnStatus aclGetRawTensorAddr(const aclTensor* tensor, void** addr) {
    return guarded(__func__, kAclnnCodes, [&](const char* function) {
        return give_value(function, tensor, "addr", addr,
                          [](const Tensor& t) { return t.address; });
    });
}

aclnnStatus aclSetRawTensorAddr(aclTensor* tensor, void* addr) {
    return guarded(__func__, kAclnnCodes, [&](const char* function) -> int {
        std::shared_ptr<const Tensor> old;
        const Status status = find_object(tensors(), function, "tensor", tensor, old);
        if (!status.ok()) return report(status);
        set_address(tensor, *old, addr);
        return ACLNN_SUCCESS;
    });
}
