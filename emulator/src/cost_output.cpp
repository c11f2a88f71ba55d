// The cost model's results as table, Chrome trace and SVG timeline.
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <ostream>

#include "launch.h"

namespace ascendc_emulator {
namespace {

std::string format(const char* pattern, ...) __attribute__((format(printf, 1, 2)));
std::string format(const char* pattern, ...) {
    char line[256];
    va_list args;
    va_start(args, pattern);
    std::vsnprintf(line, sizeof line, pattern, args);
    va_end(args);
    return line;
}

using ull = unsigned long long;

std::string json_text(const char* text) {
    std::string out;
    for (const char* p = text; *p != 0; ++p) {
        if (*p == '"' || *p == '\\') out += '\\';
        out += *p;
    }
    return out;
}

std::string xml_text(const std::string& text) {
    std::string out;
    for (const char c : text) out += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
    return out;
}

// About eight round steps to `length`.
double round_step(double length) {
    double step = 1;
    while (step * 80 < length) step *= 10;
    return step * 2 * 8 >= length ? step * 2 : step * 5 * 8 >= length ? step * 5 : step * 10;
}

}  // namespace

std::string Cost::table() const {
    std::string t = "Cost model: an estimate for comparing designs, not a measurement.\n";
    if (cores.empty()) return t + "(counting was off)\n";
    const auto slowest = static_cast<size_t>(
        std::max_element(cores.begin(), cores.end(),
                         [](const CoreCost& a, const CoreCost& b) { return a.cycles < b.cycles; }) -
        cores.begin());
    t += format("%zu cores, %.0f cycles (%.2f us at %.0f MHz)\n", cores.size(), cycles,
                microseconds(), clock_mhz);
    t += format(
        "GM read %llu bytes, written %llu bytes; bandwidth bound %.0f cycles, estimate %.2fx of "
        "it\n",
        static_cast<ull>(gm_bytes_read), static_cast<ull>(gm_bytes_written), bandwidth_bound_cycles,
        bandwidth_bound_cycles > 0 ? cycles / bandwidth_bound_cycles : 0);
    t += format("slowest core: %zu\n", slowest);
    t += "pipe  instr  repeats transfers      bytes  off-512B  off-32B  scalar  waits  busy-cyc  "
         "wait-cyc  share\n";
    for (int p = 0; p < kPipes; ++p) {
        const PipeCost& c = cores[slowest].pipe[p];
        t += format("%-5s%6llu%9llu%10llu%11llu%10llu%9llu%8llu%7llu%10.0f%10.0f%6.0f%%\n",
                    pipe_name(p), static_cast<ull>(c.instructions), static_cast<ull>(c.repeats),
                    static_cast<ull>(c.transfers), static_cast<ull>(c.bytes),
                    static_cast<ull>(c.unaligned_512), static_cast<ull>(c.unaligned_32),
                    static_cast<ull>(c.scalar_accesses), static_cast<ull>(c.waits), c.busy, c.wait,
                    100 * c.busy / std::max(1.0, cores[slowest].cycles));
    }
    return t;
}

void Cost::write_trace(std::ostream& out) const {
    const double us = clock_mhz > 0 ? 1 / clock_mhz : 1;
    out << "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"note\":\"cost model, not a measurement\"},"
           "\"traceEvents\":[";
    bool first = true;
    for (size_t core = 0; core < cores.size(); ++core) {
        out << (first ? "" : ",") << "\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":" << core
            << ",\"args\":{\"name\":\"core " << core << "\"}}";
        first = false;
        for (int p = 0; p < kPipes; ++p)
            out << ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":" << core << ",\"tid\":" << p
                << ",\"args\":{\"name\":\"" << pipe_name(p) << "\"}}";
    }
    for (const TraceEvent& e : trace) {
        out << ",\n{\"ph\":\"X\",\"pid\":" << e.core << ",\"tid\":" << e.pipe << ",\"name\":\""
            << json_text(e.name)
            << format("\",\"ts\":%.4f,\"dur\":%.4f", e.start * us, e.cycles * us);
        if (e.file) out << ",\"args\":{\"at\":\"" << json_text(e.file) << ":" << e.line << "\"}";
        out << "}";
    }
    out << "\n]}\n";
}

void Cost::write_svg(std::ostream& out) const {
    constexpr int kLeft = 110, kTop = 56, kWidth = 1000, kRow = 14, kMaxCores = 8;
    constexpr int kGroup = kPipes * kRow + 10;
    constexpr const char* kColours[] = {"#8d99ae", "#2a9d8f", "#457b9d", "#e76f51"};
    const int shown = static_cast<int>(std::min<size_t>(cores.size(), kMaxCores));
    const int bottom = kTop + shown * kGroup;
    const double scale = kWidth / std::max(1.0, cycles);
    out << format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
        "font-family=\"sans-serif\" font-size=\"11\">\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
        kLeft + kWidth + 40, bottom + 40);
    out << format(
        "<text x=\"10\" y=\"20\" font-size=\"13\">Cost model, not a measurement: %.0f cycles, "
        "%.2f us, %d of %zu cores</text>\n",
        cycles, microseconds(), shown, cores.size());
    const double step = round_step(cycles);
    for (double tick = 0; tick <= cycles; tick += step)
        out << format(
            "<path d=\"M%.1f %dV%d\" stroke=\"#dddddd\"/>"
            "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.0f</text>\n",
            kLeft + tick * scale, kTop - 6, bottom, kLeft + tick * scale, bottom + 14, tick);
    out << format("<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">cycles</text>\n",
                  kLeft + kWidth / 2, bottom + 30);
    for (int c = 0; c < shown; ++c) {
        const int y = kTop + c * kGroup;
        out << format("<text x=\"10\" y=\"%d\">core %d</text>\n", y + 10, c);
        for (int p = 0; p < kPipes; ++p)
            out << format(
                "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" fill=\"#666666\">%s</text>\n",
                kLeft - 8, y + p * kRow + 10, pipe_name(p));
    }
    for (const TraceEvent& e : trace) {
        if (e.core >= shown) continue;
        const std::string at = e.file ? " " + std::string(e.file) + format(":%d", e.line) : "";
        out << format("<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"%s\">",
                      kLeft + e.start * scale, kTop + e.core * kGroup + e.pipe * kRow,
                      std::max(0.5, e.cycles * scale), kRow - 2,
                      e.file ? kColours[e.pipe] : "#d5d9e0")
            << "<title>" << xml_text(e.name + at) << "</title></rect>\n";
    }
    const double bound = kLeft + bandwidth_bound_cycles * scale;
    const bool right = bandwidth_bound_cycles > cycles / 2;  // the label goes to the left
    out << format(
        "<path d=\"M%.1f %dV%d\" stroke=\"#c1121f\" stroke-dasharray=\"4\"/>"
        "<text x=\"%.1f\" y=\"%d\" fill=\"#c1121f\"%s>GM bandwidth bound</text>\n</svg>\n",
        bound, kTop - 16, bottom, bound + (right ? -4 : 4), kTop - 8,
        right ? " text-anchor=\"end\"" : "");
}

}  // namespace ascendc_emulator
