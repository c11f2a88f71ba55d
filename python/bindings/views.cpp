#include "views.h"

#include "errors.h"

namespace ascend_grad::python {

void require_writable(const Context& context, bool writable) {
    if (context.is_output && !writable) {
        raise_invalid(context.operator_name, context.parameter,
                      "must be writable, got a read-only array");
    }
}

}  // namespace ascend_grad::python
