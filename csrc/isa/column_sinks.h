// Results whose columns are written side by side.
#pragma once

#include "isa/stream.h"

namespace ascend_grad {
namespace {

// Contiguous destinations, columns, each written front to back past the caches in runs that need
// not fill lines. What does not waits for the column's next run; of lines that two columns share
// both parts go together.
class ColumnSinks {
  public:
    static constexpr int kMost = 1024;         // columns
    static constexpr int kTogether = 16;       // that are written at a time
    static constexpr int64_t kRunBytes = 512;  // of a run, at most

    ColumnSinks() = default;
    ~ColumnSinks() {
        drain();
        stream_fence();
    }
    ColumnSinks(const ColumnSinks&) = delete;
    ColumnSinks& operator=(const ColumnSinks&) = delete;

    // Continues with so many columns, `stride` bytes apart, of which the first one goes on at `to`.
    void move_to(char* to, int64_t stride, int columns) {
        if (to == end_ && stride == stride_ && columns == columns_) return;
        drain();
        begin_ = end_ = to;
        stride_ = stride;
        columns_ = columns;
        // So that buffers lie to their lines as columns do.
        pitch_ = kPitch + (stride & (kCacheLine - 1));
    }
    // All columns have this much more.
    void advance(int64_t bytes) { end_ += bytes; }

    int64_t pitch() const { return pitch_; }
    // Where to write the next run of `count` columns, pitch() bytes apart, of which `column` is the
    // first and goes on at `to`.
    AG_INLINE char* reserve(int column, int count, const char* to) {
        char* const start = buffer_ + bytes_behind_line(to);
        for (int c = 0; c < count; ++c) copy_line(line_of(start + c * pitch_), tails_[column + c]);
        return start;
    }
    AG_INLINE void commit(int column, int count, char* to, int64_t bytes) {
        char* start = buffer_ + bytes_behind_line(to);
        for (int c = 0; c < count; ++c, start += pitch_, to += stride_) {
            const char* from = line_of(start);
            char* line = line_of(to);
            const int64_t end = start + bytes - from;
            int64_t skipped = 0;
            if (end >= kCacheLine && line < begin_ + (column + c) * stride_) {
                copy_line(heads_[column + c], from);
                skipped = kCacheLine;
            }
            const int64_t whole = end / kCacheLine * kCacheLine;
            stream_lines(line + skipped, from + skipped, static_cast<size_t>(whole - skipped));
            copy_line(tails_[column + c], from + whole);
        }
    }

  private:
    // A run with the rest of a line before it and one behind.
    static constexpr int64_t kPitch = kRunBytes + 2 * kCacheLine;

    template <class Byte>
    static Byte* line_of(Byte* p) {
        return p - bytes_behind_line(p);
    }
    static void copy_line(char* to, const char* from) { std::memcpy(to, from, kCacheLine); }

    // Writes what does not fill lines.
    AG_NOINLINE void drain() {
        if (begin_ == end_) return;
        const bool are_dense = end_ - begin_ == stride_ && stride_ >= kCacheLine;
        for (int c = 0; c < columns_; ++c) {
            char* const begin = begin_ + c * stride_;
            char* const end = end_ + c * stride_;
            const int64_t before = bytes_behind_line(begin), in_last = bytes_behind_line(end);
            const bool is_one_line = end - in_last < begin;
            if (before > 0 && !is_one_line && (c == 0 || !are_dense))
                parts_.write(begin, heads_[c] + before, kCacheLine - before);
            if (in_last == 0) continue;
            if (are_dense && c + 1 < columns_) {
                std::memcpy(heads_[c + 1], tails_[c], static_cast<size_t>(in_last));
                stream_lines(end - in_last, heads_[c + 1], kCacheLine);
                continue;
            }
            const int64_t first = is_one_line ? before : 0;
            if (in_last > first)
                parts_.write(end - in_last + first, tails_[c] + first, in_last - first);
        }
        begin_ = end_;
    }

    char* begin_ = nullptr;  // of the first column
    char* end_ = nullptr;
    int64_t stride_ = 0, pitch_ = 0;
    int columns_ = 0;
    LineParts parts_;
    alignas(kCacheLine) char buffer_[kTogether * (kPitch + kCacheLine)];
    alignas(kCacheLine) char tails_[kMost][kCacheLine];  // up to where a column is
    alignas(kCacheLine) char heads_[kMost][kCacheLine];  // of a first line that another one shares
};

}  // namespace
}  // namespace ascend_grad
