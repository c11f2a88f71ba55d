#include "isa/copy_box.h"

#include "isa/copy_block.h"
#include "isa/stream.h"

namespace ascend_grad {
namespace {

constexpr int64_t kNear = 4096;  // elements
// Bytes of a part of a large box, whose lines on both sides stay in the nearest caches, measured.
constexpr int64_t kPartBytes = 32 << 10;

// Extents of parts of no more than `most` elements, with runs as long as possible on both sides.
void cut_into_parts(const CopyAxis* axes, int count, int64_t most, int64_t* extent) {
    for (int i = 0; i < count; ++i) extent[i] = 1;
    const auto part = [&](int i) { return extent[i]; };
    const auto all = [&](int i) { return axes[i].count; };
    int64_t elements = 1;
    for (;;) {
        int from, to;
        const int64_t run_from = run_of_part(
            count, part, all, [&](int i) { return axes[i].from; }, from);
        const int64_t run_to = run_of_part(
            count, part, all, [&](int i) { return axes[i].to; }, to);
        const int axis = from >= 0 && (to < 0 || run_from <= run_to) ? from : to;
        if (axis < 0) return;
        const int64_t longer = least(2 * extent[axis], axes[axis].count);
        if (elements / extent[axis] * longer > most) break;
        elements = elements / extent[axis] * longer;
        extent[axis] = longer;
    }
    for (int i = 0; i < count; ++i) {
        const int64_t parts = (axes[i].count + extent[i] - 1) / extent[i];
        const int64_t even = (axes[i].count + parts - 1) / parts;
        extent[i] =
            extent[i] < kLanes ? even : least(axes[i].count, (even + kLanes - 1) / kLanes * kLanes);
    }
}

template <class T>
void copy_part(char* to, const char* from, CopyAxis* axes, int left, CopyAhead ahead) {
    constexpr int64_t kSize = sizeof(T);
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

// Whether all that is written are whole cache lines, if runs of neighbours are.
AG_INLINE bool is_written_by_lines(const char* to, const CopyAxis* axes, int count, int64_t size) {
    bool result = is_whole_lines(to, 0);
    for (int i = 0; i < count; ++i)
        result = result && (axes[i].to == size || is_whole_lines(nullptr, axes[i].to));
    return result;
}

// By way of `bytes`, where the part is dense in the order of what is written, run by run.
template <class T>
void copy_by_dense(char* to, const char* from, const CopyAxis* axes, int count, int64_t ahead,
                   char* bytes) {
    CopyAxis in[kCopyAxes], out[kCopyAxes];
    // So that vectors of the first run lie to lines here as they do there.
    char* const dense = bytes + bytes_behind_line(to);
    int64_t pitch = sizeof(T);
    for (int i = count - 1; i >= 0; --i) {
        in[i] = {axes[i].count, axes[i].from, pitch};
        out[i] = {axes[i].count, pitch, axes[i].to};
        pitch *= axes[i].count;
    }
    copy_part<T>(dense, from, in, count, {ahead, 0, false});
    copy_part<T>(to, dense, out, count, {0, 0, true});
}

// Part after part in the order of what is written, asking for the lines of the next one.
template <class T>
void copy_parts(char* to, const char* from, CopyAxis* axes, int count, bool streams) {
    for (int i = 1; i < count; ++i)
        for (int j = i; j > 0 && bytes_apart(axes[j - 1].to) < bytes_apart(axes[j].to); --j)
            std::swap(axes[j - 1], axes[j]);
    int64_t extent[kCopyAxes], parts[kCopyAxes], all = 1;
    cut_into_parts(axes, count, kPartBytes / static_cast<int64_t>(sizeof(T)), extent);
    for (int i = 0; i < count; ++i) all *= parts[i] = (axes[i].count + extent[i] - 1) / extent[i];
    const auto place = [&](int64_t part, int64_t* first, int64_t& from_offset, int64_t& to_offset) {
        from_offset = to_offset = 0;
        for (int i = count - 1; i >= 0; --i) {
            first[i] = part % parts[i] * extent[i];
            part /= parts[i];
            from_offset += first[i] * axes[i].from;
            to_offset += first[i] * axes[i].to;
        }
    };
    const bool by_way_of_dense =
        streams && !is_written_by_lines(to, axes, count, static_cast<int64_t>(sizeof(T)));
    alignas(kCacheLine) char bytes[kPartBytes + kCacheLine];
    int64_t first[kCopyAxes], next[kCopyAxes], f, t, next_f, next_t;
    for (int64_t part = 0; part < all; ++part) {
        place(part, first, f, t);
        place(part + 1 < all ? part + 1 : part, next, next_f, next_t);
        CopyAxis some[kCopyAxes];
        for (int i = 0; i < count; ++i)
            some[i] = {least(extent[i], axes[i].count - first[i]), axes[i].from, axes[i].to};
        if (by_way_of_dense) {
            copy_by_dense<T>(to + t, from + f, some, count, next_f - f, bytes);
        } else {
            copy_part<T>(to + t, from + f, some, count,
                         {next_f - f, streams ? 0 : next_t - t, streams});
        }
    }
}

template <class T>
void copy_box_of(char* to, const char* from, CopyAxis* axes, int count, CopyAhead ahead) {
    join(axes, count);
    int left = 0;
    for (int i = 0; i < count; ++i)
        if (axes[i].count != 1) axes[left++] = axes[i];
    while (left < 3) axes[left++] = {1, 0, 0};
    int64_t bytes = sizeof(T);
    for (int i = 0; i < left; ++i) bytes *= axes[i].count;
    // Of two parts there is little to ask for.
    if (ahead.streams || (bytes > 2 * kPartBytes && ahead.from == 0 && ahead.to == 0)) {
        copy_parts<T>(to, from, axes, left, ahead.streams);
    } else {
        copy_part<T>(to, from, axes, left, ahead);
    }
    if (ahead.streams) stream_fence();
}

}  // namespace

const CopyBox KERNELS::copy_box[3] = {copy_box_of<Float16>, copy_box_of<float>,
                                      copy_box_of<double>};

}  // namespace ascend_grad
