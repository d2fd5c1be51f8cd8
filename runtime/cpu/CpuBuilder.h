// The CPU backend's StepBuilder. It turns each call into prepared commands of a Program.
//
// The methods are spread by kind over the files *Ops.cpp.
#pragma once

#include "runtime/core/OperationBuilder.h"
#include "runtime/cpu/Preparation.h"
#include "runtime/cpu/Program.h"

#include <map>

namespace syncline::cpu {

class CpuBuilder final : public core::OperationBuilder<Program, Preparation> {
public:
  explicit CpuBuilder(Program &program) : OperationBuilder(program) {}

#include "runtime/core/StepOperations.inc"

private:
  void attempt(const std::function<void()> &one) override;
  core::GatherPart gatherOne(Preparation &p, Tensor in, Tensor out) override;

  /// Forward descriptions by workspace tensor. A backward primitive must match its
  /// forward primitive.
  std::map<int, dnnl::primitive_desc> poolings;
  /// The shift of each batch normalization with activation, by workspace tensor. Its backward
  /// computes again what the activation let through.
  std::map<int, Tensor> shifts;
};

} // namespace syncline::cpu
