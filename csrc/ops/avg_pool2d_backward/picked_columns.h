// Columns under windows that lie side by side, of any width: lines of columns are picked from lines
// of quotients.
#pragma once

#include "isa/picked_line.h"
#include "ops/avg_pool2d_backward/tile.h"

namespace ascend_grad {
namespace {

template <class T>
class PickedColumns {
    using Line = PickedLine<T>;
    static constexpr int kLine = Line::kElements;

  public:
    // Lines of columns that a pair of vectors of quotients makes.
    struct Lines {
        int last;          // its number
        int group, place;  // where its quotients are, and its places
        int rest;          // its columns
    };

    explicit PickedColumns(int width) : width_(width) {
        for (int window = 0, column = 0; window < kLine; ++window) {
            for (int i = 0; i < width; ++i, ++column)
                Line::set_place(places_[column / kLine], column % kLine, window);
        }
    }

    // Columns of a pair.
    int wide() const { return width_ * kPairLanes; }
    // Of so many of them.
    Lines lines_of(int columns) const {
        const int last = (columns - 1) / kLine;
        return {last, last / width_, last % width_, columns - last * kLine};
    }
    // Stores them to rows [out, end), `pitch` elements apart. The last line comes first: it may
    // reach over the beginning of the next row, but of the last row only `writable` elements from
    // the first column on may be written.
    AG_INLINE void store(const typename Packed<T>::Type& quotients, const Lines& lines, T* out,
                         const T* end, int64_t pitch, int64_t writable) const {
        typename Line::Type of_pair[kPairLanes / kLine];
        std::memcpy(of_pair, &quotients, sizeof(of_pair));
        const int width = width_, last = lines.last;
        T* to = out + last * kLine;
        const auto line = Line::picked(places_[lines.place], of_pair[lines.group]);
        if ((last + 1) * kLine <= writable) {
            store_down(to, end, pitch, line);
        } else {
            for (; to < end; to += pitch)
                std::memcpy(to, &line, sizeof(T) * static_cast<size_t>(lines.rest));
        }
        to = out;
        for (int group = 0, i = 0; i < last; ++group) {
            const auto from = of_pair[group];
            for (int place = 0; place < width && i < last; ++place, ++i, to += kLine)
                store_down(to, end, pitch, Line::picked(places_[place], from));
        }
    }

  private:
    static AG_INLINE void store_down(T* to, const T* end, int64_t pitch,
                                     const typename Line::Type& line) {
        for (; to < end; to += pitch) {
            prefetch_stores(to, kLine);
            std::memcpy(to, &line, sizeof(line));
        }
    }

    const int width_;  // of a window
    // Of the columns under a line of windows: which one of these.
    typename Line::Type places_[pool_scratch::kMostTiled];
};

}  // namespace
}  // namespace ascend_grad
