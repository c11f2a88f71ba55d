#include "acl/acl_rt.h"
#include "capi/context.h"
#include "capi/raw_value.h"

using namespace ascend_grad;
using namespace ascend_grad::capi;

namespace {

// One end of a copy: the rows that it touches.
struct Side {
    const char* parameter;
    const void* address;
    size_t pitch;
    const char* pitch_parameter;
};

aclError check_count(const char* function, const char* limit_parameter, size_t limit,
                     size_t count) {
    if (count <= limit) return ACL_SUCCESS;
    return fail(ACL_ERROR_RT_PARAM_INVALID, function, "count",
                std::string("must be at most ") + limit_parameter + ", " + std::to_string(limit) +
                    ", got " + std::to_string(count));
}

aclError hold_memory(const char* function, const char* parameter, const void* pointer, size_t bytes,
                     BlockHold& block) {
    block = find_block(pointer);
    if (block == nullptr ? is_mapped(pointer, bytes) : block->holds(pointer, bytes))
        return ACL_SUCCESS;
    if (block == nullptr) {
        return fail(ACL_ERROR_RT_PARAM_INVALID, function, parameter,
                    std::to_string(bytes) +
                        " bytes must lie inside memory of the process, and some were freed before "
                        "or never allocated");
    }
    return fail(ACL_ERROR_RT_PARAM_INVALID, function, parameter,
                std::to_string(bytes) + " bytes must lie inside the allocated block, which has " +
                    std::to_string(block->size) + " in all");
}

aclError check_kind(const char* function, int32_t kind, int last) {
    if (kind >= 0 && kind <= last) return ACL_SUCCESS;
    return fail(ACL_ERROR_INVALID_PARAM, function, "kind",
                "must be between 0 and " + std::to_string(last) + ", got " + std::to_string(kind));
}

aclError make_copy(const char* function, const Side& to, const Side& from, size_t width,
                   size_t height, CopyTask& task) {
    const Side* sides[] = {&to, &from};
    for (int i = 0; i < 2; ++i) {
        const Side& side = *sides[i];
        if (side.address == nullptr) return fail_null(function, side.parameter);
        size_t bytes;
        if (side.pitch < width || __builtin_mul_overflow(side.pitch, height - 1, &bytes) ||
            __builtin_add_overflow(bytes, width, &bytes)) {
            return fail(ACL_ERROR_RT_PARAM_INVALID, function, side.pitch_parameter,
                        "must be at least width, " + std::to_string(width) + ", and fit memory " +
                            std::to_string(height) + " times, got " + std::to_string(side.pitch));
        }
        ACL_TRY(hold_memory(function, side.parameter, side.address, bytes, task.memory[i]));
    }
    task.destination = static_cast<char*>(const_cast<void*>(to.address));
    task.destination_pitch = to.pitch;
    task.source = static_cast<const char*>(from.address);
    task.source_pitch = from.pitch;
    task.width = width;
    task.height = height;
    return ACL_SUCCESS;
}

// Runs a task at once, or queues it where a stream is given.
template <class Work>
aclError submit(const char* function, Work&& task, Stream* stream) {
    if (stream != nullptr) return require_kept(function, stream->push(std::move(task)));
    task();
    return ACL_SUCCESS;
}

int copy(const char* function, const Side& to, size_t destMax, const Side& from, size_t count,
         int32_t kind, int last_kind, Stream* stream) {
    if (to.address == nullptr) return fail_null(function, to.parameter);
    if (from.address == nullptr) return fail_null(function, from.parameter);
    ACL_TRY(check_kind(function, kind, last_kind));
    ACL_TRY(check_count(function, "destMax", destMax, count));
    CopyTask task;
    ACL_TRY(make_copy(function, to, from, count, 1, task));
    return submit(function, std::move(task), stream);
}

int copy_2d(const char* function, const Side& to, const Side& from, size_t width, size_t height,
            int32_t kind, int last_kind, Stream* stream) {
    ACL_TRY(check_kind(function, kind, last_kind));
    CopyTask task;
    ACL_TRY(make_copy(function, to, from, width, height, task));
    return submit(function, std::move(task), stream);
}

int fill(const char* function, void* pointer, size_t limit, int32_t value, size_t count,
         Stream* stream) {
    if (pointer == nullptr) return fail_null(function, "devPtr");
    ACL_TRY(check_count(function, "maxCount", limit, count));
    FillTask task{pointer, value, count, {}};
    ACL_TRY(hold_memory(function, "devPtr", pointer, count, task.memory));
    return submit(function, std::move(task), stream);
}

constexpr int kLastSyncKind = ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE;
constexpr int kLastAsyncKind = ACL_MEMCPY_INTER_DEVICE_TO_DEVICE;

aclError require_context(const char* function) {
    std::shared_ptr<Context> context;
    return current_context(function, context);
}

}  // namespace

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count,
                     aclrtMemcpyKind kind) {
    return guarded(__func__, kAclCodes, [&](const char* function) -> int {
        if (count == 0) return ACL_SUCCESS;
        ACL_TRY(require_context(function));
        return copy(function, {"dst", dst, count, "count"}, destMax, {"src", src, count, "count"},
                    count, raw_value(kind), kLastSyncKind, nullptr);
    });
}

aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count,
                          aclrtMemcpyKind kind, aclrtStream stream) {
    return guarded(__func__, kAclCodes, [&](const char* function) -> int {
        if (count == 0) return ACL_SUCCESS;
        std::shared_ptr<Stream> queue;
        ACL_TRY(find_stream(function, "stream", stream, queue));
        return copy(function, {"dst", dst, count, "count"}, destMax, {"src", src, count, "count"},
                    count, raw_value(kind), kLastAsyncKind, queue.get());
    });
}

aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                       size_t height, aclrtMemcpyKind kind) {
    return guarded(__func__, kAclCodes, [&](const char* function) -> int {
        if (width == 0 || height == 0) return ACL_SUCCESS;
        ACL_TRY(require_context(function));
        return copy_2d(function, {"dst", dst, dpitch, "dpitch"}, {"src", src, spitch, "spitch"},
                       width, height, raw_value(kind), kLastSyncKind, nullptr);
    });
}

aclError aclrtMemcpy2dAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                            size_t height, aclrtMemcpyKind kind, aclrtStream stream) {
    return guarded(__func__, kAclCodes, [&](const char* function) -> int {
        if (width == 0 || height == 0) return ACL_SUCCESS;
        std::shared_ptr<Stream> queue;
        ACL_TRY(find_stream(function, "stream", stream, queue));
        return copy_2d(function, {"dst", dst, dpitch, "dpitch"}, {"src", src, spitch, "spitch"},
                       width, height, raw_value(kind), kLastAsyncKind, queue.get());
    });
}

aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count) {
    return guarded(__func__, kAclCodes, [&](const char* function) -> int {
        if (count == 0) return ACL_SUCCESS;
        ACL_TRY(require_context(function));
        return fill(function, devPtr, maxCount, value, count, nullptr);
    });
}

aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count,
                          aclrtStream stream) {
    return guarded(__func__, kAclCodes, [&](const char* function) -> int {
        if (count == 0) return ACL_SUCCESS;
        std::shared_ptr<Stream> queue;
        ACL_TRY(find_stream(function, "stream", stream, queue));
        return fill(function, devPtr, maxCount, value, count, queue.get());
    });
}
