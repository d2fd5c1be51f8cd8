// A slow, obvious interpreter of nn: plain loops in double precision. It judges passes, backends
// and generated code, and shares nothing with them but the dialect.
#pragma once

#include "ir/nn/NN.h"
#include "tests/reference/Tensor.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

namespace syncline::reference {

/// Tensors by the names of inputs, targets, parameters and states.
using Bindings = llvm::StringMap<Tensor>;

struct StepResult {
  double loss = 0;
  Bindings gradients; ///< what reaches the update of each parameter
  Bindings states;    ///< every state after the step
  Bindings outputs;   ///< by the name of 'nn.output'
};

/// Runs one step of one rank. Every input, target, parameter and state needs a binding of its
/// shape; states start from it. Fails on a missing binding and on an operation that is not nn's.
llvm::Expected<StepResult> interpret(nn::StepOp step, const Bindings &bindings);

/// Dropout's decision in the reference: does it keep this element of this layer?
bool keepsElement(llvm::StringRef layer, std::int64_t element, double ratio);
/// The number that the reference draws for this element of a noise.
double drawnNumber(nn::NoiseOp op, std::int64_t element);

} // namespace syncline::reference
