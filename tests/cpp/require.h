// Ends a test where a fact does not hold.
#pragma once

#include <cstdio>
#include <cstdlib>

inline void require(bool fact, const char* rule) {
    if (fact) return;
    std::printf("%s\n", rule);
    std::exit(1);
}
