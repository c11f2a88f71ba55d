// One call per API, form and element type; check_values.py recomputes each with NumPy.
#include "values.h"

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    values::output = std::fopen(argv[1], "wb");
    if (values::output == nullptr) return 2;
    std::fprintf(values::output, "soc %s\n", ASCENDC_EMULATOR_SOC_NAME);
    values::elementwise_values();
    values::conversion_values();
    values::reduction_values();
    values::move_values();
    std::fclose(values::output);
    return values::failures == 0 ? 0 : 1;
}
