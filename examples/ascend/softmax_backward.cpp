// Softmax backward on the device: out = output * (grad - SUM(grad * output)) along the last axis.
#include "device.h"

int main() {
    constexpr int64_t kRows = 96, kLength = 1000;
    const std::vector<float> grad = values(kRows * kLength, 1), output = values(kRows * kLength, 2);
    Session session;
    const Array grad_array({kRows, kLength}, grad), output_array({kRows, kLength}, output);
    const Array out_array({kRows, kLength});
    const AscendGradTensor g = grad_array.tensor(), y = output_array.tensor(),
                           out = out_array.tensor();
    CHECK(ascendGradSoftmaxBackward(&g, &y, 1, &out, session.stream));
    CHECK(aclrtSynchronizeStream(session.stream));

    std::vector<double> want(grad.size());
    for (int64_t row = 0; row < kRows; ++row) {
        const int64_t first = row * kLength;
        double sum = 0;
        for (int64_t i = first; i < first + kLength; ++i) sum += double(grad[i]) * output[i];
        for (int64_t i = first; i < first + kLength; ++i) want[i] = output[i] * (grad[i] - sum);
    }
    return report("softmax_backward", out_array.read(), want, kLength);
}
