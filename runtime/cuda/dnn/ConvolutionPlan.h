// One convolution in cuDNN's terms: descriptors, and padding that cuDNN does not support.
#pragma once

#include "runtime/cuda/Preparation.h"
#include "runtime/cuda/dnn/Descriptors.h"

#include <string>

namespace syncline::cuda {

/// One of a convolution's tensors as cuDNN's graphs describe it, with two or three spatial
/// dimensions as the older descriptors have.
struct ConvolutionTensor {
  Shape dims;
  Layout layout;
};

/// Where a convolution reads and writes. Its engines are listed before its operands have places,
/// and read this when they run.
struct ConvolutionPlaces {
  Place<const std::byte> left, right; ///< x and w, w and dy, or x and dy
  Place<std::byte> result;
  Place<float> sums{}, squares{}; ///< of each channel of the result; for engines that have them
};

/// cuDNN pads equally at both ends. Where this gives another result extent, a copy pads (or crops)
/// the operand, and the convolution itself has no padding.
struct ConvolutionPlan {
  /// Describes x, w and y in this layout. Fails where the operands do not fit each other; bias may
  /// be `none`.
  ConvolutionPlan(const Preparation &p, Tensor x, Tensor w, Tensor bias, Tensor y, const Window &,
                  const Layout &layout);

  /// Everything that the choice of an engine depends on beside type and order, as text: "x
  /// 8x64x56x56 w 64x64x3x3 y 8x64x56x56 pads 1,1 strides 1,1 dilations 1,1 groups 1".
  std::string geometry() const { return text; }
  std::int64_t paddedBytes() const { return layoutBytes(layout, padded); }

  TensorDescriptor x, y;
  FilterDescriptor w;
  ConvolutionDescriptor convolution;
  ConvolutionTensor image, filter, response; ///< x, w and y again
  Shape pads, strides, dilations;            ///< two or three of each
  std::int64_t groups = 1;
  Layout layout;
  bool isPadded = false;
  Shape given;  ///< shape of x in the step
  Shape padded; ///< shape of the convolution's operand
  Shape begins; ///< padding before each dimension of x

private:
  std::string text;
};

/// Appends the copy that makes the convolution's operand from x and returns its place. Without
/// padding this is the place of x.
Place<const std::byte> appendPadding(Preparation &p, const ConvolutionPlan &plan,
                                     const Place<const std::byte> &x);
/// Appends the copy that makes dx from its padded form. Precondition: plan.isPadded.
void appendUnpadding(Preparation &p, const ConvolutionPlan &plan,
                     const Place<const std::byte> &padded, const Place<std::byte> &dx);

} // namespace syncline::cuda
