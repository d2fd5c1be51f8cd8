// Slow, obvious definitions of the operations, on doubles: plain loops over every index.
#pragma once

#include "tests/conformance/Array.h"

namespace syncline::conformance {

/// Cross-correlation as ONNX Conv; `bias` may be empty.
Array referenceConv(const Array &x, const Array &w, const Array &bias, const Window &window,
                    const Shape &yShape);

/// Gradients of Σ dy·conv(x, w): the same loops, adding to where forward reads.
struct ConvGradients {
  Array dx, dw, dbias;
};
ConvGradients referenceConvBackward(const Array &x, const Array &w, const Array &dy,
                                    const Window &window);

enum class Pool { maximum, averageAll, averageInside };
Array referencePool(Pool kind, const Array &x, const Window &window, const Shape &yShape);

/// Training mode; statistics over all dimensions but 1.
Array referenceBatchNorm(const Array &x, const Array &scale, const Array &shift, double epsilon);
/// Per channel; biased variance.
Array channelMean(const Array &x);
Array channelVariance(const Array &x);

Array referenceRelu(const Array &x);

/// numpy's matmul with leading dimensions broadcast.
Array referenceMatmul(const Array &a, bool transposeA, const Array &b, bool transposeB,
                      const Shape &yShape);

Array referenceLrn(const Array &x, std::int64_t size, double alpha, double beta, double bias);
/// Normalization of the last dimensions, those of `scale`.
Array referenceLayerNorm(const Array &x, const Array &scale, const Array &shift, double epsilon);
Array referenceSoftmax(const Array &x, std::int64_t axis, bool logarithm);
/// One value: the mean over samples.
Array referenceCrossEntropy(const Array &logits, const Array &target, double smoothing = 0,
                            const Array &weights = {});

} // namespace syncline::conformance
