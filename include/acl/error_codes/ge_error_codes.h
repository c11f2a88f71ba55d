// In CANN, the status codes of its graph engine. There is none here, and no function returns one:
// this serves programs that include it by name.
#ifndef ASCEND_GRAD_ACL_ERROR_CODES_GE_ERROR_CODES_H
#define ASCEND_GRAD_ACL_ERROR_CODES_GE_ERROR_CODES_H

#endif
