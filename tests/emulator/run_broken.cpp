// Runs the catalogue: every kernel must stop with the expected rule at the marked line and with the
// report of reports.txt beside it; repaired, it must run without one. Notes are on where a note is
// expected.
// run_broken --write makes reports.txt anew.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "ascendc_emulator.h"
#include "broken/broken.h"

BrokenKernel* BrokenKernel::first = nullptr;

namespace {

struct Expected {
    std::string rule;
    int line = 0;
    bool note = false;
};

Expected marked(const std::string& file) {
    std::ifstream in(file);
    Expected e;
    int line = 0;
    for (std::string text; std::getline(in, text);) {
        ++line;
        for (const std::string marker : {"// expect: ", "// expect note: "}) {
            const size_t at = text.find(marker);
            if (at != std::string::npos)
                e = {text.substr(at + marker.size()), line, marker != "// expect: "};
        }
    }
    return e;
}

constexpr size_t kBytes = 65536;

ascendc_emulator::Result run(const BrokenKernel& k, BrokenKernel::Run kernel, bool notes) {
    uint8_t* memory[4];
    const char* const names[4] = {"x", "y", "z", "workspace"};
    for (int i = 0; i < 4; ++i) {
        memory[i] = static_cast<uint8_t*>(ascendc_emulator::GmAlloc(kBytes));
        ascendc_emulator::name_gm(memory[i], names[i]);
    }
    for (int i = 0; i < 2; ++i)
        std::fill_n(reinterpret_cast<float*>(memory[i]), kBytes / sizeof(float), 1.0f);
    std::memset(memory[3], 0, kBytes);
    InTurn::next = 0;
    ascendc_emulator::Options options;
    options.notes = notes;
    auto result = ascendc_emulator::run(k.arch, "broken", k.blocks, options, kernel, memory[0],
                                        memory[1], memory[2], memory[3]);
    for (uint8_t* p : memory) ascendc_emulator::GmFree(p);
    return result;
}

// Without what differs from machine to machine: the folder, and addresses of no buffer.
std::string portable(std::string text, const std::string& folder) {
    for (size_t at; (at = text.find(folder)) != std::string::npos;) text.erase(at, folder.size());
    if (const size_t at = text.find("address 0x"); at != std::string::npos)
        text.replace(at + 8, text.find_first_of(" \n", at + 8) - at - 8, "...");
    return text;
}

// reports.txt: "== file.cpp" before each report.
std::map<std::string, std::string> read_reports(const std::string& path) {
    std::ifstream in(path);
    std::map<std::string, std::string> reports;
    std::string name;
    for (std::string line; std::getline(in, line);) {
        if (line.compare(0, 3, "== ") == 0)
            name = line.substr(3);
        else
            reports[name] += line + "\n";
    }
    return reports;
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<const BrokenKernel*> kernels;
    for (const BrokenKernel* k = BrokenKernel::first; k != nullptr; k = k->next)
        kernels.push_back(k);
    std::sort(kernels.begin(), kernels.end(),
              [](const auto* a, const auto* b) { return std::strcmp(a->file, b->file) < 0; });
    if (kernels.empty()) return 1;
    const std::string first = kernels[0]->file, folder = first.substr(0, first.rfind('/') + 1);
    const auto wanted = read_reports(folder + "reports.txt");
    std::ostringstream written;
    int failures = 0;
    for (const BrokenKernel* k : kernels) {
        const std::string name = std::string(k->file).substr(folder.size());
        const Expected want = marked(k->file);
        const auto result = run(*k, k->run, want.note);
        std::string text = "  no report\n";
        bool caught = false;
        if (!result.reports.empty()) {
            const auto& r = result.reports[0];
            text = portable(r.text(), folder);
            const auto entry = wanted.find(name);
            caught = r.rule == want.rule && r.line == want.line && r.file == k->file &&
                     entry != wanted.end() && entry->second == text;
        }
        const auto repaired = run(*k, k->run_repaired, want.note);
        const bool clean = repaired.reports.empty();
        std::printf("%-4s %-40s %s:%d\n", caught && clean ? "ok" : "FAIL", name.c_str(),
                    want.rule.c_str(), want.line);
        if (!caught) std::printf("%s", text.c_str());
        if (!clean) std::printf("  repaired: %s", repaired.reports[0].text().c_str());
        failures += !(caught && clean);
        written << "== " << name << "\n" << text;
    }
    if (argc > 1 && std::strcmp(argv[1], "--write") == 0)
        std::ofstream(folder + "reports.txt") << written.str();
    std::printf("%zu kernels, %d wrong\n", kernels.size(), failures);
    return failures != 0;
}
