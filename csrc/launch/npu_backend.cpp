#include <acl/acl.h>
// The only header of CANN that can read an aclIntArray; its accessors are libnnopbase's.
#include <aclnn/opdev/common_types.h>

#include "launch/backend.h"
#include "launch/kernel_table.h"

namespace ascend_grad::launch {

bool backend_core_count(int32_t device, uint32_t& cores) {
    // Kernels run on vector cores where the product has them apart from its AI cores.
    const aclDeviceInfo kind =
        kArch == 220 ? ACL_DEVICE_INFO_VECTOR_CORE_NUM : ACL_DEVICE_INFO_AI_CORE_NUM;
    int64_t count = 0;
    const aclError code = aclGetDeviceCapability(static_cast<uint32_t>(device), kind, &count);
    cores = static_cast<uint32_t>(count);
    return code == ACL_SUCCESS && count > 0;
}

void backend_set_records(std::vector<LaunchRecord>*) {}
void backend_watch(void*, size_t, const std::string&, bool) {}
void backend_unwatch(void*) {}
void backend_spoil(void*, size_t) {}

bool backend_int_array(const aclIntArray* array, const int64_t*& values, int64_t& size) {
    values = array->GetData();
    size = static_cast<int64_t>(array->Size());
    return true;
}

}  // namespace ascend_grad::launch
