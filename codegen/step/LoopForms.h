// Recognizes the loops that a backend may compute together with a neighbouring operation.
#pragma once

#include "ir/plan/Plan.h"

#include "llvm/ADT/StringRef.h"

namespace syncline::codegen {

/// An enumerator of syncline::LoopForm, and PointwiseInfo::gate.
struct FoundForm {
  llvm::StringRef name; ///< "sumRelu"; empty for LoopForm::other
  unsigned gate = 0;
};

/// The form of a flat loop over f32 with one result, by the operations of its body.
FoundForm loopFormOf(plan::PointwiseOp loop);

} // namespace syncline::codegen
