// The filters of the kernels resample and resampleBackward (Kernels.inc), as their numbers.
#pragma once

namespace syncline {

enum class ResampleFilter {
  nearestPreferFloor, ///< the nearest element; of two, the lower one
  nearestPreferCeil,  ///< the nearest element; of two, the upper one
  nearestFloor,       ///< the element at the coordinate or below
  nearestCeil,        ///< the element at the coordinate or above
  linear,
  cubic, ///< by cubicCoefficient, ONNX's cubic_coeff_a
};

} // namespace syncline
