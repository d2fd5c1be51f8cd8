// Normalises window attributes.
#include "frontend/onnx/WindowAttributes.h"

using namespace syncline;
using namespace syncline::frontend;
using namespace mlir;

/// One entry per spatial dimension, each at least `least`.
static FailureOr<nn::Dims> readList(NodeImport &node, llvm::StringRef name, size_t count,
                                    std::int64_t least) {
  nn::Dims list = node.integers(name).value_or(nn::Dims(count, least));
  if (list.size() != count)
    return node.error(name + ": expected " + llvm::Twine(count) + " entries, got " +
                      llvm::Twine(list.size()));
  for (std::int64_t value : list)
    if (value < least)
      return node.error(name + ": expected at least " + llvm::Twine(least) + ", got " +
                        llvm::Twine(value));
  return list;
}

/// Pads such that there are ceil(size / stride) positions; an odd one goes to the end for
/// SAME_UPPER and to the begin for SAME_LOWER.
static void padSame(Window &window, nn::DimsRef spatial, bool upper) {
  for (size_t i = 0; i < spatial.size(); ++i) {
    std::int64_t positions = (spatial[i] + window.strides[i] - 1) / window.strides[i];
    std::int64_t extent = window.dilations[i] * (window.kernel[i] - 1) + 1;
    std::int64_t total =
        std::max<std::int64_t>((positions - 1) * window.strides[i] + extent - spatial[i], 0);
    std::int64_t small = total / 2;
    window.padsBegin.push_back(upper ? small : total - small);
    window.padsEnd.push_back(upper ? total - small : small);
  }
}

namespace {

enum class AutoPad { none, valid, sameUpper, sameLower };

/// Window attributes as they stand in the file; `pads` are begins, then ends.
struct Attributes {
  nn::Dims strides, dilations, pads;
  AutoPad autoPad;
};

} // namespace

static FailureOr<AutoPad> readAutoPad(NodeImport &node) {
  const std::string text = node.text("auto_pad", "NOTSET");
  if (text == "SAME_UPPER")
    return AutoPad::sameUpper;
  if (text == "SAME_LOWER")
    return AutoPad::sameLower;
  if (text == "VALID")
    return AutoPad::valid;
  if (text == "NOTSET" || text.empty())
    return AutoPad::none;
  return node.error("auto_pad: expected NOTSET, SAME_UPPER, SAME_LOWER or VALID, got '" + text +
                    "'");
}

static bool isSame(AutoPad autoPad) {
  return autoPad == AutoPad::sameUpper || autoPad == AutoPad::sameLower;
}

static FailureOr<Attributes> readAttributes(NodeImport &node, nn::DimsRef kernel) {
  const size_t rank = kernel.size();
  FailureOr<nn::Dims> strides = readList(node, "strides", rank, 1);
  FailureOr<nn::Dims> dilations = readList(node, "dilations", rank, 1);
  FailureOr<nn::Dims> pads = readList(node, "pads", 2 * rank, 0);
  if (failed(strides) || failed(dilations) || failed(pads))
    return failure();
  for (std::int64_t size : kernel)
    if (size < 1)
      return node.error("expected a kernel of at least 1, got " + llvm::Twine(size));
  SYNCLINE_TRY_MLIR(autoPad, readAutoPad(node));
  if (*autoPad == AutoPad::valid)
    pads = nn::Dims(2 * rank, 0);
  return Attributes{*strides, *dilations, *pads, *autoPad};
}

FailureOr<Window> frontend::readWindow(NodeImport &node, nn::DimsRef spatial, nn::DimsRef kernel) {
  SYNCLINE_TRY_MLIR(read, readAttributes(node, kernel));
  Window window{nn::Dims(kernel), read->strides, read->dilations, {}, {}};
  if (isSame(read->autoPad)) {
    padSame(window, spatial, read->autoPad == AutoPad::sameUpper);
  } else {
    window.padsBegin.assign(read->pads.begin(), read->pads.begin() + spatial.size());
    window.padsEnd.assign(read->pads.begin() + spatial.size(), read->pads.end());
  }
  return window;
}

/// The result's sizes that output_shape or auto_pad ask for; unset where the pads decide.
static FailureOr<std::optional<nn::Dims>> wantedSizes(NodeImport &node, const Attributes &read,
                                                      nn::DimsRef spatial) {
  if (std::optional<nn::Dims> given = node.integers("output_shape")) {
    if (given->size() != spatial.size())
      return node.error("output_shape: expected " + llvm::Twine(spatial.size()) + " entries, got " +
                        llvm::Twine(given->size()));
    return given;
  }
  if (!isSame(read.autoPad))
    return std::optional<nn::Dims>();
  nn::Dims sizes;
  for (auto [size, stride] : llvm::zip_equal(spatial, read.strides))
    sizes.push_back(size * stride);
  return std::optional(sizes);
}

/// Pads of a dimension such that `full` positions become `wanted`.
static FailureOr<std::pair<std::int64_t, std::int64_t>>
padsFor(NodeImport &node, std::int64_t wanted, std::int64_t full, bool isUpper) {
  if (wanted < 1 || wanted > full)
    return node.error("expected a result of 1 to " + llvm::Twine(full) +
                      " positions in each direction by output_shape or auto_pad, got " +
                      llvm::Twine(wanted));
  const std::int64_t total = full - wanted, small = total / 2, large = total - small;
  return isUpper ? std::pair(small, large) : std::pair(large, small);
}

FailureOr<TransposedWindow> frontend::readTransposedWindow(NodeImport &node, nn::DimsRef spatial,
                                                           nn::DimsRef kernel) {
  const size_t rank = spatial.size();
  SYNCLINE_TRY_MLIR(read, readAttributes(node, kernel));
  SYNCLINE_TRY_MLIR(outputPadding, readList(node, "output_padding", rank, 0));
  SYNCLINE_TRY_MLIR(wanted, wantedSizes(node, *read, spatial));
  TransposedWindow result{{nn::Dims(kernel), read->strides, read->dilations, {}, {}}, {}, {}};
  for (size_t i = 0; i < rank; ++i) {
    const std::int64_t stride = read->strides[i], dilation = read->dilations[i];
    const std::int64_t added = (*outputPadding)[i];
    if (added >= std::max(stride, dilation))
      return node.error("output_padding: expected less than the stride or the dilation, " +
                        llvm::Twine(std::max(stride, dilation)) + ", got " + llvm::Twine(added));
    const std::int64_t full = stride * (spatial[i] - 1) + dilation * (kernel[i] - 1) + 1 + added;
    auto pads = std::pair(read->pads[i], read->pads[i + rank]);
    if (*wanted) {
      SYNCLINE_TRY_MLIR(own,
                        padsFor(node, (**wanted)[i], full, read->autoPad == AutoPad::sameUpper));
      pads = *own;
    }
    // A convolution ignores fewer positions at the end than its stride; more than that are taken
    // from the padding there, then left to zeros behind.
    const std::int64_t surplus = std::max<std::int64_t>(added - (stride - 1), 0);
    const std::int64_t unpadded = std::min(surplus, pads.second);
    const std::int64_t size = full - pads.first - pads.second;
    const std::int64_t reached = size - (surplus - unpadded);
    if (reached < 1)
      return node.error("pads " + llvm::Twine(pads.first) + " and " + llvm::Twine(pads.second) +
                        " leave nothing of " + llvm::Twine(full) + " positions");
    result.window.padsBegin.push_back(pads.first);
    result.window.padsEnd.push_back(pads.second - unpadded);
    result.reached.push_back(reached);
    result.sizes.push_back(size);
  }
  return result;
}

nn::Dims frontend::ceilPads(const Window &window, nn::DimsRef spatial) {
  nn::Dims extra;
  for (size_t i = 0; i < spatial.size(); ++i) {
    std::int64_t begin = window.padsBegin[i], stride = window.strides[i];
    std::int64_t extent = window.dilations[i] * (window.kernel[i] - 1) + 1;
    std::int64_t room = spatial[i] + begin + window.padsEnd[i] - extent;
    std::int64_t missing = room < 0 ? 0 : (stride - room % stride) % stride;
    bool startsInside = room + missing < spatial[i] + begin;
    extra.push_back(startsInside ? missing : 0);
  }
  return extra;
}
