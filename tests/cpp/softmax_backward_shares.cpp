// What blocks take, by the kernel's own code: every plane or strip once, of strips every row or
// element in chunks that fit their buffers, and where it lies in memory.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "ascendc_emulator.h"
#include "device/product.h"
#include "hard_softmax.h"
#include "ops/softmax_backward/tiler.h"
#include "softmax_backward/strip_chunks.h"
#include "softmax_backward/tiles.h"

using namespace ascend_grad;
using softmax_backward::Shape;

namespace {

struct Case {
    Shape shape;
    SoftmaxBackwardTiling t;

    void require(bool fact, const char* rule, int64_t value) const {
        if (fact) return;
        std::printf(
            "%s: %lld\n  [%lld, %lld, %lld] of %lld -> %lld bytes, traversal %u, parts %u\n", rule,
            (long long)value, (long long)shape.outer, (long long)shape.length,
            (long long)shape.inner, (long long)shape.in_size, (long long)shape.out_size,
            t.traversal, t.parts);
        std::exit(1);
    }
    bool is_packed() const { return t.traversal == kSoftmaxPacked; }
    int64_t plane() const { return shape.length * shape.inner; }
};

// Rows or, packed, elements of a strip.
struct Piece {
    int64_t strip, begin, end;
    bool operator<(const Piece& other) const {
        return strip != other.strip ? strip < other.strip : begin < other.begin;
    }
};

Piece piece_of(const Case& c, int64_t index, const kernels::Strip& strip,
               const kernels::Chunk& chunk) {
    const int64_t inner = c.shape.inner, column = index % c.t.strips_per_plane * c.t.width;
    c.require(strip.columns == std::min<int64_t>(inner - column, c.t.width), "columns of a strip",
              strip.columns);
    // From the strip's first element on.
    const int64_t first = index / c.t.strips_per_plane * c.plane() + column;
    const int64_t at = static_cast<int64_t>(chunk.at) - first;
    if (!c.is_packed()) {
        c.require(at % inner == 0, "column of a chunk", at);
        return {index, at / inner, at / inner + chunk.count};
    }
    const int64_t before = strip.lead % (c.t.unit / 16);
    c.require(inner == 1 || (chunk.phase - before - at) % inner == 0, "phase of a chunk", at);
    return {index, at + chunk.skipped, at + chunk.count};
}

// What this block takes; neighbouring chunks are one piece.
std::vector<Piece> walk(const Case& c) {
    const kernels::StripChunks chunks(c.t);
    const int64_t parts = c.t.parts;
    const kernels::TeamShare share(c.t, AscendC::GetBlockNum() / parts,
                                   AscendC::GetBlockIdx() / parts);
    std::vector<Piece> pieces;
    for (int64_t i = share.first; i < share.last; ++i) {
        const kernels::Strip strip = chunks.strip(i);
        for (uint64_t k = 0; k < strip.chunks; ++k) {
            const kernels::Chunk chunk = chunks.chunk(strip, k);
            const Piece piece = piece_of(c, i, strip, chunk);
            c.require(piece.begin < piece.end, "a chunk without elements", piece.begin);
            c.require(chunks.size(chunk) <= c.t.buffer, "elements of a chunk", chunks.size(chunk));
            const bool goes_on = k > 0 && pieces.back().end == piece.begin;
            if (goes_on) {
                pieces.back().end = piece.end;
            } else {
                pieces.push_back(piece);
            }
        }
    }
    return pieces;
}

void check_items(const Case& c, int64_t teams) {
    int64_t end = 0;
    for (int64_t team = 0; team < teams; ++team) {
        const kernels::TeamShare share(c.t, teams, team);
        c.require(share.first == end && share.last > end, "items of a team", share.first);
        end = share.last;
    }
    c.require(end == c.t.items, "items without a team", end);
}

void check_strips(const Case& c, uint32_t blocks) {
    std::vector<std::vector<Piece>> of_block(blocks);
    ascendc_emulator::launch(__CCE_AICORE__, "walk", blocks,
                             [&] { of_block[AscendC::GetBlockIdx()] = walk(c); });
    std::vector<Piece> pieces;
    for (const std::vector<Piece>& some : of_block)
        pieces.insert(pieces.end(), some.begin(), some.end());
    std::sort(pieces.begin(), pieces.end());
    const int64_t all = c.is_packed() ? c.plane() : c.shape.length;
    int64_t strip = 0, end = 0;
    for (const Piece& piece : pieces) {
        c.require(piece.strip == strip && piece.begin == end, "a strip with a gap", strip);
        end = piece.end;
        if (end < all) continue;
        c.require(end == all, "a strip that is too long", strip);
        ++strip;
        end = 0;
    }
    c.require(strip == c.t.items && end == 0, "strips that are missing", strip);
}

}  // namespace

int main() {
    const Soc soc = __CCE_AICORE__ == 100 ? Soc::kAscend910 : Soc::kAscend910B;
    const device::Product product = device::product_of(soc, 0);
    int checked = 0;
    for (const auto& [outer, length, inner] : kHardSoftmax) {
        for (const int64_t in : {4, 2}) {
            for (const int64_t out : {4, 2}) {
                Case c{{outer, length, inner, in, out}, {}};
                uint32_t blocks = 0;
                if (!softmax_backward::tile(c.shape, product, c.t, blocks)) continue;
                check_items(c, blocks / c.t.parts);
                if (c.t.traversal != kSoftmaxColumns && !c.is_packed()) continue;
                check_strips(c, blocks);
                ++checked;
            }
        }
    }
    std::printf("%d tilings\n", checked);
    return checked > 20 ? 0 : 1;
}
