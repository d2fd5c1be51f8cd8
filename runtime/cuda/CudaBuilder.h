// The CUDA backend's StepBuilder. It turns each call into prepared commands of a Program.
//
// The methods are spread by kind over the files *Ops.cpp.
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
