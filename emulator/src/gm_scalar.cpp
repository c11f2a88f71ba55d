// The scalar unit and GM: SetGlobalBuffer, GetValue, SetValue and the data cache between them.
#include <algorithm>
#include <cstring>

#include "gm_access.h"

namespace ascendc_emulator {

void report_unwritten_gm(Core& core, const Instr& instr, const GmTensor& gm, uint64_t bytes) {
    if (!core.launch.options.check_memory) return;
    auto buffer = core.gm_range(instr, gm, 0, bytes);
    if (!buffer) return;
    const auto begin = static_cast<uint64_t>(gm.address - buffer->begin);
    core.report(core.make("uninitialized-read", instr, "reads GM bytes that nobody wrote", *buffer,
                          begin, begin + bytes, 0));
}

}  // namespace ascendc_emulator

namespace ascendc_emulator::rt {

void bound_gm(const GmTensor& t, uint64_t elements, Loc loc) {
    Core* core = current_core_or_null();
    if (core == nullptr || !core->launch.options.notes) return;
    const auto buffer = GmRegistry::instance().find(t.address);
    if (!buffer) return;  // an access will say so
    const auto begin = static_cast<uint64_t>(t.address - buffer->begin);
    const uint64_t room = (buffer->bytes - begin) / t.element_size;
    if (elements <= room) return;
    const Instr instr{"SetGlobalBuffer", loc, kS};
    core->note(core->make("gm-size", instr,
                          "claims " + std::to_string(elements) + " elements where " +
                              buffer->describe() + " has room for " + std::to_string(room),
                          *buffer, begin, begin + elements * t.element_size,
                          static_cast<int64_t>(room)));
}

void load_gm(const GmTensor& t, uint64_t index, void* value, Loc loc) {
    Core& core = current_core("GetValue");
    const Instr instr = core.begin("GetValue", kS, loc);
    std::memcpy(value, &kPoison, t.element_size);
    auto buffer = core.gm_range(instr, t, index * t.element_size, t.element_size);
    if (!buffer) return;
    settle(core, *buffer);
    const auto at = static_cast<uint64_t>(t.address - buffer->begin) + index * t.element_size;
    bool good = true;
    gm_access(core, instr, *buffer, at, t.element_size, false, [&](uint64_t b, uint64_t e) {
        core.check_cached_line(instr, *buffer, b, e);
        std::memcpy(static_cast<uint8_t*>(value) + (b - at), buffer->begin + b, e - b);
        good = good && buffer->init.all(b, e);
    });
    if (!good) {
        GmTensor element = t;
        element.address += index * t.element_size;
        report_unwritten_gm(core, instr, element, t.element_size);
    }
    ++core.cost.pipe[kS].scalar_accesses;
    core.charge(instr, core.soc.cost.scalar_gm_access);
}

void store_gm(const GmTensor& t, uint64_t index, const void* value, Loc loc) {
    Core& core = current_core("SetValue");
    const Instr instr = core.begin("SetValue", kS, loc);
    auto buffer = core.gm_range(instr, t, index * t.element_size, t.element_size);
    if (!buffer) return;
    settle(core, *buffer);
    const auto at = static_cast<uint64_t>(t.address - buffer->begin) + index * t.element_size;
    const bool cached = core.soc.arch != 100;  // 910A has no way to clean the cache
    buffer->locked_pages(at, at + t.element_size, [&](uint64_t b, uint64_t e) {
        core.access_gm(instr, *buffer, b, e, true, cached);
        std::memcpy(buffer->begin + b, static_cast<const uint8_t*>(value) + (b - at), e - b);
        buffer->init.set(b, e, true);
        buffer->stored_garbage.set(b, e, false);
    });
    if (cached) core.cached_stores.push_back({buffer, at, at + t.element_size});
    ++core.cost.pipe[kS].scalar_accesses;
    core.charge(instr, core.soc.cost.scalar_access);
}

void clean_cache(const uint8_t* address, bool entire, Loc loc) {
    Core& core = current_core("DataCacheCleanAndInvalid");
    core.begin("DataCacheCleanAndInvalid", kS, loc);
    const uint32_t agent = core.block * kPipes + kS;
    std::pair<uint64_t, uint64_t> line;  // (GM buffer, line of it)
    if (entire) {
        core.cached_lines.clear();
    } else if (const auto buffer = GmRegistry::instance().find(address)) {
        const auto offset = static_cast<uint64_t>(address - buffer->begin);
        line = {buffer->number, offset / GmBuffer::kLine};
        core.cached_lines.erase(line);
    }
    auto& stores = core.cached_stores;
    const auto cleaned = [&](const CachedStore& store) {
        if (!entire && line != std::make_pair(store.buffer->number, store.begin / GmBuffer::kLine))
            return false;
        store.buffer->locked_pages(store.begin, store.end, [&](uint64_t b, uint64_t e) {
            if (store.buffer->history) store.buffer->history->uncache(b, e, agent);
        });
        return true;
    };
    stores.erase(std::remove_if(stores.begin(), stores.end(), cleaned), stores.end());
}

}  // namespace ascendc_emulator::rt
