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

FailureOr<Window> frontend::readWindow(NodeImport &node, nn::DimsRef spatial, nn::DimsRef kernel) {
  size_t rank = spatial.size();
  Window window;
  window.kernel.assign(kernel.begin(), kernel.end());
  FailureOr<nn::Dims> strides = readList(node, "strides", rank, 1);
  FailureOr<nn::Dims> dilations = readList(node, "dilations", rank, 1);
  FailureOr<nn::Dims> pads = readList(node, "pads", 2 * rank, 0);
  if (failed(strides) || failed(dilations) || failed(pads))
    return failure();
  for (std::int64_t size : kernel)
    if (size < 1)
      return node.error("expected a kernel of at least 1, got " + llvm::Twine(size));
  window.strides = *strides;
  window.dilations = *dilations;
  std::string automatic = node.text("auto_pad", "NOTSET");
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
    padSame(window, spatial, automatic == "SAME_UPPER");
  } else if (automatic == "VALID") {
    window.padsBegin.assign(rank, 0);
    window.padsEnd.assign(rank, 0);
  } else if (automatic == "NOTSET" || automatic.empty()) {
    window.padsBegin.assign(pads->begin(), pads->begin() + rank);
    window.padsEnd.assign(pads->begin() + rank, pads->end());
  } else {
    return node.error("auto_pad: expected NOTSET, SAME_UPPER, SAME_LOWER or VALID, got '" +
                      automatic + "'");
  }
  return window;
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
