// The pass `barrier`: closes a phase by refusing operations that the phase should have removed.
#include "passes/Passes.h"

#include "llvm/ADT/StringSet.h"

namespace syncline {
#define GEN_PASS_DEF_BARRIER
#include "passes/Passes.h.inc"
} // namespace syncline

using namespace mlir;
using namespace syncline;

namespace {
struct Barrier : syncline::impl::BarrierBase<Barrier> {
  using BarrierBase::BarrierBase;

  void runOnOperation() override {
    llvm::StringSet<> refused;
    for (const std::string &name : illegal)
      refused.insert(name);
    WalkResult walk = getOperation()->walk([&](Operation *op) {
      if (!refused.contains(op->getName().getStringRef()))
        return WalkResult::advance();
      op->emitError("'") << op->getName() << "' is left after phase '" << phase << "'";
      return WalkResult::interrupt();
    });
    if (walk.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
