// Runs the catalogue; every kernel must stop with the expected rule at the marked line.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "ascendc_emulator.h"
#include "broken/broken.h"

BrokenKernel* BrokenKernel::first = nullptr;

namespace {

struct Expected {
    std::string rule;
    int line = 0;
};

Expected parse(const char* file) {
    std::ifstream in(file);
    Expected e;
    int line = 0;
    for (std::string text; std::getline(in, text);) {
        ++line;
        const size_t at = text.find("// expect: ");
        if (at == std::string::npos) continue;
        e = {text.substr(at + 11), line};
    }
    return e;
}

constexpr size_t kBytes = 65536;

}  // namespace

int main() {
    int failures = 0, count = 0;
    for (BrokenKernel* k = BrokenKernel::first; k != nullptr; k = k->next) {
        ++count;
        auto* x = static_cast<uint8_t*>(ascendc_emulator::GmAlloc(kBytes));
        auto* y = static_cast<uint8_t*>(ascendc_emulator::GmAlloc(kBytes));
        auto* z = static_cast<uint8_t*>(ascendc_emulator::GmAlloc(kBytes));
        auto* w = static_cast<uint8_t*>(ascendc_emulator::GmAlloc(kBytes));
        for (size_t i = 0; i < kBytes / 4; ++i)
            reinterpret_cast<float*>(x)[i] = reinterpret_cast<float*>(y)[i] = 1.0f;
        std::memset(w, 0, kBytes);
        const Expected want = parse(k->file);
        const auto result = ascendc_emulator::run(k->arch, "broken", k->blocks,
                                                  ascendc_emulator::Options(), k->run, x, y, z, w);
        const char* name = std::strrchr(k->file, '/') + 1;
        const bool caught = !result.reports.empty() && result.reports[0].rule == want.rule &&
                            result.reports[0].line == want.line &&
                            result.reports[0].file == k->file;
        std::printf("%-4s %-40s %s:%d\n", caught ? "ok" : "FAIL", name, want.rule.c_str(),
                    want.line);
        if (!caught) {
            ++failures;
            for (const auto& r : result.reports) std::printf("%s", r.text().c_str());
            if (result.reports.empty()) std::printf("  no report\n");
        }
        for (void* p : {x, y, z, w}) ascendc_emulator::GmFree(p);
    }
    std::printf("%d kernels, %d not caught\n", count, failures);
    return failures == 0 && count > 0 ? 0 : 1;
}
