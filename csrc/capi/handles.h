// Handles of live objects. A handle is a number that is never given out twice, not an address: one
// that was destroyed, belongs to another kind or was made up is recognised, and using it is an
// error.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "capi/fork_safety.h"

namespace ascend_grad::capi {

enum class HandleKind : uint8_t {
    kTensor,
    kIntArray,
    kFloatArray,
    kBoolArray,
    kScalar,
    kTensorList,
    kScalarList,
    kExecutor,
    kContext,
    kStream,
    kEvent,
};

// The next handle of a kind.
void* new_handle(HandleKind kind);
// What is said of a handle without an object: "must be a live aclTensor, got an aclTensor that was
// destroyed or used up", "..., got an aclIntArray", "..., got 0x7f00, which this library never gave
// out".
std::string refuse_handle(const void* handle, HandleKind expected);

// Objects outlive their handles while somebody uses them.
template <class T>
class HandleTable {
  public:
    explicit HandleTable(HandleKind kind) : kind_(kind) {}

    void* insert(std::shared_ptr<T> object) {
        void* const handle = new_handle(kind_);
        const std::lock_guard<std::mutex> lock(*mutex_);
        objects_.emplace(handle, std::move(object));
        return handle;
    }
    // Null when the handle names no live object.
    std::shared_ptr<T> find(const void* handle) const {
        const std::lock_guard<std::mutex> lock(*mutex_);
        const auto found = objects_.find(handle);
        return found == objects_.end() ? nullptr : found->second;
    }
    std::shared_ptr<T> remove(const void* handle) {
        const std::lock_guard<std::mutex> lock(*mutex_);
        const auto found = objects_.find(handle);
        if (found == objects_.end()) return nullptr;
        std::shared_ptr<T> object = std::move(found->second);
        objects_.erase(found);
        return object;
    }
    void replace(const void* handle, std::shared_ptr<T> object) {
        const std::lock_guard<std::mutex> lock(*mutex_);
        const auto found = objects_.find(handle);
        if (found != objects_.end()) found->second.swap(object);
    }
    std::vector<std::shared_ptr<T>> all() const {
        const std::lock_guard<std::mutex> lock(*mutex_);
        std::vector<std::shared_ptr<T>> result;
        for (const auto& entry : objects_) result.push_back(entry.second);
        return result;
    }
    // In a forked child, before fork returns there: its lock is held.
    template <class Function>
    void for_each_in_child(const Function& function) {
        for (const auto& entry : objects_) function(*entry.second);
    }
    std::string refuse(const void* handle) const { return refuse_handle(handle, kind_); }

  private:
    const HandleKind kind_;
    std::mutex* const mutex_ = make_fork_safe_mutex();
    std::unordered_map<const void*, std::shared_ptr<T>> objects_;
};

}  // namespace ascend_grad::capi
