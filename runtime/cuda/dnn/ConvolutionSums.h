// Sums that a convolution makes for the batch norm behind it. A norm needs the sum of each channel
// and that of its squares, for which it would read the convolution's result once more. cuDNN has
// engines for a convolution and these sums, which add up what they have just computed. One of them
// is taken where it is faster than the convolution alone and the norm's own sums, which only timing
// tells: cuDNN compiles these engines for each shape (about a second each), and has fewer of them.
#pragma once

#include "runtime/cuda/dnn/ConvolutionEngines.h"

#include <memory>

namespace syncline::cuda {

/// A forward convolution whose result is stored as cuDNN computes it, in bf16. Of f32 the sums of
/// cuDNN's engines, which are in f32, would be less exact than the elements.
struct ConvolutionSums {
  ConvolutionPlan plan;
  std::shared_ptr<ConvolutionPlaces> places;
  std::shared_ptr<ConvolutionEngines> engines;

  /// Whether the engine that ran last has made the sums.
  bool areMade() const { return engines->best().hasSums; }
};

/// Offers the sums of y to a later norm.
void offerSums(Preparation &p, Tensor y, const ConvolutionSums &sums);

/// The sums of x in this layout for a norm that is being prepared: the convolution may make them
/// from now on. Null where x is no such convolution's result, or where cuDNN has no engine.
std::shared_ptr<const ConvolutionSums> takeSums(Preparation &p, Tensor x, const Layout &layout);

} // namespace syncline::cuda
