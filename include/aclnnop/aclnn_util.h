#ifndef ASCEND_GRAD_ACLNNOP_ACLNN_UTIL_H
#define ASCEND_GRAD_ACLNNOP_ACLNN_UTIL_H

#define ACLNN_API __attribute__((visibility("default")))

#endif
