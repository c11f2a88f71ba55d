#include "core/layout.h"

#include <utility>

#include "core/integers.h"

namespace ascend_grad {

int64_t Loops::iterations() const {
    int64_t product = 1;
    for (int i = 0; i < count; ++i) product *= extent[i];
    return product;
}

void Loops::append(int64_t size, const int64_t* strides) {
    extent[count] = size;
    for (int k = 0; k < operands; ++k) stride[count][k] = strides[k];
    ++count;
}

void Loops::merge() {
    int kept = 0;
    for (int i = 0; i < count; ++i) {
        if (extent[i] == 1) continue;
        bool joins = kept > 0;
        for (int k = 0; joins && k < operands; ++k) {
            joins = stride[kept - 1][k] == stride[i][k] * extent[i];
        }
        const int target = joins ? kept - 1 : kept++;
        extent[target] = joins ? extent[target] * extent[i] : extent[i];
        for (int k = 0; k < operands; ++k) stride[target][k] = stride[i][k];
    }
    count = kept;
}

void Loops::sort() {
    // Insertion sort: a handful of loops, and equal strides keep their order.
    for (int i = 1; i < count; ++i) {
        for (int j = i; j > 0; --j) {
            if (magnitude(stride[j - 1][operands - 1]) >= magnitude(stride[j][operands - 1])) break;
            std::swap(extent[j - 1], extent[j]);
            std::swap(stride[j - 1], stride[j]);
        }
    }
}

}  // namespace ascend_grad
