// gradOutput of other extents than the forward's output, which the C interface accepts: windows
// that it lacks add nothing, nor do those that begin beyond the input.
#include <algorithm>

#include "acl_test.h"

struct Case {
    int64_t planes, height, width, kernel, stride, padding;
};

// [begin, end) of a window inside the padded input.
struct Span {
    int64_t begin, end;
};
static Span span_of(int64_t window, const Case& c, int64_t extent) {
    const int64_t begin = window * c.stride - c.padding;
    return {begin, std::min(begin + c.kernel, extent + c.padding)};
}

static std::vector<float> reference(const Case& c, const std::vector<float>& grad, int64_t rows,
                                    int64_t columns, int64_t divisor) {
    std::vector<double> sums(static_cast<size_t>(c.planes * c.height * c.width));
    size_t at = 0;
    for (int64_t plane = 0; plane < c.planes; ++plane) {
        for (int64_t i = 0; i < rows; ++i) {
            for (int64_t j = 0; j < columns; ++j) {
                const Span y = span_of(i, c, c.height), x = span_of(j, c, c.width);
                const int64_t count = (y.end - y.begin) * (x.end - x.begin);
                const double quotient = static_cast<double>(grad[at++]) /
                                        static_cast<double>(divisor != 0 ? divisor : count);
                for (int64_t h = std::max<int64_t>(y.begin, 0); h < std::min(y.end, c.height); ++h)
                    for (int64_t w = std::max<int64_t>(x.begin, 0); w < std::min(x.end, c.width);
                         ++w)
                        sums[static_cast<size_t>((plane * c.height + h) * c.width + w)] += quotient;
            }
        }
    }
    return {sums.begin(), sums.end()};
}

// So that nothing on the stack happens to be zero.
__attribute__((noinline)) static void leave_nan_on_the_stack() {
    unsigned char memory[512 << 10];
    std::memset(memory, 0xff, sizeof(memory));
    asm volatile("" : : "r"(memory) : "memory");
}

static void run(const Case& c, int64_t rows, int64_t columns, int64_t divisor, aclrtStream stream) {
    const Shape shape = {1, c.planes, c.height, c.width}, grad_shape = {1, c.planes, rows, columns};
    const std::vector<float> values = values_like(grad_shape, 3);
    Tensor grad(grad_shape, values, ACL_FORMAT_NCHW), self(shape, {}, ACL_FORMAT_NCHW),
        grad_input(shape, {}, ACL_FORMAT_NCHW);
    aclIntArray* kernel = aclCreateIntArray(&c.kernel, 1);
    aclIntArray* stride = aclCreateIntArray(&c.stride, 1);
    aclIntArray* padding = aclCreateIntArray(&c.padding, 1);
    uint64_t workspace_size = 0;
    aclOpExecutor* executor = nullptr;
    CHECK_OK(aclnnAvgPool2dBackwardGetWorkspaceSize(grad, self, kernel, stride, padding, false,
                                                    true, divisor, 0, grad_input, &workspace_size,
                                                    &executor));
    leave_nan_on_the_stack();
    run_and_wait(aclnnAvgPool2dBackward, workspace_size, executor, stream);
    CHECK_CLOSE(grad_input.get(), reference(c, values, rows, columns, divisor));
    for (aclIntArray* array : {kernel, stride, padding}) CHECK_OK(aclDestroyIntArray(array));
}

int main() {
    start();
    aclrtStream stream;
    CHECK_OK(aclrtCreateStream(&stream));
    // One or more of each way to walk memory.
    const Case cases[] = {{2, 64, 64, 3, 2, 0},  {3, 29, 30, 3, 2, 1},  {2, 28, 57, 3, 2, 1},
                          {40, 12, 9, 3, 2, 1},  {3, 17, 17, 3, 1, 1},  {2, 20, 24, 5, 1, 2},
                          {40, 8, 8, 3, 1, 1},   {2, 28, 28, 2, 2, 0},  {40, 13, 13, 4, 5, 0},
                          {40, 24, 24, 3, 3, 0}, {5, 7, 7, 7, 7, 0},    {2, 31, 70, 4, 2, 1},
                          {1, 40, 40, 12, 5, 6}, {2, 150, 12, 90, 1, 0}};
    for (const Case& c : cases) {
        const auto extents = [&](int64_t extent) {
            const int64_t whole =
                std::max<int64_t>(extent + 2 * c.padding - c.kernel, 0) / c.stride + 1;
            return std::vector<int64_t>{1, 2, whole / 2 + 1, whole, whole + 1, whole + 9};
        };
        for (const int64_t rows : extents(c.height)) {
            for (const int64_t columns : extents(c.width))
                for (const int64_t divisor : {0, 3}) run(c, rows, columns, divisor, stream);
        }
    }
    CHECK_OK(aclrtDestroyStream(stream));
    stop();
}
