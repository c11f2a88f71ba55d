// Stores past the caches.
#pragma once

#include "core/cache_line.h"
#include "isa/pair.h"

namespace ascend_grad {
namespace {

// From p to where a cache line begins.
AG_INLINE int64_t bytes_to_line(const void* p) {
    return -reinterpret_cast<intptr_t>(p) & (kCacheLine - 1);
}
// From where p's cache line begins to p.
AG_INLINE int64_t bytes_behind_line(const void* p) {
    return reinterpret_cast<intptr_t>(p) & (kCacheLine - 1);
}
// Elements from p to where a cache line begins, at most n.
template <class T>
AG_INLINE int elements_to_line(const T* p, int n) {
    return static_cast<int>(least(bytes_to_line(p) / static_cast<int64_t>(sizeof(T)), n));
}
// Of a run of n elements, of which every kStep-th counts, and at least `from` bytes: those from p
// to where a cache line begins, so that vectors after them do not cross the ends of lines.
template <int kStep, class T>
AG_INLINE int long_head(const T* p, int n, int64_t from = kLongRun) {
    const bool is_long = kStep == 1 && n * static_cast<int64_t>(sizeof(T)) >= from;
    return is_long ? elements_to_line(p, n) : 0;
}
// Whether a long run of elements, of `bytes` bytes, can be streamed from its first line on.
template <class T>
AG_INLINE bool streams_long(const T* p, int64_t bytes) {
    return bytes >= kLongRun && bytes_to_line(p) % static_cast<int64_t>(sizeof(T)) == 0;
}
// Whether p, and all that lies multiples of `bytes` behind it, begins with a cache line.
AG_INLINE bool is_whole_lines(const void* p, int64_t bytes) {
    return (reinterpret_cast<intptr_t>(p) | bytes) % kCacheLine == 0;
}
// Whether runs of `bytes` bytes, `pitch` bytes from one to the next, are streamed where they lie.
template <class T>
AG_INLINE bool streams_runs(const T* p, int64_t bytes, int64_t pitch) {
    return is_whole_lines(p, bytes | pitch) ||
           (streams_long(p, bytes) && pitch % static_cast<int64_t>(sizeof(T)) == 0);
}

// Non-temporal copy of whole cache lines to a destination that begins with one; fence before others
// read it.
AG_INLINE void stream_lines(char* to, const char* from, size_t bytes) {
#if defined(__x86_64__)
    for (size_t i = 0; i < bytes; i += kCacheLine) {
#if defined(__AVX512F__)
        _mm512_stream_si512(reinterpret_cast<__m512i*>(to + i), _mm512_loadu_si512(from + i));
#elif defined(__AVX2__)
        for (size_t j = 0; j < kCacheLine; j += 32) {
            _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i + j),
                                _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i + j)));
        }
#else
        for (size_t j = 0; j < kCacheLine; j += 16) {
            _mm_stream_si128(reinterpret_cast<__m128i*>(to + i + j),
                             _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i + j)));
        }
#endif
    }
#else
    std::memcpy(to, from, bytes);
#endif
}
// The same anywhere: copy_part(to, from, bytes) copies the parts of lines at both ends.
template <class CopyPart>
AG_INLINE void stream_run(char* to, const char* from, int64_t bytes, const CopyPart& copy_part) {
    const int64_t before = least(bytes_to_line(to), bytes);
    const int64_t end = before + (bytes - before) / kCacheLine * kCacheLine;
    if (before > 0) copy_part(to, from, before);
    stream_lines(to + before, from + before, static_cast<size_t>(end - before));
    if (end < bytes) copy_part(to + end, from + end, bytes - end);
}
inline void stream_run(char* to, const char* from, size_t bytes) {
    stream_run(to, from, static_cast<int64_t>(bytes), [](char* t, const char* f, int64_t n) {
        std::memcpy(t, f, static_cast<size_t>(n));
    });
}
// Non-temporal copy of a multiple of 16 bytes to a 16-byte aligned address; fence before others
// read it.
AG_INLINE void stream_bytes(char* p, const char* from, size_t bytes) {
#if defined(__x86_64__)
    if (is_whole_lines(p, static_cast<int64_t>(bytes))) return stream_lines(p, from, bytes);
    for (size_t i = 0; i < bytes; i += 16) {
        _mm_stream_si128(reinterpret_cast<__m128i*>(p + i),
                         _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
    }
#else
    std::memcpy(p, from, bytes);
#endif
}
// Non-temporal stores to 16-byte aligned addresses.
AG_INLINE void stream_store(float* p, Lanes x) {
    x = canonical(x);
    stream_bytes(reinterpret_cast<char*>(p), reinterpret_cast<const char*>(&x), sizeof(x));
}
template <class T>
AG_INLINE void stream_store(T* p, Lanes x) {
    const HalfVector bits = narrow(x, T{});
    stream_bytes(reinterpret_cast<char*>(p), reinterpret_cast<const char*>(&bits), sizeof(bits));
}

template <class T>
AG_INLINE void stream_packed(T* p, const typename Packed<T>::Type& x) {
    stream_bytes(reinterpret_cast<char*>(p), reinterpret_cast<const char*>(&x), sizeof(x));
}
template <class T>
AG_INLINE void stream_store_pair(T* p, LanePair x) {
    stream_packed(p, pack<T>(x));
}
// The first n elements, which are whole cache lines.
template <class T>
AG_INLINE void stream_first_packed(T* p, const typename Packed<T>::Type& x, int n) {
    stream_bytes(reinterpret_cast<char*>(p), reinterpret_cast<const char*>(&x),
                 sizeof(T) * static_cast<size_t>(n));
}
// Past the caches or not.
template <class T>
AG_INLINE void store_packed_to(T* p, const typename Packed<T>::Type& x, bool streams) {
    if (streams) {
        stream_packed(p, x);
    } else {
        store_packed(p, x);
    }
}
template <bool kStreams, class T>
AG_INLINE void store_to(T* p, Lanes x) {
    if constexpr (kStreams) {
        stream_store(p, x);
    } else {
        store(p, x);
    }
}
template <bool kStreams, class T>
AG_INLINE void store_pair_to(T* p, LanePair x) {
    if constexpr (kStreams) {
        stream_store_pair(p, x);
    } else {
        store_pair(p, x);
    }
}
AG_INLINE void stream_fence() {
#if defined(__x86_64__)
    _mm_sfence();
#endif
}

// A contiguous destination that is written front to back. Streaming, it collects elements in a
// small buffer and writes whole cache lines past the caches; otherwise elements go straight to
// memory.
template <class T>
class Sink {
  public:
    static constexpr int kReserve = 1024;  // the most elements of one reserve()

    Sink(bool streaming, void* destination) : streaming_(streaming) { restart(destination); }
    ~Sink() {
        drain();
        if (streaming_) stream_fence();
    }
    Sink(const Sink&) = delete;
    Sink& operator=(const Sink&) = delete;

    // Continues at another address.
    AG_INLINE void move_to(void* destination) {
        if (destination != position()) leave_for(destination);
    }
    // Where to write the next n elements; they count once committed.
    T* reserve(int n) {
        if (!streaming_) return reinterpret_cast<T*>(to_);
        if (filled_ + n * sizeof(T) > kPage) flush_lines();
        return reinterpret_cast<T*>(buffer_ + filled_);
    }
    void commit(int n) {
        if (streaming_) {
            filled_ += n * sizeof(T);
        } else {
            to_ += n * sizeof(T);
        }
    }

  private:
    // The buffer is a page: at other offsets from pages loops through it were measured to take up
    // to 1.7 times as long (Zen 4).
    static constexpr size_t kPage = 4096;
    static_assert(kReserve * sizeof(T) <= kPage);
    static constexpr size_t kCapacity = kPage + kCacheLine;

    void* position() const { return streaming_ ? to_ + (filled_ - skipped_) : to_; }
    void leave_for(void* destination) {
        drain();
        restart(destination);
    }
    void restart(void* destination) {
        to_ = static_cast<char*>(destination);
        // The buffer lies to its lines as the destination lies to its own.
        skipped_ = streaming_ ? reinterpret_cast<uintptr_t>(destination) % kCacheLine : 0;
        filled_ = skipped_;
    }
    // Writes what fills whole lines and keeps the rest.
    void flush_lines() {
        size_t from = skipped_;
        if (skipped_ > 0 && filled_ >= kCacheLine) {
            std::memcpy(to_, buffer_ + skipped_, kCacheLine - skipped_);
            to_ += kCacheLine - skipped_;
            from = kCacheLine;
        }
        if (skipped_ > 0 && filled_ < kCacheLine) return;
        const size_t whole = (filled_ - from) / kCacheLine * kCacheLine;
        stream_lines(to_, buffer_ + from, whole);
        to_ += whole;
        const size_t rest = filled_ - from - whole;
        std::memmove(buffer_, buffer_ + from + whole, rest);
        skipped_ = 0;
        filled_ = rest;
    }
    void drain() {
        if (!streaming_ || to_ == nullptr) return;
        flush_lines();
        std::memcpy(to_, buffer_ + skipped_, filled_ - skipped_);
        to_ += filled_ - skipped_;
        skipped_ = filled_ = 0;
    }

    const bool streaming_;
    char* to_;            // where the next byte of memory is written
    size_t skipped_ = 0;  // bytes of the buffer's first line that belong to others
    size_t filled_ = 0;   // end of the data in the buffer
    alignas(kPage) char buffer_[kCapacity];
};
// Cache lines that are written in two parts at different times: once both are there, and are the
// line, they go past the caches. Stores past the caches wait for ordinary ones to memory (measured:
// two to three times the time with one line of thirty-two in parts). Other parts, and what is still
// in parts at the end, are stored by ordinary stores, which need no fence.
class LineParts {
    static constexpr int kParts = 4;
    struct Part {
        alignas(64) char bytes[kCacheLine];
        char* line = nullptr;
        int64_t offset = 0, count = 0;
    };

  public:
    LineParts() = default;
    ~LineParts() {
        for (Part& part : parts_) store(part);
    }
    LineParts(const LineParts&) = delete;
    LineParts& operator=(const LineParts&) = delete;

    // Bytes whose part of a first line, and whose part of a last one, are such parts.
    AG_NOINLINE void write(char* to, const char* from, int64_t bytes) {
        stream_run(to, from, bytes,
                   [this](char* t, const char* f, int64_t n) { write_part(t, f, n); });
    }

  private:
    void write_part(char* to, const char* from, int64_t bytes) {
        const int64_t offset = reinterpret_cast<intptr_t>(to) % kCacheLine;
        char* const line = to - offset;
        for (Part& part : parts_) {
            if (part.line != line) continue;
            if (part.count + bytes < kCacheLine) {
                store(part);
                break;
            }
            std::memcpy(part.bytes + offset, from, static_cast<size_t>(bytes));
            stream_lines(line, part.bytes, sizeof(part.bytes));
            part.line = nullptr;
            return;
        }
        Part& part = free_part();
        part.line = line;
        part.offset = offset;
        part.count = bytes;
        std::memcpy(part.bytes + offset, from, static_cast<size_t>(bytes));
    }
    Part& free_part() {
        for (Part& part : parts_)
            if (part.line == nullptr) return part;
        Part& part = parts_[next_];
        next_ = (next_ + 1) % kParts;
        store(part);
        return part;
    }
    static void store(Part& part) {
        if (part.line == nullptr) return;
        std::memcpy(part.line + part.offset, part.bytes + part.offset,
                    static_cast<size_t>(part.count));
        part.line = nullptr;
    }

    Part parts_[kParts];
    int next_ = 0;
};

}  // namespace
}  // namespace ascend_grad
