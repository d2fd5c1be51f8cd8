// One convolution in cuDNN's terms: descriptors, and the padding that cuDNN does not know.
#pragma once

#include "runtime/cuda/Descriptors.h"
#include "runtime/cuda/Preparation.h"

namespace syncline::cuda {

/// cuDNN pads as much behind as before. Where that gives another result's extent, the operand is
/// padded (or cut) by a copy of ours, and the convolution pads nothing.
struct ConvolutionPlan {
  /// x, w and y in this layout. Fails where the operands do not fit each other; bias may be none.
  ConvolutionPlan(const Preparation &p, Tensor x, Tensor w, Tensor bias, Tensor y, const Window &,
                  const Layout &layout);

  std::int64_t paddedBytes() const { return layoutBytes(layout, padded); }

  TensorDescriptor x, y;
  FilterDescriptor w;
  ConvolutionDescriptor convolution;
  std::int64_t groups = 1;
  Layout layout;
  bool isPadded = false;
  Shape given;  ///< x as the plan has it
  Shape padded; ///< and as the convolution sees it
  Shape begins; ///< positions before each dimension of x
};

/// Appends what makes the convolution's operand from x; its place, which is x's where the plan pads
/// nothing.
Place<const std::byte> appendPadding(Preparation &p, const ConvolutionPlan &plan,
                                     const Place<const std::byte> &x);
/// Appends what makes dx from its padded form. Precondition: plan.isPadded.
void appendUnpadding(Preparation &p, const ConvolutionPlan &plan,
                     const Place<const std::byte> &padded, const Place<std::byte> &dx);

} // namespace syncline::cuda
