// Events, barriers and control registers of one core.
#include <algorithm>

#include "launch.h"

namespace ascendc_emulator {
namespace {

using AscendC::HardEvent;

struct Ends {
    int from = -1, to = -1;
};

// The pipes of an event; -1 for those that only cube cores have.
Ends ends_of(HardEvent event) {
    switch (event) {
        case HardEvent::MTE2_V:
            return {kMte2, kV};
        case HardEvent::V_MTE2:
            return {kV, kMte2};
        case HardEvent::MTE3_V:
            return {kMte3, kV};
        case HardEvent::V_MTE3:
            return {kV, kMte3};
        case HardEvent::V_V:
            return {kV, kV};
        case HardEvent::MTE3_MTE2:
            return {kMte3, kMte2};
        case HardEvent::MTE2_MTE3:
            return {kMte2, kMte3};
        case HardEvent::S_V:
            return {kS, kV};
        case HardEvent::V_S:
            return {kV, kS};
        case HardEvent::S_MTE2:
            return {kS, kMte2};
        case HardEvent::MTE2_S:
            return {kMte2, kS};
        case HardEvent::S_MTE3:
            return {kS, kMte3};
        case HardEvent::MTE3_S:
            return {kMte3, kS};
        default:
            return {};
    }
}

std::string event_name(HardEvent event) {
    const Ends e = ends_of(event);
    if (e.from < 0) return "event " + std::to_string(static_cast<int>(event));
    return std::string(pipe_name(e.from)) + "_" + pipe_name(e.to);
}

bool check_event(Core& core, const Instr& instr, HardEvent event, int32_t id) {
    if (ends_of(event).from < 0) {
        core.report(core.make("event-unknown", instr,
                              event_name(event) + " belongs to pipes that a vector core lacks"));
        return false;
    }
    if (id >= 0 && id < core.soc.event_ids) return true;
    Report r = core.make("event-id-range", instr,
                         "event id " + std::to_string(id) + " is outside 0.." +
                             std::to_string(core.soc.event_ids - 1) + " on " + core.soc.name);
    r.index = id;
    core.report(std::move(r));
    return false;
}

// The lowest id that nobody has reserved; reports where there is none.
int free_event(Core& core, HardEvent event, const Instr& instr) {
    const uint32_t reserved = core.reserved_events[static_cast<int>(event)];
    for (int id = 0; id < core.soc.event_ids; ++id)
        if ((reserved >> id & 1u) == 0) return id;
    core.report(core.make("event-exhausted", instr,
                          "all event ids of " + event_name(event) + " are reserved"));
    return -1;
}

int reserve_event(Core& core, HardEvent event, const Instr& instr) {
    const int id = free_event(core, event, instr);
    if (id >= 0) core.reserved_events[static_cast<int>(event)] |= 1u << id;
    return id;
}

// The flag is set, and `why` it should not be. `earlier`: the SetFlag, where the kernel has one.
void report_set_twice(Core& core, const Instr& instr, HardEvent event, int id,
                      const std::string& why, const Flag* earlier) {
    if (!core.launch.options.check_sync) return;
    Report r = core.make("event-set-twice", instr,
                         event_name(event) + " id " + std::to_string(id) + " is " + why);
    if (earlier != nullptr) r.other = "SetFlag at " + at(earlier->loc);
    r.index = id;
    core.report(std::move(r));
}

// The event between two pipes; -1 where there is none.
int event_between(Pipe from, Pipe to) {
    for (int i = 0; i <= static_cast<int>(HardEvent::MTE3_S); ++i) {
        const Ends ends = ends_of(static_cast<HardEvent>(i));
        if (ends.from == from && ends.to == to) return i;
    }
    return -1;
}

}  // namespace

Flag Core::make_queue_flag(Pipe from, Pipe to, const Instr& instr) {
    Flag flag = make_flag(from, instr.loc);
    // Within a pipe queues put a barrier.
    flag.event = from == to ? -1 : event_between(from, to);
    if (flag.event < 0) return flag;
    const auto event = static_cast<HardEvent>(flag.event);
    flag.id = reserve_event(*this, event, instr);
    if (flag.id < 0) return flag;
    queue_events[flag.event] |= 1u << flag.id;
    const auto by_hand = flags.find({flag.event, flag.id});
    if (by_hand != flags.end() && by_hand->second.set)
        report_set_twice(*this, instr, event, flag.id,
                         "set by hand, though not reserved by AllocEventID: the queue takes and "
                         "sets it, too",
                         &by_hand->second);
    return flag;
}

void Core::take_queue_flag(Pipe to, Flag& flag) {
    take_flag(to, flag);
    drop_queue_flag(flag);
}

void Core::drop_queue_flag(Flag& flag) {
    flag.set = false;
    if (flag.id < 0) return;
    queue_events[flag.event] &= ~(1u << flag.id);
    reserved_events[flag.event] &= ~(1u << flag.id);
}

}  // namespace ascendc_emulator

namespace ascendc_emulator::rt {

void set_flag(HardEvent event, int32_t id, Loc loc) {
    Core& core = current_core("SetFlag");
    const Instr instr = core.begin("SetFlag", kS, loc);
    if (!check_event(core, instr, event, id)) return;
    Flag& flag = core.flags[{static_cast<int>(event), id}];
    const bool by_queue = (core.queue_events[static_cast<int>(event)] >> id & 1u) != 0;
    if (flag.set)
        report_set_twice(core, instr, event, id, "already set: a WaitFlag is missing in between",
                         &flag);
    else if (by_queue)
        report_set_twice(core, instr, event, id,
                         "set by a queue: take an id from AllocEventID or FetchEventID", nullptr);
    flag = core.make_flag(static_cast<Pipe>(ends_of(event).from), loc);
}

void wait_flag(HardEvent event, int32_t id, Loc loc) {
    Core& core = current_core("WaitFlag");
    const Instr instr = core.begin("WaitFlag", kS, loc);
    if (!check_event(core, instr, event, id)) return;
    Flag& flag = core.flags[{static_cast<int>(event), id}];
    if (!flag.set) {
        Report r = core.make("event-wait-without-set", instr,
                             event_name(event) + " id " + std::to_string(id) +
                                 " was not set: the core waits for ever");
        r.index = id;
        core.report(std::move(r));
        return;
    }
    core.take_flag(static_cast<Pipe>(ends_of(event).to), flag);
    flag.set = false;
}

AscendC::TEventID fetch_event(HardEvent event, Loc loc) {
    Core& core = current_core("FetchEventID");
    const Instr instr = core.begin("FetchEventID", kS, loc);
    // Reserves nothing: the same id again until AllocEventID or a queue takes it.
    return static_cast<AscendC::TEventID>(std::max(free_event(core, event, instr), 0));
}

AscendC::TEventID alloc_event(HardEvent event, Loc loc) {
    Core& core = current_core("AllocEventID");
    const Instr instr = core.begin("AllocEventID", kS, loc);
    return static_cast<AscendC::TEventID>(std::max(reserve_event(core, event, instr), 0));
}

void release_event(HardEvent event, AscendC::TEventID id, Loc loc) {
    Core& core = current_core("ReleaseEventID");
    const Instr instr = core.begin("ReleaseEventID", kS, loc);
    uint32_t& reserved = core.reserved_events[static_cast<int>(event)];
    if (!check_event(core, instr, event, id)) return;
    if ((reserved >> id & 1u) == 0)
        core.report(
            core.make("event-not-reserved", instr,
                      event_name(event) + " id " + std::to_string(id) + " was not allocated"));
    reserved &= ~(1u << id);
}

void pipe_barrier(pipe_t pipe, Loc loc) {
    Core& core = current_core("PipeBarrier");
    core.begin("PipeBarrier", kS, loc);
    if (pipe == PIPE_V) core.barrier(kV);
    if (pipe == PIPE_MTE2) core.barrier(kMte2);
    if (pipe == PIPE_MTE3) core.barrier(kMte3);
    if (pipe == PIPE_ALL) core.barrier_all();
}

void set_mask(uint64_t high, uint64_t low, AscendC::MaskMode mode) {
    Core& core = current_core("SetVectorMask");
    core.mask_high = high;
    core.mask_low = low;
    (void)mode;  // the registers' meaning follows SetMaskCount / SetMaskNorm
}

void set_mask_mode(AscendC::MaskMode mode) {
    current_core("SetMaskCount").mask_mode = mode;
}

void reset_mask() {
    Core& core = current_core("ResetMask");
    core.mask_high = core.mask_low = ~uint64_t(0);
}

void set_atomic(Atomic op, DType dtype, Loc loc) {
    Core& core = current_core("SetAtomic");
    core.begin(op == Atomic::none ? "SetAtomicNone" : "SetAtomic", kS, loc);
    core.atomic = op;
    core.atomic_dtype = dtype;
    core.atomic_loc = loc;
}

void set_deq_scale(float scale) {
    current_core("SetDeqScale").deq_scale = scale;
}

}  // namespace ascendc_emulator::rt
