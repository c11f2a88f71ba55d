// Start and end of CANN's C interface, and its error text.
#ifndef ASCEND_GRAD_ACL_ACL_H
#define ASCEND_GRAD_ACL_ACL_H

#include "acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

// The interface version that the headers and the library implement.
#define ACL_MAJOR_VERSION 1
#define ACL_MINOR_VERSION 13
#define ACL_PATCH_VERSION 0

// This or aclnnInit must come before any runtime function or operator. configPath: null, or a file
// with a JSON object, of which nothing applies here: it is only looked at whether it begins and
// ends as one. ACL_ERROR_REPEAT_INITIALIZE when it was called before; ACL_ERROR_INVALID_FILE when
// the file cannot be read, ACL_ERROR_PARSE_FILE when it is no such object; ACL_ERROR_INVALID_PARAM
// when an ASCEND_GRAD_* environment variable is wrong.
ACL_FUNC_VISIBILITY aclError aclInit(const char* configPath);

// Objects made before stay valid until they are destroyed. ACL_ERROR_REPEAT_FINALIZE after another
// aclFinalize, ACL_ERROR_UNINITIALIZE without an aclInit.
ACL_FUNC_VISIBILITY aclError aclFinalize(void);

ACL_FUNC_VISIBILITY aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion,
                                             int32_t* patchVersion);

// Why the last call that failed on this thread did: function, parameter, rule, what was given.
// Null when none did. Valid until the next call on this thread.
ACL_FUNC_VISIBILITY const char* aclGetRecentErrMsg(void);

#ifdef __cplusplus
}
#endif

#endif
