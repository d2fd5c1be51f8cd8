// Registers the sync dialect and verifies its messages and traces: S1, S3 and S4 of SPEC.md.
// SyncProblem.cpp has the problems and solutions.
#include "ir/sync/Sync.h"

#include "ir/sync/Disturbed.h"
#include "ir/sync/StepRange.h"
#include "ir/sync/TraceSamples.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace syncline::sync;

#include "ir/sync/SyncDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/sync/SyncAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "ir/sync/SyncOps.cpp.inc"

void SyncDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/sync/SyncAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ir/sync/SyncOps.cpp.inc"
      >();
}

LogicalResult SyncDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() == disturbedAttr)
    return verifyDisturbed(op, attribute.getValue());
  if (attribute.getName() == rangeAttr)
    return verifyRange(op, attribute.getValue());
  if (attribute.getName() == samplesAttr)
    return verifySamples(op, attribute.getValue());
  return op->emitError("unknown attribute '") << attribute.getName().getValue() << "'";
}

static bool isTime(double seconds) { return std::isfinite(seconds) && seconds >= 0; }

LogicalResult AllReduceOp::verify() {
  if (getLocal().empty() || getLocal().getTypes() != getAgreed().getTypes())
    return emitOpError("S1: expected at least one gradient and results of the operands' types");
  if (getMembers().size() != getLocal().size())
    return emitOpError("S1: expected one member name a gradient, got ")
           << getMembers().size() << " for " << getLocal().size();
  return success();
}

LogicalResult AllGatherOp::verify() {
  if (getLocal().empty() || getLocal().size() != getGathered().size() || getMembers().empty())
    return emitOpError("S4: expected at least one factor, one result a factor and a member");
  std::optional<int64_t> ranks;
  for (auto [own, all] : llvm::zip(getLocal().getTypes(), getGathered().getTypes())) {
    auto from = cast<RankedTensorType>(own), to = cast<RankedTensorType>(all);
    const bool alike =
        from.hasStaticShape() && to.hasStaticShape() && from.getRank() >= 1 &&
        from.getRank() == to.getRank() && from.getElementType() == to.getElementType() &&
        from.getShape().drop_front() == to.getShape().drop_front() && from.getDimSize(0) >= 1 &&
        to.getDimSize(0) >= from.getDimSize(0) && to.getDimSize(0) % from.getDimSize(0) == 0;
    if (!alike || ranks.value_or(to.getDimSize(0) / from.getDimSize(0)) !=
                      to.getDimSize(0) / from.getDimSize(0))
      return emitOpError("S4: expected results that hold as many ranks' factors, one behind the "
                         "other along dimension 0, got ")
             << all << " from " << own;
    ranks = to.getDimSize(0) / from.getDimSize(0);
  }
  return success();
}

LogicalResult GatheredAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                   Scheme scheme, int64_t bytes) {
  if (isGathered(scheme) && bytes >= 1)
    return success();
  return emitError() << "S3: expected 'gathered' to have a scheme, "
                     << listOf(schemesWhere<isGathered>) << ", and bytes";
}

LogicalResult TraceOp::verifyRegions() {
  llvm::StringSet<> names;
  for (auto layer : getOps<LayerOp>())
    names.insert(layer.getName());
  for (auto layer : getOps<LayerOp>())
    if (layer.getReader() && !names.contains(*layer.getReader()))
      return layer.emitOpError("S3: expected 'reader' to name a layer of the trace, got '")
             << *layer.getReader() << "'";
  return success();
}

LogicalResult LayerOp::verify() {
  if (static_cast<std::int64_t>(getBytes()) < 0 || !isTime(getForward().convertToDouble()) ||
      !isTime(getBackward().convertToDouble()))
    return emitOpError("S3: expected bytes and finite times that are not negative");
  for (auto [name, seconds] :
       {std::pair("update", getUpdate()), std::pair("reconstruct", getReconstruct())})
    if (seconds && !isTime(seconds->convertToDouble()))
      return emitOpError("S3: expected '") << name << "' to be a finite time that is not negative";
  if (getMatmul() &&
      (getMatmul()->size() != 3 || llvm::any_of(*getMatmul(), [](auto d) { return d < 1; })))
    return emitOpError("S3: expected three dimensions [M, N, K] of at least 1");
  return success();
}
