// Average pooling backward on the device: windows of 3 x 3, step 2, one row of padding.
#include "device.h"

int main() {
    constexpr int64_t kPlanes = 24, kSize = 17, kPooled = 9, kKernel = 3, kStride = 2, kPadding = 1;
    const std::vector<float> grad = values(kPlanes * kPooled * kPooled, 1);
    Session session;
    const Array grad_array({1, kPlanes, kPooled, kPooled}, grad);
    const Array grad_input_array({1, kPlanes, kSize, kSize});
    const AscendGradTensor g = grad_array.tensor(), grad_input = grad_input_array.tensor();
    const int64_t kernel[] = {kKernel, kKernel}, stride[] = {kStride, kStride},
                  padding[] = {kPadding, kPadding};
    // Mode 1, FP32 down to FP16 allowed, is one that every product takes.
    CHECK(ascendGradAvgPool2dBackward(&g, &grad_input, kernel, stride, padding, false, true, 0, 1,
                                      &grad_input, session.stream));
    CHECK(aclrtSynchronizeStream(session.stream));

    std::vector<double> want(kPlanes * kSize * kSize);
    for (int64_t plane = 0; plane < kPlanes; ++plane)
        for (int64_t i = 0; i < kPooled; ++i)
            for (int64_t j = 0; j < kPooled; ++j)
                for (int64_t y = i * kStride - kPadding; y < i * kStride - kPadding + kKernel; ++y)
                    for (int64_t x = j * kStride - kPadding; x < j * kStride - kPadding + kKernel;
                         ++x)
                        if (y >= 0 && y < kSize && x >= 0 && x < kSize)
                            want[(plane * kSize + y) * kSize + x] +=
                                grad[(plane * kPooled + i) * kPooled + j] / (kKernel * kKernel);
    // Products without float32 arithmetic of the matrix unit round to float16 on the way.
    return report("avg_pool2d_backward", grad_input_array.read(), want, 200);
}
