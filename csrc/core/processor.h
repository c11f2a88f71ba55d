// How this processor's memory is best asked for.
#pragma once

namespace ascend_grad {

// Measured (docs/performance.md, "Prefetching").
struct Prefetching {
    // Whether loops that run along memory ask for the lines that they will load. Where not,
    // hardware finds them by itself, and asking makes it up to 1.5 times slower.
    bool along_memory;
    // Whether lines are asked for into the second cache; else into the first.
    bool into_second;
};

const Prefetching& prefetching();

}  // namespace ascend_grad
