// Results are NaN when a kernel starts, once what the stream still has to do is done.
#include "launch/emulator_backend.h"

#include <acl/acl.h>

#include <cmath>
#include <vector>

#include "launch/backend.h"
#include "launch/kernel_table.h"
#include "require.h"

namespace launch = ascend_grad::launch;

const int launch::kArch = 220;

int main() {
    constexpr size_t kCount = 1 << 22;
    const std::vector<float> earlier(kCount, 2);
    std::vector<float> result(kCount, 1), copy(kCount);
    require(aclInit(nullptr) == ACL_SUCCESS && aclrtSetDevice(0) == ACL_SUCCESS, "acl begins");
    const size_t bytes = kCount * sizeof(float);
    require(aclrtMemcpyAsync(result.data(), bytes, earlier.data(), bytes,
                             ACL_MEMCPY_DEVICE_TO_DEVICE, nullptr) == ACL_SUCCESS &&
                aclrtMemcpyAsync(copy.data(), bytes, result.data(), bytes,
                                 ACL_MEMCPY_DEVICE_TO_DEVICE, nullptr) == ACL_SUCCESS,
            "copies are queued");
    launch::backend_watch(result.data(), bytes - 4, "result", false);
    launch::backend_spoil(result.data(), bytes - 4);
    bool was_nan = false;
    const auto look = [&] { was_nan = std::isnan(result[0]) && std::isnan(result[kCount - 2]); };
    require(launch::emulate("looks", 1, nullptr, look) == 0, "a kernel runs");
    require(was_nan, "a kernel begins with results that are NaN");
    require(result[kCount - 1] == 2, "what is behind them is left alone");
    require(copy == earlier, "earlier work of the stream comes first");
    result[0] = 3;
    require(launch::emulate("looks again", 1, nullptr, look) == 0, "another kernel runs");
    require(result[0] == 3, "only the first of a call begins with NaN");
    launch::backend_unwatch(result.data());
}
