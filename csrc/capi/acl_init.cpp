// aclInit and aclnnInit: the process as a whole.
#include <fstream>
#include <string>

#include "acl/acl.h"
#include "aclnn/aclnn_base.h"
#include "capi/context.h"
#include "core/soc.h"
#include "isa/environment.h"

using namespace ascend_grad;
using namespace ascend_grad::capi;

namespace {

std::atomic<bool> g_was_finalized{false};

// Nothing in the file applies to a CPU; it must be there and look like what it should be.
aclError check_configuration(const char* function, const char* path) {
    if (path == nullptr || path[0] == '\0') return ACL_SUCCESS;
    std::ifstream file(path);
    std::string text;
    std::getline(file, text, '\0');  // all of it; throws nothing where it is a folder
    if (!file.is_open() || file.bad())
        return fail(ACL_ERROR_INVALID_FILE, function, "configPath",
                    std::string("must name a file that can be read, got ") + path);
    const char* spaces = " \t\r\n";
    const size_t first = text.find_first_not_of(spaces);
    const size_t last = text.find_last_not_of(spaces);
    if (first != std::string::npos && text[first] == '{' && text[last] == '}') return ACL_SUCCESS;
    return fail(ACL_ERROR_PARSE_FILE, function, "configPath",
                std::string("must hold a JSON object: ") + path);
}

aclError start(const char* function, const char* path) {
    if (!environment().error.empty()) {
        return fail(ACL_ERROR_INVALID_PARAM, function, "", environment().error);
    }
    ACL_TRY(check_configuration(function, path));
    set_default_soc(environment().soc);
    return ACL_SUCCESS;
}

}  // namespace

aclError aclInit(const char* configPath) {
    return guarded(__func__, kAclCodes, [&](const char* function) -> int {
        if (initialisation().acl) {
            return fail(ACL_ERROR_REPEAT_INITIALIZE, function, "", "was called before");
        }
        ACL_TRY(start(function, configPath));
        if (initialisation().acl.exchange(true)) {
            return fail(ACL_ERROR_REPEAT_INITIALIZE, function, "", "was called before");
        }
        g_was_finalized = false;
        return ACL_SUCCESS;
    });
}

aclError aclFinalize() {
    return guarded(__func__, kAclCodes, [&](const char* function) -> int {
        if (initialisation().acl.exchange(false)) {
            g_was_finalized = true;
            return ACL_SUCCESS;
        }
        if (g_was_finalized)
            return fail(ACL_ERROR_REPEAT_FINALIZE, function, "", "was called before");
        return fail(ACL_ERROR_UNINITIALIZE, function, "", "aclInit must be called first");
    });
}

aclnnStatus aclnnInit(const char* configPath) {
    return guarded(__func__, kAclnnCodes, [&](const char* function) -> int {
        if (start(function, configPath) != ACL_SUCCESS) return ACLNN_ERR_PARAM_INVALID;
        initialisation().aclnn = true;
        return ACLNN_SUCCESS;
    });
}

aclnnStatus aclnnFinalize() {
    initialisation().aclnn = false;
    return ACLNN_SUCCESS;
}

aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion, int32_t* patchVersion) {
    return guarded(__func__, kAclCodes, [&](const char* function) -> int {
        if (majorVersion == nullptr) return fail_null(function, "majorVersion");
        if (minorVersion == nullptr) return fail_null(function, "minorVersion");
        if (patchVersion == nullptr) return fail_null(function, "patchVersion");
        *majorVersion = ACL_MAJOR_VERSION;
        *minorVersion = ACL_MINOR_VERSION;
        *patchVersion = ACL_PATCH_VERSION;
        return ACL_SUCCESS;
    });
}

const char* aclGetRecentErrMsg() {
    return recent_message();
}

const char* aclrtGetSocName() {
    return soc_info(default_soc()).cann_name;
}
