// StepKernels: the kernels that a framework runs for an operation of a step.
#pragma once

#include "ir/nn/NN.h"
#include "passes/cost/DeviceModel.h"
#include "syncline/OptimizerKind.h"

#include <vector>

namespace syncline::cost {

/// Whose kernels a step has (#cluster.kernels), by what they do.
struct KernelStyle {
  bool isFused = false;          ///< elementwise operations run in the loops of fuse-pointwise
  bool isTuned = false;          ///< batch normalisation writes relu's result too
  bool hasChannelsFirst = false; ///< in 16 bits; fp32 and tf32 of eager kernels always have
  Precision precision = Precision::fp32;

  /// `like` is one of cluster::allLikes.
  static KernelStyle of(llvm::StringRef like, Precision precision);

  bool isHalf() const { return precision == Precision::bf16 || precision == Precision::fp16; }
  /// Bytes of an element of an activation.
  double width() const { return isHalf() ? 2 : 4; }
};

/// The kernels of `op`, which countsOf() says takes time; none where it only names data. Updates
/// have those of updateKernel().
std::vector<Kernel> kernelsOf(mlir::Operation *op, const KernelStyle &style);

/// The kernels of an `nn.pointwise`, one for each elementwise operation that reads two values or
/// more, or whose result leaves the loop: what its body computes from one value is one kernel.
std::vector<Kernel> pointwiseKernels(nn::PointwiseOp op, const KernelStyle &style);

/// A parameter's part of the kernels that update many parameters at once.
Kernel updateKernel(double elements, double bytes, OptimizerKind kind, const KernelStyle &style);

} // namespace syncline::cost
