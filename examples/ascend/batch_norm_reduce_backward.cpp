// The sums of batch normalisation's backward pass on the device.
#include "device.h"

int main() {
    constexpr int64_t kBatch = 8, kChannels = 20, kPoints = 49;
    constexpr size_t kCount = kBatch * kChannels * kPoints;
    const std::vector<float> grad = values(kCount, 1), input = values(kCount, 2),
                             mean = values(kChannels, 3), invstd = values(kChannels, 4);
    Session session;
    const std::vector<int64_t> shape{kBatch, kChannels, kPoints}, channels{kChannels};
    const Array grad_array(shape, grad), input_array(shape, input), mean_array(channels, mean),
        invstd_array(channels, invstd);
    const Array sum_dy_array(channels), sum_dy_xmu_array(channels), grad_weight_array(channels),
        grad_bias_array(channels);
    const AscendGradTensor g = grad_array.tensor(), x = input_array.tensor(),
                           m = mean_array.tensor(), s = invstd_array.tensor(),
                           sum_dy = sum_dy_array.tensor(), sum_dy_xmu = sum_dy_xmu_array.tensor(),
                           grad_weight = grad_weight_array.tensor(),
                           grad_bias = grad_bias_array.tensor();
    CHECK(ascendGradBatchNormReduceBackward(&g, &x, &m, &s, nullptr, true, true, true, &sum_dy,
                                            &sum_dy_xmu, &grad_weight, &grad_bias, session.stream));
    CHECK(aclrtSynchronizeStream(session.stream));

    std::vector<double> sums(kChannels), products(kChannels), scaled(kChannels);
    for (size_t i = 0; i < kCount; ++i) {
        const size_t channel = i / kPoints % kChannels;
        sums[channel] += grad[i];
        products[channel] += grad[i] * (double(input[i]) - mean[channel]);
    }
    for (int64_t channel = 0; channel < kChannels; ++channel)
        scaled[channel] = products[channel] * invstd[channel];
    const double scale = 2.0 * kBatch * kPoints;
    return report("batch_norm_reduce_backward, sum_dy", sum_dy_array.read(), sums, scale) |
           report("batch_norm_reduce_backward, sum_dy_xmu", sum_dy_xmu_array.read(), products,
                  scale) |
           report("batch_norm_reduce_backward, grad_weight", grad_weight_array.read(), scaled,
                  scale) |
           report("batch_norm_reduce_backward, grad_bias", grad_bias_array.read(), sums, scale);
}
