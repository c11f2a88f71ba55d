// Vector kernels include this CANN header by habit. The matrix API itself is not emulated: using it
// does not compile.
#pragma once

#include "kernel_operator.h"
