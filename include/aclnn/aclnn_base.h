// Start and end of the aclnn operators for programs that use nothing of acl/.
#ifndef ASCEND_GRAD_ACLNN_ACLNN_BASE_H
#define ASCEND_GRAD_ACLNN_ACLNN_BASE_H

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

// Either this or aclInit must come before an operator and the functions of acl_rt.h; phase 2 needs
// aclrtSetDevice or aclrtSetCurrentContext as well. configPath is as in aclInit:
// ACLNN_ERR_PARAM_INVALID about the file or an environment variable. May be repeated.
ACL_FUNC_VISIBILITY aclnnStatus aclnnInit(const char* configPath);
ACL_FUNC_VISIBILITY aclnnStatus aclnnFinalize(void);

#ifdef __cplusplus
}
#endif

#endif
