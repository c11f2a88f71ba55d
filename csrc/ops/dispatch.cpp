#include "isa/detect.h"
#include "isa/environment.h"
#include "ops/table.h"

namespace ascend_grad {

const KernelTable& kernel_table() {
#if !defined(__aarch64__)
    switch (environment().isa) {
        case Isa::kAvx512:
            return kernel_table_avx512;
        case Isa::kAvx2:
            return kernel_table_avx2;
        case Isa::kBaseline:
            break;
    }
#endif
    return kernel_table_baseline;
}

}  // namespace ascend_grad
