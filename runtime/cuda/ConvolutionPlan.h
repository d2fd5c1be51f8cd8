// One convolution in cuDNN's terms: descriptors, and the padding that cuDNN does not know.
#pragma once

#include "runtime/cuda/Descriptors.h"
#include "runtime/cuda/Preparation.h"

namespace syncline::cuda {

/// cuDNN pads as much behind as before. Where that gives another result's extent, the operand is
/// padded (or cut) by a copy of ours, and the convolution pads nothing.
struct ConvolutionPlan {
  /// Fails where the operands do not fit each other; bias may be none.
  ConvolutionPlan(const Preparation &p, Tensor x, Tensor w, Tensor bias, Tensor y, const Window &);

  std::int64_t paddedBytes() const;

  TensorDescriptor x, y;
  FilterDescriptor w;
  ConvolutionDescriptor convolution;
  std::int64_t groups = 1;
  bool isPadded = false;
  Shape given;  ///< x as the plan has it
  Shape padded; ///< and as the convolution sees it
  Shape begins; ///< positions before each dimension of x
};

/// Appends what makes the padded operand from x; its place. Precondition: plan.isPadded.
Scratch appendPadding(Preparation &p, const ConvolutionPlan &plan, const float *x);
/// Appends what makes dx from its padded form.
void appendUnpadding(Preparation &p, const ConvolutionPlan &plan, Scratch padded, float *dx);

} // namespace syncline::cuda
