#include "launch/emulator_backend.h"

#include <acl/acl.h>

#include <cstdio>
#include <cstring>
#include <utility>

#include "ascend_grad/acl_int_array.h"
#include "ascendc_emulator.h"
#include "launch/backend.h"
#include "launch/kernel_table.h"

namespace ascend_grad::launch {
namespace {

constexpr uint32_t kAicoreException = ACL_ERROR_RT_AICORE_EXCEPTION;

thread_local std::vector<LaunchRecord>* t_records = nullptr;
std::vector<std::pair<void*, size_t>> g_to_spoil;  // of the call whose turn it is

LaunchRecord record_of(const char* kernel, uint32_t blocks,
                       const ascendc_emulator::Result& result) {
    LaunchRecord record;
    record.kernel = kernel;
    record.blocks = blocks;
    record.ok = result.ok();
    for (const auto& report : result.reports) record.reports.push_back(report.text());
    const ascendc_emulator::Cost& cost = result.cost;
    record.cycles = cost.cycles;
    record.bound_cycles = cost.bandwidth_bound_cycles;
    record.microseconds = cost.microseconds();
    record.bytes_read = cost.gm_bytes_read;
    record.bytes_written = cost.gm_bytes_written;
    for (const auto& core : cost.cores)
        for (const auto& pipe : core.pipe) record.scalar_accesses += pipe.scalar_accesses;
    if (!cost.cores.empty()) record.table = cost.table();
    return record;
}

}  // namespace

uint32_t emulate(const char* kernel, uint32_t blocks, void* stream,
                 const std::function<void()>& body) {
    const aclError waited = aclrtSynchronizeStream(stream);
    if (waited != ACL_SUCCESS) return static_cast<uint32_t>(waited);
    for (const auto& [memory, bytes] : std::exchange(g_to_spoil, {}))
        std::memset(memory, 0xff, bytes);
    ascendc_emulator::Options options = ascendc_emulator::options_from_environment();
    options.kernel_mode = KernelMode::AIV_MODE;
    const ascendc_emulator::Result result =
        ascendc_emulator::launch(kArch, kernel, blocks, body, options);
    ascendc_emulator::write_environment_output(result);
    if (t_records != nullptr) {
        t_records->push_back(record_of(kernel, blocks, result));
    } else {
        for (const auto& report : result.reports) std::fprintf(stderr, "%s", report.text().c_str());
    }
    return result.ok() ? 0 : kAicoreException;
}

bool backend_core_count(int32_t, uint32_t& cores) {
    cores = ascendc_emulator::core_count(kArch,
                                         ascendc_emulator::options_from_environment().soc_version);
    return cores != 0;
}

void backend_set_records(std::vector<LaunchRecord>* records) {
    t_records = records;
}

void backend_watch(void* memory, size_t bytes, const std::string& name, bool initialised) {
    ascendc_emulator::register_gm(memory, bytes, name, initialised);
}

void backend_unwatch(void* memory) {
    ascendc_emulator::unregister_gm(memory);
    g_to_spoil.clear();
}

void backend_spoil(void* memory, size_t bytes) {
    g_to_spoil.emplace_back(memory, bytes);
}

bool backend_int_array(const aclIntArray* array, const int64_t*& values, int64_t& size) {
    uint64_t count = 0;
    if (aclGetIntArraySize(array, &count) != 0 || aclGetIntArrayValues(array, &values) != 0)
        return false;
    size = static_cast<int64_t>(count);
    return true;
}

}  // namespace ascend_grad::launch
