// Chooses the tiling of strips of columns.
#pragma once

#include "ops/softmax_backward/tiler.h"

namespace ascend_grad::softmax_backward {

// Floats that each block of a team contributes to its strip's sums.
int64_t shared_floats(const SoftmaxBackwardTiling& t);
// Estimated, of rows, with transposed copies before and after.
double copies_cycles(const Shape& shape, const device::Product& product);

class StripTiler {
  public:
    struct Choice {
        double cycles = 1e300;
        SoftmaxBackwardTiling tiling{};
        int64_t blocks = 1;
    };

    StripTiler(const Shape& shape, const device::Product& product)
        : shape_(shape), product_(product) {}
    Choice best();

  private:
    // Whether rows begin at blocks, where products store no less.
    bool has_whole_rows() const;
    // Whether parts of a strip begin at blocks if its planes do.
    bool may_team() const;
    bool may_pack() const;
    int64_t plane() const { return shape_.length * shape_.inner; }
    int64_t least_size() const { return shape_.least_size(); }
    // Rows or elements of a strip, of which units are made.
    int64_t all() const { return is_packed_ ? plane() : shape_.length; }
    // Bytes of sums after which columns and blocks repeat, sixteen floats each, if that is not a
    // row.
    int64_t row_bytes() const;
    int64_t packed_pitch() const;

    // Elements of a tile's unit, in a buffer.
    int64_t unit_of(const SoftmaxBackwardTiling& t) const;
    // Partial sums that a block has in its buffer at a time, at most.
    int64_t received_floats(const SoftmaxBackwardTiling& t) const;
    // Of the unified buffer, but for the tiles.
    int64_t fixed_bytes(const SoftmaxBackwardTiling& t, bool holds) const;
    // Units that a buffer can hold if there are that many.
    int64_t most_units(const SoftmaxBackwardTiling& t, int64_t buffers, bool holds) const;
    // Units of a part, at most.
    int64_t part_of(const SoftmaxBackwardTiling& t) const;
    // The first row that begins as far behind a multiple of 512 bytes as column `width` of row 0;
    // `unit`, after which that repeats, if there is none.
    int64_t shift_of(int64_t width, int64_t unit) const;

    void try_strips(int64_t width, int64_t unit, int64_t parts, int64_t most,
                    bool rows_apart = false);
    // With so many chunks in buffers, or more than there are (0). False where they do not fit.
    bool choose_teams(SoftmaxBackwardTiling& t, int64_t chunks, int64_t most_buffers, int64_t most);
    // What teams share out, once chunks are known.
    void set_groups(SoftmaxBackwardTiling& t) const;
    // Keeps the tiling if it is the fastest so far.
    void consider(const SoftmaxBackwardTiling& t, int64_t teams);

    // A rough count of a call's cycles.
    double cycles(const SoftmaxBackwardTiling& t, int64_t teams) const;
    // Against copies that begin evenly.
    double slowness(const SoftmaxBackwardTiling& t) const;

    const Shape& shape_;
    const device::Product& product_;
    bool is_packed_ = false;
    Choice best_;
};

}  // namespace ascend_grad::softmax_backward
