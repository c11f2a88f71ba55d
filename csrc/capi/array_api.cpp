#include "ascend_grad/acl_int_array.h"

#include <cstring>

#include "capi/objects.h"
#include "capi/raw_value.h"
#include "core/float16.h"

using namespace ascend_grad;
using namespace ascend_grad::capi;

namespace {

// A negative count becomes a huge one; so many values have no memory.
constexpr uint64_t kMaxSize = PTRDIFF_MAX / sizeof(int64_t);

bool size_is_possible(const char* function, uint64_t size) {
    if (size <= kMaxSize) return true;
    report({StatusCode::kParamInvalid, function, "size",
            "must be at most " + std::to_string(kMaxSize) + ", got " + std::to_string(size)});
    return false;
}

template <class T>
std::vector<T> copy_of(const T* values, uint64_t size) {
    if (values == nullptr) return {};
    return std::vector<T>(values, values + size);
}

template <class T>
int destroy(const char* function, const char* parameter, HandleTable<T>& table,
            const void* handle) {
    if (handle == nullptr || table.remove(handle) != nullptr) return ACLNN_SUCCESS;
    return report({StatusCode::kParamNullptr, function, parameter, table.refuse(handle)});
}

template <class T>
int destroy_list(const char* function, HandleTable<const HandleList>& lists,
                 HandleTable<T>& elements, const void* handle) {
    if (handle == nullptr) return ACLNN_SUCCESS;
    const std::shared_ptr<const HandleList> list = lists.remove(handle);
    if (list == nullptr) {
        return report({StatusCode::kParamNullptr, function, "array", lists.refuse(handle)});
    }
    for (const void* element : list->handles) elements.remove(element);
    return ACLNN_SUCCESS;
}

// Null where an element is no live object.
template <class T>
void* create_list(const char* function, HandleTable<const HandleList>& lists,
                  const HandleTable<T>& elements, const void* const* value, uint64_t size) {
    if (!size_is_possible(function, size)) return nullptr;
    HandleList list;
    for (uint64_t i = 0; value != nullptr && i < size; ++i) {
        std::shared_ptr<T> element;
        const Status status = find_object(elements, function, "value", value[i], element);
        if (!status.ok()) {
            report(status);
            return nullptr;
        }
        list.handles.push_back(value[i]);
    }
    return lists.insert(std::make_shared<const HandleList>(std::move(list)));
}

template <class T, class Get>
int give_size(const char* function, const char* parameter, const HandleTable<T>& table,
              const void* handle, uint64_t* size, const Get& get) {
    std::shared_ptr<T> object;
    Status status = find_object(table, function, parameter, handle, object);
    if (status.ok() && size == nullptr)
        status = null_argument(StatusCode::kParamNullptr, function, "size");
    if (status.ok()) *size = get(*object).size();
    return report(status);
}

constexpr auto kValuesOf = [](const auto& object) -> const auto& {
    return object.values;
};
constexpr auto kHandlesOf = [](const HandleList& list) -> const auto& {
    return list.handles;
};

// Runs make(function), which gives a handle; null where it throws.
template <class Handle, class Make>
Handle* create(const char* function, const Make& make) {
    void* handle = nullptr;
    guarded(function, kAclnnCodes, [&](const char* name) -> int {
        handle = make(name);
        return ACLNN_SUCCESS;
    });
    return static_cast<Handle*>(handle);
}

template <class Handle, class Array, class T>
Handle* create_array(const char* function, HandleTable<Array>& (*table)(), const T* value,
                     uint64_t size) {
    return create<Handle>(function, [&](const char* name) -> void* {
        if (!size_is_possible(name, size)) return nullptr;
        return table().insert(std::make_shared<Array>(copy_of(value, size)));
    });
}

}  // namespace

aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size) {
    return create_array<aclIntArray>(__func__, int_arrays, value, size);
}

aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size) {
    return create_array<aclFloatArray>(__func__, float_arrays, value, size);
}

aclBoolArray* aclCreateBoolArray(const bool* value, uint64_t size) {
    return create_array<aclBoolArray>(__func__, bool_arrays, value, size);
}

aclScalar* aclCreateScalar(void* value, aclDataType dataType) {
    return create<aclScalar>(__func__, [&](const char* function) -> void* {
        Scalar scalar{{}, static_cast<DataType>(raw_value(dataType))};
        const auto size = static_cast<size_t>(data_type_size(scalar.dtype));
        if (value == nullptr) {
            report(null_argument(StatusCode::kParamNullptr, function, "value"));
            return nullptr;
        }
        if (size == 0) {
            report({StatusCode::kParamInvalid, function, "dataType",
                    std::string("must have elements of whole bytes, got ") +
                        data_type_name(scalar.dtype)});
            return nullptr;
        }
        std::memcpy(scalar.bytes, value, size);
        return scalars().insert(std::make_shared<const Scalar>(scalar));
    });
}

aclTensorList* aclCreateTensorList(const aclTensor* const* value, uint64_t size) {
    return create<aclTensorList>(__func__, [&](const char* function) {
        return create_list(function, tensor_lists(), tensors(),
                           reinterpret_cast<const void* const*>(value), size);
    });
}

aclScalarList* aclCreateScalarList(const aclScalar* const* value, uint64_t size) {
    return create<aclScalarList>(__func__, [&](const char* function) {
        return create_list(function, scalar_lists(), scalars(),
                           reinterpret_cast<const void* const*>(value), size);
    });
}

aclnnStatus aclDestroyTensor(const aclTensor* tensor) {
    return guarded(__func__, kAclnnCodes, [&](const char* function) {
        return destroy(function, "tensor", tensors(), tensor);
    });
}

aclnnStatus aclDestroyScalar(const aclScalar* scalar) {
    return guarded(__func__, kAclnnCodes, [&](const char* function) {
        return destroy(function, "scalar", scalars(), scalar);
    });
}

aclnnStatus aclDestroyIntArray(const aclIntArray* array) {
    return guarded(__func__, kAclnnCodes, [&](const char* function) {
        return destroy(function, "array", int_arrays(), array);
    });
}

aclnnStatus aclDestroyFloatArray(const aclFloatArray* array) {
    return guarded(__func__, kAclnnCodes, [&](const char* function) {
        return destroy(function, "array", float_arrays(), array);
    });
}

aclnnStatus aclDestroyBoolArray(const aclBoolArray* array) {
    return guarded(__func__, kAclnnCodes, [&](const char* function) {
        return destroy(function, "array", bool_arrays(), array);
    });
}

aclnnStatus aclDestroyTensorList(const aclTensorList* array) {
    return guarded(__func__, kAclnnCodes, [&](const char* function) {
        return destroy_list(function, tensor_lists(), tensors(), array);
    });
}

aclnnStatus aclDestroyScalarList(const aclScalarList* array) {
    return guarded(__func__, kAclnnCodes, [&](const char* function) {
        return destroy_list(function, scalar_lists(), scalars(), array);
    });
}

aclnnStatus aclGetIntArraySize(const aclIntArray* array, uint64_t* size) {
    return guarded(__func__, kAclnnCodes, [&](const char* function) {
        return give_size(function, "array", int_arrays(), array, size, kValuesOf);
    });
}

aclnnStatus aclGetIntArrayValues(const aclIntArray* array, const int64_t** values) {
    return guarded(__func__, kAclnnCodes, [&](const char* function) {
        if (values == nullptr)
            return report(null_argument(StatusCode::kParamNullptr, function, "values"));
        std::shared_ptr<const IntList> list;
        const Status status = find_object(int_arrays(), function, "array", array, list);
        if (status.ok()) *values = list->array.values;
        return report(status);
    });
}

aclnnStatus aclGetFloatArraySize(const aclFloatArray* array, uint64_t* size) {
    return guarded(__func__, kAclnnCodes, [&](const char* function) {
        return give_size(function, "array", float_arrays(), array, size, kValuesOf);
    });
}

aclnnStatus aclGetBoolArraySize(const aclBoolArray* array, uint64_t* size) {
    return guarded(__func__, kAclnnCodes, [&](const char* function) {
        return give_size(function, "array", bool_arrays(), array, size, kValuesOf);
    });
}

aclnnStatus aclGetTensorListSize(const aclTensorList* tensorList, uint64_t* size) {
    return guarded(__func__, kAclnnCodes, [&](const char* function) {
        return give_size(function, "tensorList", tensor_lists(), tensorList, size, kHandlesOf);
    });
}

aclnnStatus aclGetScalarListSize(const aclScalarList* scalarList, uint64_t* size) {
    return guarded(__func__, kAclnnCodes, [&](const char* function) {
        return give_size(function, "scalarList", scalar_lists(), scalarList, size, kHandlesOf);
    });
}

size_t aclDataTypeSize(aclDataType dataType) {
    return static_cast<size_t>(data_type_size(static_cast<DataType>(raw_value(dataType))));
}

float aclFloat16ToFloat(aclFloat16 value) {
    return to_float(Float16{value});
}

aclFloat16 aclFloatToFloat16(float value) {
    Float16 result;
    from_float(value, result);
    return result.bits;
}
