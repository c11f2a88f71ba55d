// Texts: reports, environment options, the end of ICPU_RUN_KF, tensor dumps.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "launch.h"

uint64_t g_tilingKey = 0;

namespace ascendc_emulator {
namespace {

Result g_last;
bool g_failed = false;

struct EnvironmentOutput {
    bool cost_table = false;
    std::string trace_file, svg_file;
};

Options parse_environment(EnvironmentOutput* output) {
    Options o;
    const char* text = std::getenv("ASCENDC_EMULATOR");
    std::stringstream items(text ? text : "");
    for (std::string item; std::getline(items, item, ',');) {
        const auto value = [&](const char* key) -> std::string {
            const size_t n = std::strlen(key);
            return item.compare(0, n, key) == 0 ? item.substr(n) : "";
        };
        if (item == "collect")
            o.collect = true;
        else if (item == "notes")
            o.notes = true;
        else if (item == "nochecks")
            o.check_memory = o.check_sync = o.check_operands = false;
        else if (item == "nomemory")
            o.check_memory = false;
        else if (item == "nosync")
            o.check_sync = false;
        else if (item == "nooperands")
            o.check_operands = false;
        else if (item == "nocost")
            o.cost = false;
        else if (item == "cost")
            output->cost_table = true;
        else if (!value("trace=").empty())
            output->trace_file = value("trace="), o.trace = true;
        else if (!value("svg=").empty())
            output->svg_file = value("svg="), o.trace = true;
        else if (!value("soc=").empty())
            o.soc_version = value("soc=");
        else if (!item.empty())
            std::fprintf(stderr, "ascendc_emulator: ASCENDC_EMULATOR has an unknown item '%s'\n",
                         item.c_str());
    }
    return o;
}

template <typename Write>
void write_file(const std::string& path, Write write) {
    std::ofstream out(path);
    write(out);
    if (!out) std::fprintf(stderr, "ascendc_emulator: cannot write %s\n", path.c_str());
}

}  // namespace

Options options_from_environment() {
    EnvironmentOutput ignored;
    return parse_environment(&ignored);
}

std::string Report::text() const {
    std::string t = file.empty() ? "" : file + ":" + std::to_string(line) + ": ";
    t += severity == Severity::error ? "error" : "note";
    t += " [" + rule + "] " + instruction + ": " + message + "\n";
    if (core >= 0) t += "  core " + std::to_string(core) + ", pipe " + pipe + "\n";
    if (!tensor.empty()) t += "  tensor: " + tensor + "\n";
    if (end > begin)
        t += "  bytes: [" + std::to_string(static_cast<int64_t>(begin)) + ", " +
             std::to_string(end) + ")" + (index >= 0 ? ", index " + std::to_string(index) : "") +
             "\n";
    if (!other.empty()) t += "  conflicts with: " + other + "\n";
    return t;
}

bool Result::ok() const {
    for (const Report& r : reports)
        if (r.severity == Severity::error) return false;
    return true;
}

const Result& last_result() {
    return g_last;
}

void bind_argument_names(const std::string& names, const void* const* pointers, size_t count) {
    size_t begin = 0;
    int depth = 0;
    for (size_t i = 0, argument = 0; i <= names.size() && argument < count; ++i) {
        const char c = i < names.size() ? names[i] : ',';
        if (c == '(' || c == '{' || c == '[' || c == '<') ++depth;
        if (c == ')' || c == '}' || c == ']' || c == '>') --depth;
        if (c != ',' || depth > 0) continue;
        std::string name = names.substr(begin, i - begin);
        // "(uint8_t*)x" and "(uint8_t*)(x)" are called x.
        while (!name.empty() && (name.back() == ')' || name.back() == ' ')) name.pop_back();
        name.erase(0, name.find_last_of("()*& \n\t") + 1);
        const auto buffer = GmRegistry::instance().find(pointers[argument]);
        if (buffer && buffer->begin == pointers[argument]) buffer->name = name;
        begin = i + 1;
        ++argument;
    }
}

void write_environment_output(const Result& result) {
    EnvironmentOutput output;
    parse_environment(&output);
    if (output.cost_table) std::printf("%s", result.cost.table().c_str());
    if (!output.trace_file.empty())
        write_file(output.trace_file, [&](std::ostream& o) { result.cost.write_trace(o); });
    if (!output.svg_file.empty())
        write_file(output.svg_file, [&](std::ostream& o) { result.cost.write_svg(o); });
}

void finish_kernel(const Options& options, Result result) {
    for (const Report& r : result.reports) std::fprintf(stderr, "%s", r.text().c_str());
    if (result.dropped_reports != 0)
        std::fprintf(stderr, "ascendc_emulator: %llu more reports\n",
                     static_cast<unsigned long long>(result.dropped_reports));
    write_environment_output(result);
    const bool ok = result.ok();
    g_last = std::move(result);
    if (ok) return;
    std::fflush(nullptr);
    if (!options.collect) std::_Exit(1);
    if (!g_failed)
        std::atexit([] {
            std::fflush(nullptr);
            std::_Exit(1);
        });
    g_failed = true;
}

namespace {

void print_elements(DType dtype, uint32_t size, const uint8_t* data, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        const uint8_t* p = data + uint64_t(i) * size;
        uint64_t bits = 0;
        std::memcpy(&bits, p, size);
        switch (dtype) {
            case DType::f32:
                std::printf(" %g", double(float_from_bits(uint32_t(bits))));
                break;
            case DType::f16:
                std::printf(" %g", double(half_bits_to_float(uint16_t(bits))));
                break;
            case DType::bf16:
                std::printf(" %g", double(bfloat16_bits_to_float(uint16_t(bits))));
                break;
            case DType::i8:
                std::printf(" %d", int(int8_t(bits)));
                break;
            case DType::i16:
                std::printf(" %d", int(int16_t(bits)));
                break;
            case DType::i32:
                std::printf(" %d", int(int32_t(bits)));
                break;
            case DType::i64:
                std::printf(" %lld", static_cast<long long>(bits));
                break;
            default:
                std::printf(" %llu", static_cast<unsigned long long>(bits));
                break;
        }
    }
    std::printf("\n");
}

}  // namespace
}  // namespace ascendc_emulator

namespace ascendc_emulator::rt {

void dump(const UbTensor& t, uint32_t desc, uint32_t count, Loc loc) {
    Core& core = current_core("DumpTensor");
    const Instr instr = core.begin("DumpTensor", kS, loc);
    const uint64_t end = uint64_t(t.address) + uint64_t(count) * t.element_size;
    if (!core.check_tensor(instr, t, "the tensor")) return;
    if (!core.check_bounds(instr, t, "the dump", t.address, end)) return;
    std::printf("DumpTensor desc=%u core=%u %s:%d:", desc, core.block, loc.file, loc.line);
    print_elements(t.dtype, t.element_size, core.ub.data() + t.address, count);
}

void dump(const GmTensor& t, uint32_t desc, uint32_t count, Loc loc) {
    Core& core = current_core("DumpTensor");
    const Instr instr = core.begin("DumpTensor", kS, loc);
    if (!core.gm_range(instr, t, 0, uint64_t(count) * t.element_size)) return;
    std::printf("DumpTensor desc=%u core=%u %s:%d:", desc, core.block, loc.file, loc.line);
    print_elements(t.dtype, t.element_size, t.address, count);
}

}  // namespace ascendc_emulator::rt
