// Broadcast comes with kernel_operator.h; kernels include it under this name too.
#pragma once

#include "kernel_operator.h"
