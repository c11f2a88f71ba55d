// PReLU backward on the device, one weight per channel.
#include "device.h"

int main() {
    constexpr int64_t kBatch = 8, kChannels = 24, kPoints = 35;
    constexpr size_t kCount = kBatch * kChannels * kPoints;
    const std::vector<float> grad = values(kCount, 1), input = values(kCount, 2),
                             weight = values(kChannels, 3);
    Session session;
    const std::vector<int64_t> shape{kBatch, kChannels, kPoints};
    const Array grad_array(shape, grad), input_array(shape, input),
        weight_array({kChannels}, weight);
    const Array grad_input_array(shape), grad_weight_array({kChannels});
    const AscendGradTensor g = grad_array.tensor(), x = input_array.tensor(),
                           w = weight_array.tensor(), grad_input = grad_input_array.tensor(),
                           grad_weight = grad_weight_array.tensor();
    CHECK(ascendGradPreluBackward(&g, &x, &w, &grad_input, &grad_weight, session.stream));
    CHECK(aclrtSynchronizeStream(session.stream));

    std::vector<double> want_input(kCount), want_weight(kChannels);
    for (size_t i = 0; i < kCount; ++i) {
        const size_t channel = i / kPoints % kChannels;
        want_input[i] = input[i] > 0 ? grad[i] : double(weight[channel]) * grad[i];
        want_weight[channel] += input[i] > 0 ? 0 : double(input[i]) * grad[i];
    }
    return report("prelu_backward, grad_input", grad_input_array.read(), want_input, 1) |
           report("prelu_backward, grad_weight", grad_weight_array.read(), want_weight,
                  kBatch * kPoints);
}
