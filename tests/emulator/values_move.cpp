// Rearranging in UB, and copies.
#include "values.h"

using namespace values;

namespace {

template <typename T>
void moves() {
    const std::string t = numpy_type<T>();
    const std::vector<T> old(4096, static_cast<T>(9));
    const auto a = random_values<T>(1024, 0, 50, 31);
    apply("Duplicate " + t + " count 777", old, a, a,
          [&](auto& d, auto&, auto&) { Duplicate(d, static_cast<T>(3), 777); });
    apply("Duplicate " + t + " count 777 mask 37 3", old, a, a,
          [&](auto& d, auto&, auto&) { Duplicate(d, static_cast<T>(3), 37, 3, 1, 8); });
    apply("Duplicate " + t + " count 777 bits 2", old, a, a, [&](auto& d, auto&, auto&) {
        Duplicate(d, static_cast<T>(3), bit_mask_for<T>(), 2, 1, 8);
    });
    if constexpr (has_to_5hd<T>)
        apply("TransDataTo5HD " + t, old, a, a, [&](auto& d, auto& x, auto&) {
            LocalTensor<T> to[16], from[16];
            const uint32_t row = 32 / sizeof(T);
            for (uint32_t i = 0; i < 16; ++i) {
                to[i] = d[i * row];
                from[i] = x[i * row];
            }
            TransDataTo5HD<T>(to, from, TransDataTo5HDParams());
        });
    if constexpr (sizeof(T) == 2)
        apply("Transpose " + t, old, a, a, [](auto& d, auto& x, auto&) { Transpose(d, x); });
#if __CCE_AICORE__ != 100
    apply("Brcb " + t, old, a, a, [](auto& d, auto& x, auto&) {
        Brcb(d, x, 3, BrcbRepeatParams{1, 8});
    });
    apply("GatherMask " + t + " 1", old, a, a, [](auto& d, auto& x, auto&) {
        uint64_t n = 0;
        GatherMask(d, x, uint8_t(1), false, 0, GatherMaskParams{1, 4, 8, 0}, n);
    });
    apply("GatherMask " + t + " 5", old, a, a, [](auto& d, auto& x, auto&) {
        uint64_t n = 0;
        GatherMask(d, x, uint8_t(5), false, 0, GatherMaskParams{1, 4, 8, 0}, n);
    });
    std::vector<uint32_t> offsets(512);
    for (size_t i = 0; i < offsets.size(); ++i)
        offsets[i] = static_cast<uint32_t>((i * 613 + 5) % 1000 * sizeof(T));
    GM_ADDR g_offsets = to_gm(offsets);
    const auto with_offsets = [&](const std::string& name, auto body) {
        apply(name, old, a, a, [&](auto& d, auto& x, auto&) {
            TBuf<TPosition::VECCALC> buffer;
            LocalTensor<uint32_t> index;
            load(*GetTPipePtr(), buffer, index, g_offsets, offsets.size());
            PipeBarrier<PIPE_ALL>();
            body(d, x, index, static_cast<uint32_t>(4 * sizeof(T)));
        });
    };
    with_offsets("Gather " + t, [](auto& d, auto& x, auto& index, uint32_t base) {
        Gather(d, x, index, base, 500u);
    });
    with_offsets("Gather " + t + " mask 37 3", [](auto& d, auto& x, auto& index, uint32_t base) {
        Gather(d, x, index, base, 37, 3, 8);
    });
    with_offsets("Gather " + t + " bits 2", [](auto& d, auto& x, auto& index, uint32_t base) {
        Gather(d, x, index, base, bit_mask_for<T>(), 2, 8);
    });
    ascendc_emulator::GmFree(g_offsets);
    if constexpr (is_floating<T>) {
        apply("Broadcast " + t + " rows", old, a, a, [](auto& d, auto& x, auto&) {
            const uint32_t to[] = {16, 64}, from[] = {1, 64};
            Broadcast<T, 2, 0>(d, x, to, from);
        });
        apply("Broadcast " + t + " columns", old, a, a, [](auto& d, auto& x, auto&) {
            const uint32_t to[] = {16, 64}, from[] = {16, 1};
            Broadcast<T, 2, 1>(d, x, to, from);
        });
    }
#endif
#if __CCE_AICORE__ == 220
    const auto five = static_cast<T>(5);
    apply("CreateVecIndex " + t, old, a, a,
          [&](auto& d, auto&, auto&) { CreateVecIndex(d, five, 777u); });
    apply("CreateVecIndex " + t + " mask 37 3", old, a, a,
          [&](auto& d, auto&, auto&) { CreateVecIndex(d, five, 37, 3, 1, 8); });
    apply("CreateVecIndex " + t + " bits 2", old, a, a,
          [&](auto& d, auto&, auto&) { CreateVecIndex(d, five, bit_mask_for<T>(), 2, 1, 8); });
    apply("Copy " + t + " mask 50 3", old, a, a, [](auto& d, auto& x, auto&) {
        Copy(d, x, 50, 3, CopyRepeatParams{1, 1, 8, 8});
    });
    apply("Copy " + t + " bits 2", old, a, a, [](auto& d, auto& x, auto&) {
        Copy(d, x, bit_mask_for<T>(), 2, CopyRepeatParams{1, 1, 8, 8});
    });
#endif
}

void copies() {
    const auto gm = random_values<float>(4096, -1, 1, 41);
    const std::vector<float> old(4096, 9.0f);
    GM_ADDR g = to_gm(gm);
    const auto from_gm = [&](const std::string& name, auto body) {
        apply(name, old, gm, gm, [&](auto& d, auto&, auto&) {
            GlobalTensor<float> source;
            source.SetGlobalBuffer(reinterpret_cast<float*>(g));
            body(d, source);
        });
    };
    from_gm("DataCopy strided", [](auto& d, auto& s) {
        DataCopy(d, s, DataCopyParams{5, 3, 2, 1});
    });
#if __CCE_AICORE__ == 220
    from_gm("DataCopyPad values", [](auto& d, auto& s) {
        DataCopyPad(d, s, DataCopyExtParams{4, 44, 20, 1, 0},
                    DataCopyPadExtParams<float>{true, 2, 3, 7.0f});
    });
    from_gm("DataCopyPad first", [](auto& d, auto& s) {
        DataCopyPad(d, s, DataCopyExtParams{4, 44, 20, 0, 0},
                    DataCopyPadExtParams<float>{true, 0, 0, 7.0f});
    });
#endif
    ascendc_emulator::GmFree(g);
}

}  // namespace

void values::move_values() {
    moves<half>();
    moves<int16_t>();
    moves<int32_t>();
    moves<float>();
    copies();
}
