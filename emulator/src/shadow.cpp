#include "shadow.h"

#include <algorithm>

namespace ascendc_emulator {
namespace {
constexpr uint64_t kBlock = 32;
}

const char* pipe_name(int pipe) {
    constexpr const char* kNames[] = {"S", "V", "MTE2", "MTE3"};
    return pipe >= 0 && pipe < kPipes ? kNames[pipe] : "-";
}

AccessMap::Record::Record(const Record& other) {
    *this = other;
}

AccessMap::Record& AccessMap::Record::operator=(const Record& other) {
    write = other.write;
    read[0] = other.read[0];
    read[1] = other.read[1];
    more = other.more ? std::make_unique<More>(*other.more) : nullptr;
    return *this;
}

AccessMap::More& AccessMap::Record::rest() {
    if (!more) more = std::make_unique<More>();
    return *more;
}

AccessMap::AccessMap(uint64_t bytes, uint32_t page_bytes)
    : page_bytes_(page_bytes), pages_((bytes + page_bytes - 1) / page_bytes) {}

void AccessMap::clear() {
    for (auto& page : pages_) page.reset();
}

void AccessMap::add_read(Record& record, const Access& now) {
    for (Access& r : record.read) {
        if (r.clock == 0 || r.agent == now.agent) {
            r = now;
            return;
        }
    }
    auto& reads = record.rest().reads;
    for (Access& r : reads) {
        if (r.agent == now.agent) {
            r = now;
            return;
        }
    }
    reads.push_back(now);
}

// The last write stays beside an atomic one: what commutes with that may be unordered with this.
void AccessMap::keep_write(Record& record, const Access& now) {
    const auto alike = [&](const Access& w) {
        return w.agent == now.agent && w.atomic == now.atomic;
    };
    if (record.write.clock == 0 || alike(record.write)) return;
    auto& writes = record.rest().writes;
    const auto older = std::find_if(writes.begin(), writes.end(), alike);
    if (older == writes.end())
        writes.push_back(record.write);
    else
        *older = record.write;
}

void AccessMap::apply(Record& record, uint64_t byte, const Access& now, bool writes,
                      const Order& order, Conflict& conflict) {
    if (!conflict.found) {
        const auto check = [&](const Access& earlier, bool earlier_writes) {
            if (earlier.clock == 0 || conflict.found) return;
            const bool commute = writes && earlier_writes && now.atomic != 0;
            if (commute && earlier.atomic == now.atomic) return;
            if (order.before(earlier, earlier_writes, now)) return;
            conflict = {true, earlier, earlier_writes, byte};
        };
        check(record.write, true);
        if (record.more)
            for (const Access& w : record.more->writes) check(w, true);
        if (writes) {
            check(record.read[0], false);
            check(record.read[1], false);
            if (record.more)
                for (const Access& r : record.more->reads) check(r, false);
        }
    }
    if (!writes) return add_read(record, now);
    if (now.atomic != 0) {
        keep_write(record, now);
    } else {
        record.read[0] = record.read[1] = Access();
        record.more.reset();
    }
    record.write = now;
}

void AccessMap::access_block(Block& block, uint64_t base, uint64_t begin, uint64_t end,
                             const Access& now, bool writes, const Order& order,
                             Conflict& conflict) {
    const bool whole = begin == base && end == base + kBlock;
    if (!block.bytes) {
        if (whole) return apply(block.record, base, now, writes, order, conflict);
        block.bytes = std::make_unique<Record[]>(kBlock);
        for (uint64_t i = 0; i < kBlock; ++i) block.bytes[i] = block.record;
    }
    for (uint64_t b = begin; b < end; ++b)
        apply(block.bytes[b - base], b, now, writes, order, conflict);
    if (whole && writes && now.atomic == 0) {
        block.record = std::move(block.bytes[0]);
        block.bytes.reset();
    }
}

void AccessMap::access_page(Page& page, uint64_t base, uint64_t begin, uint64_t end,
                            const Access& now, bool writes, const Order& order,
                            Conflict& conflict) {
    page.cached = page.cached || now.cached;
    const bool whole = begin == base && end == base + page_bytes_;
    const uint64_t blocks = page_bytes_ / kBlock;
    if (!page.blocks) {
        if (whole) return apply(page.record, base, now, writes, order, conflict);
        page.blocks = std::make_unique<Block[]>(blocks);
        if (page.record.write.clock != 0 || page.record.read[0].clock != 0)
            for (uint64_t i = 0; i < blocks; ++i) page.blocks[i].record = page.record;
    }
    for (uint64_t b = begin / kBlock * kBlock; b < end; b += kBlock)
        access_block(page.blocks[(b - base) / kBlock], b, std::max(b, begin),
                     std::min(b + kBlock, end), now, writes, order, conflict);
    if (whole && writes && now.atomic == 0) {
        page.record = std::move(page.blocks[0].record);
        page.blocks.reset();
    }
}

Conflict AccessMap::access(uint64_t begin, uint64_t end, const Access& now, bool writes,
                           const Order& order) {
    Conflict conflict;
    for (uint64_t p = begin / page_bytes_; p * page_bytes_ < end; ++p) {
        if (!pages_[p]) pages_[p] = std::make_unique<Page>();
        const uint64_t base = p * page_bytes_;
        access_page(*pages_[p], base, std::max(base, begin), std::min(base + page_bytes_, end), now,
                    writes, order, conflict);
    }
    return conflict;
}

Access AccessMap::last_write(uint64_t byte) const {
    const auto& page = pages_[byte / page_bytes_];
    if (!page) return {};
    if (!page->blocks) return page->record.write;
    const Block& block = page->blocks[byte % page_bytes_ / kBlock];
    return block.bytes ? block.bytes[byte % kBlock].write : block.record.write;
}

uint64_t AccessMap::find_cached(uint64_t begin, uint64_t end, uint32_t agent) const {
    for (uint64_t byte = begin; byte < end;) {
        const auto& page = pages_[byte / page_bytes_];
        uint64_t step = page_bytes_;  // bytes with one record
        if (page && page->cached) {
            const Access write = last_write(byte);
            if (write.cached && write.agent != agent) return byte;
            if (page->blocks) step = page->blocks[byte % page_bytes_ / kBlock].bytes ? 1 : kBlock;
        }
        byte = (byte / step + 1) * step;
    }
    return end;
}

void AccessMap::uncache(uint64_t begin, uint64_t end, uint32_t agent) {
    for (uint64_t byte = begin; byte < end; ++byte) {
        auto& page = pages_[byte / page_bytes_];
        if (!page) continue;
        Record* record = &page->record;
        if (page->blocks) {
            Block& block = page->blocks[byte % page_bytes_ / kBlock];
            record = block.bytes ? &block.bytes[byte % kBlock] : &block.record;
        }
        if (record->write.agent == agent) record->write.cached = false;
    }
}

InitMap::InitMap(uint64_t bytes, bool value) : pages_((bytes + kPageBytes - 1) / kPageBytes) {
    if (value)
        for (Page& p : pages_) p.state = kAll;
}

template <typename Fn>
void InitMap::pieces(uint64_t begin, uint64_t end, Fn fn) const {
    for (uint64_t p = begin / kPageBytes; p * kPageBytes < end; ++p) {
        const uint64_t base = p * kPageBytes;
        if (!fn(p, std::max(base, begin) - base, std::min(base + kPageBytes, end) - base)) return;
    }
}

void InitMap::set(uint64_t begin, uint64_t end, bool value) {
    pieces(begin, end, [&](uint64_t index, uint64_t b, uint64_t e) {
        Page& page = pages_[index];
        const State wanted = value ? kAll : kNone;
        if (page.state == wanted) return true;
        if (b == 0 && e == kPageBytes) {
            page.state = wanted;
            page.bits.reset();
            return true;
        }
        if (page.state != kMixed) {
            page.bits = std::make_unique<uint64_t[]>(kPageBytes / 64);
            std::fill_n(page.bits.get(), kPageBytes / 64, page.state == kAll ? ~uint64_t(0) : 0);
            page.state = kMixed;
        }
        for (uint64_t w = b / 64; w * 64 < e; ++w) {
            const uint64_t lo = w * 64 < b ? b % 64 : 0;
            const uint64_t hi = std::min<uint64_t>(e - w * 64, 64);
            const uint64_t mask =
                (hi == 64 ? ~uint64_t(0) : (uint64_t(1) << hi) - 1) & ~((uint64_t(1) << lo) - 1);
            page.bits[w] = value ? page.bits[w] | mask : page.bits[w] & ~mask;
        }
        return true;
    });
}

uint64_t InitMap::find(uint64_t begin, uint64_t end, bool value) const {
    uint64_t found = end;
    pieces(begin, end, [&](uint64_t index, uint64_t b, uint64_t e) {
        const Page& page = pages_[index];
        const uint64_t base = index * kPageBytes;
        if (page.state != kMixed) {
            if ((page.state == kAll) == value) found = base + b;
            return found == end;
        }
        for (uint64_t i = b; i < e;) {
            uint64_t word = value ? page.bits[i / 64] : ~page.bits[i / 64];
            word &= ~uint64_t(0) << (i % 64);
            if (word != 0) {
                const uint64_t hit = i / 64 * 64 + static_cast<uint64_t>(__builtin_ctzll(word));
                if (hit < e) found = base + hit;
                return found == end;
            }
            i = (i / 64 + 1) * 64;
        }
        return true;
    });
    return found;
}

bool InitMap::all(uint64_t begin, uint64_t end) const {
    return find(begin, end, false) == end;
}
bool InitMap::any(uint64_t begin, uint64_t end) const {
    return find(begin, end, true) != end;
}
bool InitMap::test(uint64_t byte) const {
    return any(byte, byte + 1);
}

}  // namespace ascendc_emulator
