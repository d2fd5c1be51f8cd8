// The losses, by the backend's kernels, because no library has them.
#include "runtime/core/Labels.h"
#include "runtime/cuda/CudaBuilder.h"
#include "runtime/cuda/kernels/Kernels.h"

namespace syncline::cuda {

void CudaBuilder::crossEntropy(std::string_view layer, Tensor logits, Tensor target, Tensor weights,
                               Tensor loss, Tensor dlogits, double smoothing) {
  prepare("crossEntropy", layer, [&](Preparation &p) {
    core::checkCrossEntropy(p, logits, target, weights, loss, dlogits);
    const core::AxisView view =
        core::aroundAxis(p.shape(logits), core::classAxis(p.shape(logits), p.shape(target)));
    const std::int64_t places = view.outer * view.inner + 2; // the losses and two sums of weights
    p.call("warps",
           [&program = program, view, smoothing, scratch = p.scratchPlace<double>(places * 8),
            x = p.input(logits), labels = p.input<std::int64_t>(target),
            ofClasses = weights.isValid() ? p.input(weights) : Place<float>(),
            result = p.output(loss), gradient = p.outputOrNull(dlogits)] {
             const CrossEntropyTerms terms{smoothing, ofClasses,
                                           program.lossScale * program.lossWeight.value_or(1),
                                           program.lossWeight.has_value()};
             SYNCLINE_CHECK(cuda::crossEntropy(program.device.compute, x, labels, result, gradient,
                                               view, terms, scratch));
           });
  });
}

void CudaBuilder::meanSquaredError(std::string_view layer, Tensor y, Tensor target, Tensor loss,
                                   Tensor dy) {
  prepare("meanSquaredError", layer, [&](Preparation &p) {
    core::checkMeanSquaredError(p, y, target, loss, dy);
    p.call("blocks",
           [&program = program, n = p.count(y),
            scratch = p.scratchPlace<double>(std::int64_t{errorBlocks} * 8), y = p.input(y),
            target = p.input(target), result = p.output(loss), gradient = p.outputOrNull(dy)] {
             SYNCLINE_CHECK(cuda::meanSquaredError(program.device.compute, y, target, result,
                                                   gradient, n, program.lossScale, scratch));
           });
  });
}

} // namespace syncline::cuda
