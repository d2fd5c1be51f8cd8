// Strides, dilations and pads of convolutions and poolings, as ONNX writes them.
#pragma once

#include "frontend/onnx/NodeImport.h"

namespace syncline::frontend {

struct Window {
  nn::Dims kernel, strides, dilations, padsBegin, padsEnd;
  nn::WindowRef ref() const { return {kernel, strides, dilations, padsBegin, padsEnd}; }
};

/// Reads a window over `spatial` dimensions with the given kernel; auto_pad becomes explicit pads.
mlir::FailureOr<Window> readWindow(NodeImport &node, nn::DimsRef spatial, nn::DimsRef kernel);

/// How much `padsEnd` must grow in each dimension for ceil_mode. As in PyTorch, a window that would
/// start in the padding behind the image is dropped.
nn::Dims ceilPads(const Window &window, nn::DimsRef spatial);

} // namespace syncline::frontend
