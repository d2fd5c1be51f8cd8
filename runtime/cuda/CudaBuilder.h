// The CUDA backend's StepBuilder. It turns each call into prepared commands of a Program.
//
// The methods are spread over files by kind: ConvolutionOps.cpp, MatmulOps.cpp, BatchNormOps.cpp,
// NormalizationOps.cpp, PoolingOps.cpp, LossOps.cpp, DataMovementOps.cpp, ElementwiseOps.cpp.
#pragma once

#include "runtime/core/OperationBuilder.h"
#include "runtime/cuda/Preparation.h"
#include "runtime/cuda/Program.h"

namespace syncline::cuda {

class CudaBuilder final : public core::OperationBuilder<Program, Preparation> {
public:
  explicit CudaBuilder(Program &program) : OperationBuilder(program) {}

#include "runtime/core/StepOperations.inc"

private:
  void changed(int bucket) override;
  void attempt(const std::function<void()> &one) override;
  core::GatherPart gatherOne(Preparation &p, Tensor in, Tensor out) override;
};

} // namespace syncline::cuda
