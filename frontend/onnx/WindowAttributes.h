// Strides, dilations and pads of convolutions and poolings, as ONNX writes them.
#pragma once

#include "frontend/onnx/NodeImport.h"

namespace syncline::frontend {

struct Window {
  nn::Dims kernel, strides, dilations, padsBegin, padsEnd;
  nn::WindowRef ref() const { return {kernel, strides, dilations, padsBegin, padsEnd}; }
};

/// The convolution that a transposed one runs backwards.
struct TransposedWindow {
  Window window;
  nn::Dims reached; ///< the spatial sizes that its windows reach, by which `window` fits
  nn::Dims sizes;   ///< the result's spatial sizes: what lies behind `reached` is zero
};

/// Reads a window over `spatial` dimensions with the given kernel; auto_pad becomes explicit pads.
mlir::FailureOr<Window> readWindow(NodeImport &node, nn::DimsRef spatial, nn::DimsRef kernel);

/// Reads a transposed convolution's attributes. output_shape and auto_pad become explicit pads; an
/// odd one goes to the end for SAME_UPPER and to the begin otherwise, as in ONNX since opset 11.
mlir::FailureOr<TransposedWindow> readTransposedWindow(NodeImport &node, nn::DimsRef spatial,
                                                       nn::DimsRef kernel);

/// How much `padsEnd` must grow in each dimension for ceil_mode. As in PyTorch, a window that would
/// start in the padding behind the image is dropped.
nn::Dims ceilPads(const Window &window, nn::DimsRef spatial);

} // namespace syncline::frontend
