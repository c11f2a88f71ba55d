#include "isa/copy_box.h"

#include "isa/copy_block.h"

namespace ascend_grad {
namespace {

constexpr int64_t kNear = 4096;  // elements

template <class T>
void copy_box_of(char* to, const char* from, CopyAxis* axes, int count, CopyAhead ahead) {
    constexpr int64_t kSize = sizeof(T);
    join(axes, count);
    int left = 0;
    for (int i = 0; i < count; ++i)
        if (axes[i].count != 1) axes[left++] = axes[i];
    while (left < 3) axes[left++] = {1, 0, 0};
    // Those along which neighbours are neighbours come last, before them what lies nearest.
    const auto rank = [&](const CopyAxis& a) {
        if (a.count == 1) return INT64_MAX;
        return a.from == kSize || a.to == kSize ? 0 : bytes_apart(a.from) + bytes_apart(a.to);
    };
    for (int i = 1; i < left; ++i)
        for (int j = i; j > 0 && rank(axes[j - 1]) < rank(axes[j]); --j)
            std::swap(axes[j - 1], axes[j]);
    // Copied one by one, elements should stay in the nearest cache.
    const int64_t step = greatest(1, kNear / (axes[left - 2].count * axes[left - 1].count));
    int64_t outer = 1;
    for (int i = 0; i < left - 3; ++i) outer *= axes[i].count;
    for (int64_t n = 0; n < outer; ++n) {
        int64_t from_offset = 0, to_offset = 0, rest = n;
        for (int i = left - 4; i >= 0; --i) {
            from_offset += rest % axes[i].count * axes[i].from;
            to_offset += rest % axes[i].count * axes[i].to;
            rest /= axes[i].count;
        }
        const CopyAxis& far = axes[left - 3];
        for (int64_t done = 0; done < far.count; done += step) {
            CopyAxis inner[] = {
                {least(step, far.count - done), far.from, far.to}, axes[left - 2], axes[left - 1]};
            copy_block<T>(to + to_offset + done * far.to, from + from_offset + done * far.from,
                          inner, nullptr, ahead);
        }
    }
}

}  // namespace

const CopyBox KERNELS::copy_box[3] = {copy_box_of<Float16>, copy_box_of<float>,
                                      copy_box_of<double>};

}  // namespace ascend_grad
