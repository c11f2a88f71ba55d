#include "isa/detect.h"
#include "isa/environment.h"
#include "ops/table.h"

namespace ascend_grad {
namespace {

const KernelTable& table_of(Isa isa) {
#if defined(__aarch64__)
    (void)isa;
    return kernel_table_baseline;
#else
    switch (isa) {
        case Isa::kAvx512:
            return kernel_table_avx512;
        case Isa::kAvx2:
            return kernel_table_avx2;
        case Isa::kBaseline:
            break;
    }
    return kernel_table_baseline;
#endif
}

}  // namespace

const KernelTable& kernel_table() {
    static const KernelTable& table = table_of(environment().isa);
    return table;
}

}  // namespace ascend_grad
