// Registration and verifiers of the sync dialect; rules S1 to S8 of SPEC.md.
#include "ir/sync/Sync.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace syncline::sync;

#include "ir/sync/SyncDialect.cpp.inc"
#include "ir/sync/SyncEnums.cpp.inc"
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

static bool isTime(double seconds) { return std::isfinite(seconds) && seconds >= 0; }

LogicalResult AllReduceOp::verify() {
  if (getLocal().empty() || getLocal().getTypes() != getAgreed().getTypes())
    return emitOpError("S1: expected at least one gradient and results of the operands' types");
  if (getMembers().size() != getLocal().size())
    return emitOpError("S1: expected one member name a gradient, got ")
           << getMembers().size() << " for " << getLocal().size();
  double ready = getReady().convertToDouble(), start = getStart().convertToDouble(),
         end = getEnd().convertToDouble();
  if (!isTime(ready) || !(ready <= start && start <= end) || !isTime(end))
    return emitOpError("S2: expected 0 <= ready <= start <= end, got ")
           << ready << ", " << start << " and " << end;
  return success();
}

LogicalResult LayerOp::verify() {
  if (static_cast<std::int64_t>(getBytes()) < 0 || !isTime(getForward().convertToDouble()) ||
      !isTime(getBackward().convertToDouble()))
    return emitOpError("S3: expected bytes and finite times that are not negative");
  if (getMatmul() &&
      (getMatmul()->size() != 3 || llvm::any_of(*getMatmul(), [](auto d) { return d < 1; })))
    return emitOpError("S3: expected three dimensions [M, N, K] of at least 1");
  return success();
}

LogicalResult ProblemOp::verify() {
  size_t n = getLayers().size();
  if (getBytes().size() != n || getReady().getValues().size() != n)
    return emitOpError("S4: expected one size and one ready time a layer, got ")
           << getBytes().size() << " and " << getReady().getValues().size() << " for " << n;
  double last = 0;
  for (size_t k = 0; k < n; ++k) {
    if (getBytes()[k] < 0)
      return emitOpError("S5: expected bytes that are not negative, got ") << getBytes()[k];
    if (!isTime(getReady().getValues()[k]) || getReady().getValues()[k] < last)
      return emitOpError("S5: expected finite ascending ready times, got ")
             << getReady().getValues()[k] << " after " << last;
    last = getReady().getValues()[k];
  }
  return success();
}

LogicalResult SolutionOp::verify() {
  size_t buckets = getEnds().size();
  if (getStart().getValues().size() != buckets || getEnd().getValues().size() != buckets)
    return emitOpError("S6: expected one start and one end a bucket");
  std::int64_t last = 0;
  for (std::int64_t end : getEnds()) {
    if (end <= last)
      return emitOpError("S7: expected ascending ends of buckets, got ")
             << end << " after " << last;
    last = end;
  }
  return success();
}
