// Combines attributes of fused operations.
#include "passes/fuse/Combine.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace syncline::fuse;
using namespace syncline::nn;

void syncline::fuse::combineAttributes(Operation *into, ArrayRef<Operation *> parts) {
  double seconds = 0;
  bool known = true;
  for (Operation *part : parts) {
    auto time = part->getAttrOfType<FloatAttr>(secondsAttr);
    known &= static_cast<bool>(time);
    seconds += time ? time.getValueAsDouble() : 0;
  }
  if (known)
    into->setAttr(secondsAttr, Builder(into->getContext()).getF64FloatAttr(seconds));
  for (StringRef name : {StringRef(layerAttr), StringRef(backwardAttr)})
    if (Attribute attribute = parts.back()->getAttr(name))
      into->setAttr(name, attribute);
}
