#include "core/check.h"

#include <algorithm>

namespace ascend_grad {

std::string to_string(const int64_t* values, int count) {
    std::string result = "(";
    for (int i = 0; i < count; ++i) {
        if (i > 0) result += ", ";
        result += std::to_string(values[i]);
    }
    return result + (count == 1 ? ",)" : ")");
}

std::string shape_text(const TensorView& view) {
    if (view.rank <= kMaxRank) return to_string(view.shape, view.rank);
    std::string result = to_string(view.shape, kMaxRank);
    result.back() = ',';
    return result + " ...)";
}

const char* dtype_text(const TensorView& view) {
    return view.dtype_name != nullptr ? view.dtype_name : data_type_name(view.dtype);
}

namespace {

std::string layout_text(const TensorView& view) {
    return "shape " + shape_text(view) + " with strides " +
           to_string(view.strides, view.stored_rank()) + " bytes and an offset of " +
           std::to_string(view.offset) + " elements";
}

// "ascend910, ascend910b or ascend910_93"
std::string soc_list(uint32_t socs) {
    std::string list;
    for (int i = 0; i < kSocCount; ++i) {
        if ((socs >> i & 1) == 0) continue;
        if (!list.empty()) list += socs >> (i + 1) == 0 ? " or " : ", ";
        list += soc_info(static_cast<Soc>(i)).name;
    }
    return list;
}

}  // namespace

std::string Checker::product() const {
    const SocInfo& soc = soc_info(args_.soc);
    return std::string("on ") + soc.product + " (" + soc.name + ")";
}

const Name& Checker::name_of(int index) const {
    const TensorView* view = args_.tensors[index];
    const bool is_described = view != nullptr && view->is_described;
    return info_.tensors[is_described ? info_.tensors[index].described_by : index].name;
}

Status Checker::fail(StatusCode code, const char* parameter, std::string text) const {
    text += "; " + product();
    return Status{code, info_.name.in(args_.interface), parameter, std::move(text)};
}

Status Checker::invalid(const Name& parameter, std::string text) const {
    return fail(StatusCode::kParamInvalid, name(parameter), std::move(text));
}

Status Checker::not_null(const Name& parameter, bool is_null) const {
    if (!is_null) return {};
    return fail(StatusCode::kParamNullptr, name(parameter), required_text(args_.interface));
}

Status Checker::not_null(Tensors tensors) const {
    const int index = tensors.first([&](int i) { return args_.tensors[i] == nullptr; });
    return index < 0 ? Status() : not_null(name_of(index), true);
}

Status Checker::dtype_is_supported(Tensors tensors) const {
    const bool has_bfloat16 = soc_info(args_.soc).has_bfloat16;
    const int index = tensors.first([&](int i) {
        const DataType dtype = tensor(i).dtype;
        return dtype != DataType::kFloat32 && dtype != DataType::kFloat16 &&
               !(dtype == DataType::kBFloat16 && has_bfloat16);
    });
    if (index < 0) return {};
    return invalid(index,
                   std::string("dtype must be ") +
                       (has_bfloat16 ? "float32, float16 or bfloat16" : "float32 or float16") +
                       ", got " + dtype_text(tensor(index)));
}

Status Checker::dtype_equals(Tensors tensors, int reference) const {
    const DataType wanted = tensor(reference).dtype;
    const int index = tensors.first([&](int i) { return tensor(i).dtype != wanted; });
    if (index < 0) return {};
    return invalid(index, std::string("dtype must be that of ") + name(reference) + ", " +
                              dtype_text(tensor(reference)) + ", got " + dtype_text(tensor(index)));
}

Status Checker::format_equals(int index, int reference) const {
    if (tensor(index).format == tensor(reference).format) return {};
    return invalid(index, std::string("format must be that of ") + name(reference) + ", " +
                              format_name(tensor(reference).format) + ", got " +
                              format_name(tensor(index).format));
}

Status Checker::format_is_not_private(Tensors tensors) const {
    const int index = tensors.first([&](int i) { return is_private_format(tensor(i).format); });
    if (index < 0) return {};
    return invalid(index, std::string("format must be a public one such as ND or NCHW, got ") +
                              format_name(tensor(index).format));
}

Status Checker::rank_is_between(Tensors tensors, int lowest, int highest) const {
    const int index =
        tensors.first([&](int i) { return tensor(i).rank < lowest || tensor(i).rank > highest; });
    if (index < 0) return {};
    const int rank = tensor(index).rank;
    return invalid(index, "rank must be between " + std::to_string(lowest) + " and " +
                              std::to_string(highest) + ", got rank " + std::to_string(rank) +
                              ", shape " + shape_text(tensor(index)));
}

Status Checker::shape_equals(int index, int reference) const {
    const TensorView& view = tensor(index);
    const TensorView& wanted = tensor(reference);
    bool equal = view.rank == wanted.rank;
    for (int i = 0; equal && i < view.stored_rank(); ++i) {
        equal = view.shape[i] == wanted.shape[i];
    }
    if (equal) return {};
    return invalid(index, std::string("shape must be that of ") + name(reference) + ", " +
                              shape_text(wanted) + ", got " + shape_text(view));
}

Status Checker::shape_is(Tensors tensors, int rank, const int64_t* shape,
                         const char* meaning) const {
    const int index = tensors.first([&](int i) {
        const TensorView& view = tensor(i);
        return view.rank != rank || !std::equal(shape, shape + rank, view.shape);
    });
    if (index < 0) return {};
    return invalid(index, "shape must be " + to_string(shape, rank) + ", " + meaning + ", got " +
                              shape_text(tensor(index)));
}

Status Checker::view_is_inside_storage(Tensors tensors) const {
    const int index = tensors.first([&](int i) { return tensor(i).defect != ViewDefect::kNone; });
    if (index < 0) return {};
    switch (tensor(index).defect) {
        case ViewDefect::kNone:
            return {};
        case ViewDefect::kNegativeExtent:
            return invalid(index,
                           "dimensions must not be negative, got " + shape_text(tensor(index)));
        case ViewDefect::kNegativeStride:
            return invalid(index, "strides must not be negative, got " +
                                      to_string(tensor(index).strides, tensor(index).rank) +
                                      " bytes");
        case ViewDefect::kNegativeOffset:
            return invalid(index, "the storage offset must not be negative, got " +
                                      std::to_string(tensor(index).offset));
        case ViewDefect::kOverflow:
            return invalid(index,
                           "extents, strides and offset must fit 63 bits together, got shape " +
                               shape_text(tensor(index)));
        case ViewDefect::kLeavesStorage:
            return invalid(index, "the view must lie inside its storage of " +
                                      std::to_string(tensor(index).storage) + " elements, but " +
                                      layout_text(tensor(index)) + " leaves it");
        case ViewDefect::kLeavesAllocation:
            return invalid(index, "the view must lie inside memory that is allocated, but " +
                                      layout_text(tensor(index)) + " leaves it, or it was freed");
    }
    return {};
}

Status Checker::output_overlaps_nothing(int index, const AddressRange* ranges) const {
    const TensorView& output = tensor(index);
    if (overlaps_itself(output)) {
        return invalid(index, "an output must not overlap itself; shape " + shape_text(output) +
                                  " with strides " + to_string(output.strides, output.rank) +
                                  " bytes reaches one element by several indices");
    }
    const bool elementwise = info_.tensors[index].role == Role::kElementwiseOutput;
    for (int other = 0; other < info_.tensor_count; ++other) {
        if (!ranges[index].meets(ranges[other])) continue;
        const bool other_is_output = info_.tensors[other].is_output();
        if (other == index || (other_is_output && other > index)) continue;
        const TensorView& view = tensor(other);
        // CANN's programs may pass one tensor as an output and as an input that only describes it.
        const bool describes =
            info_.tensors[other].role == Role::kDescription && args_.interface == Interface::kC;
        if ((elementwise || describes) && !other_is_output && is_same_view(output, view)) continue;
        if (!share_memory(output, view)) continue;
        if (!elementwise || other_is_output) {
            return invalid(
                index, std::string("must not overlap ") + name(other) + "; give memory of its own");
        }
        return invalid(index, std::string("must be ") + name(other) +
                                  " itself (same address, shape and strides) or not overlap it");
    }
    return {};
}

Status Checker::memory_and_product(Tensors active) const {
    ASCEND_GRAD_TRY(view_is_inside_storage(active));
    AddressRange ranges[kMaxTensors];
    for (int i = 0; i < info_.tensor_count; ++i) {
        ranges[i] = active.has(i) ? addresses_of(tensor(i)) : AddressRange{};
    }
    for (int i = 0; i < info_.tensor_count; ++i) {
        if (info_.tensors[i].is_output() && !ranges[i].is_empty())
            ASCEND_GRAD_TRY(output_overlaps_nothing(i, ranges));
    }
    if ((info_.socs & soc_bit(args_.soc)) == 0) {
        const bool is_c = args_.interface == Interface::kC;
        const SocInfo& soc = soc_info(args_.soc);
        return {StatusCode::kInnerFindKernelError, info_.name.in(args_.interface),
                is_c ? "" : "soc",
                std::string(is_c ? "the product must be " : "must be ") + soc_list(info_.socs) +
                    ", which have this operator, got " + soc.name + " (" + soc.product + ")"};
    }
    return {};
}

Status Checker::ready_to_run(const GivenWorkspace& workspace) const {
    constexpr Name kWorkspace{"workspace", "workspace"};
    for (int i = 0; i < info_.tensor_count; ++i) {
        if (args_.tensors[i] == nullptr || info_.tensors[i].role == Role::kDescription) continue;
        if (tensor(i).is_empty()) continue;
        if (tensor(i).data == nullptr) {
            return fail(StatusCode::kParamNullptr, name(i),
                        "its memory must have an address when the operator runs");
        }
        const auto element = static_cast<uintptr_t>(data_type_size(tensor(i).dtype));
        if (args_.is_on_device && reinterpret_cast<uintptr_t>(tensor(i).data) % element != 0) {
            return invalid(i, "its address on a device must be a multiple of an element's " +
                                  std::to_string(element) + " bytes");
        }
    }
    if (workspace.address == nullptr && (workspace.size > 0 || workspace.needed > 0)) {
        return fail(StatusCode::kParamNullptr, name(kWorkspace), required_text(args_.interface));
    }
    if (workspace.needed == 0) return {};
    if (workspace.allocated == 0) {
        return invalid(kWorkspace, "must lie inside the process's memory");
    }
    const uint64_t available =
        workspace.size < workspace.allocated ? workspace.size : workspace.allocated;
    if (available < workspace.needed) {
        return invalid(kWorkspace, "must have " + std::to_string(workspace.needed) +
                                       " bytes, got " + std::to_string(available));
    }
    TensorView view;
    view.data = workspace.address;
    view.dtype = DataType::kUInt8;
    const auto bytes = static_cast<int64_t>(workspace.needed);
    set_contiguous(view, 1, &bytes);
    for (int i = 0; i < info_.tensor_count; ++i) {
        if (args_.tensors[i] == nullptr || info_.tensors[i].role == Role::kDescription) continue;
        if (!share_memory(view, tensor(i))) continue;
        return invalid(kWorkspace, std::string("must not overlap ") + name(i));
    }
    return {};
}

}  // namespace ascend_grad
