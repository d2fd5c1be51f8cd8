// Lists the targets.
#include "codegen/step/StepTarget.h"

#include "codegen/cpp/CppTarget.h"
#include "codegen/cuda/CudaTarget.h"

namespace syncline::codegen {

llvm::ArrayRef<const StepTarget *> stepTargets() {
  static const StepTarget *const all[] = {&cppTarget(), &cudaTarget()};
  return all;
}

const StepTarget *findTarget(llvm::StringRef backend) {
  for (const StepTarget *target : stepTargets())
    if (target->backend == backend)
      return target;
  return nullptr;
}

} // namespace syncline::codegen
