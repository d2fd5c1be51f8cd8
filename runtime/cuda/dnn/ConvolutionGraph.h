// The engines of a convolution that cuDNN's graph interface offers: for an operation graph of the
// one convolution, or of it and of sums of its result, the engine configurations that its
// heuristics list.
#pragma once

#include "runtime/cuda/dnn/ConvolutionEngines.h"

#include <memory>

namespace syncline::cuda {

/// `forwardAndSums` also adds up each channel of the result and its squares, in f32.
enum class ConvolutionKind { forward, forwardAndSums, backwardData, backwardWeights };

/// Adds an engine for each configuration that keeps the precision's accuracy, the fastest first by
/// cuDNN's heuristics. An engine's name is that of cuDNN's logs: "eng34_k2=5_k13=1", the engine's
/// number and its knobs. Its execution plan is made when it is measured. `places` is read when it
/// runs. `refusal` has cuDNN's word where it lists none.
///
/// These engines stand before those of the older interface (LegacyConvolution.h). cuDNN 9 turns
/// each older algorithm into one engine of the graph interface, which it does not tell, and offers
/// neither the other engines nor their knobs there.
void addGraphEngines(ConvolutionEngines &engines, Preparation &p, const ConvolutionPlan &plan,
                     ConvolutionKind kind, std::shared_ptr<const ConvolutionPlaces> places,
                     std::string &refusal);

} // namespace syncline::cuda
