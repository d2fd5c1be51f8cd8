// Registration of the cluster dialect and the rules of its attributes (SPEC.md).
#include "ir/cluster/Cluster.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace syncline::cluster;

#include "ir/cluster/ClusterDialect.cpp.inc"
#include "ir/cluster/ClusterEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/cluster/ClusterAttrs.cpp.inc"

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

void ClusterDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/cluster/ClusterAttrs.cpp.inc"
      >();
}

/// Text of a double in a diagnostic.
static std::string text(Real value) {
  std::string result;
  llvm::raw_string_ostream(result) << value;
  return result;
}

/// Times and constants are finite and not negative (minus zero included: it prints differently).
static LogicalResult checkTime(EmitError emitError, StringRef rule, StringRef name, Real value) {
  if (std::isfinite(value) && !std::signbit(value))
    return success();
  return emitError() << rule << ": expected '" << name << "' finite and not negative, got "
                     << text(value);
}

static LogicalResult checkRanks(EmitError emitError, StringRef rule, int64_t ranks) {
  if (ranks >= 1 && ranks <= INT32_MAX)
    return success();
  return emitError() << rule << ": expected 'ranks' from 1 to " << INT32_MAX << ", got " << ranks;
}

LogicalResult DeviceAttr::verify(EmitError emitError, std::optional<Real> compute,
                                 std::optional<Real> memory, Real launchOverhead) {
  const std::pair<StringRef, std::optional<Real>> rates[] = {{"compute", compute},
                                                             {"memory", memory}};
  for (const auto &[name, rate] : rates)
    if (rate && !(std::isfinite(*rate) && *rate > 0))
      return emitError() << "C2: expected '" << name << "' finite and above zero, got "
                         << text(*rate);
  return checkTime(emitError, "C2", "launchOverhead", launchOverhead);
}

LogicalResult FormulaAttr::verify(EmitError emitError, Algorithm, int64_t ranks, Real alpha,
                                  Real beta, Real gamma) {
  return failure(failed(checkRanks(emitError, "C3", ranks)) ||
                 failed(checkTime(emitError, "C3", "alpha", alpha)) ||
                 failed(checkTime(emitError, "C3", "beta", beta)) ||
                 failed(checkTime(emitError, "C3", "gamma", gamma)));
}

LogicalResult AffineAttr::verify(EmitError emitError, Real a, Real b) {
  return failure(failed(checkTime(emitError, "C4", "a", a)) ||
                 failed(checkTime(emitError, "C4", "b", b)));
}

LogicalResult TableAttr::verify(EmitError emitError, ArrayRef<Point> points) {
  if (points.empty())
    return emitError() << "C5: expected at least one point, got none";
  int64_t previous = -1;
  for (const Point &point : points) {
    if (point.bytes <= previous)
      return emitError() << "C5: expected sizes from zero in ascending order, got " << point.bytes
                         << " after " << previous;
    if (failed(checkTime(emitError, "C5", "seconds", point.seconds)))
      return failure();
    previous = point.bytes;
  }
  return success();
}

LogicalResult SpecAttr::verify(EmitError emitError, StringRef, int64_t ranks, DeviceAttr,
                               Attribute allReduce) {
  if (failed(checkRanks(emitError, "C1", ranks)))
    return failure();
  if (!isCost(allReduce))
    return emitError() << "C6: expected 'allReduce' to be #cluster.formula, #cluster.affine or "
                          "#cluster.table, got "
                       << allReduce;
  if (auto formula = llvm::dyn_cast<FormulaAttr>(allReduce); formula && formula.getRanks() != ranks)
    return emitError() << "C6: expected a formula for " << ranks << " ranks, got one for "
                       << formula.getRanks();
  return success();
}

LogicalResult TimesAttr::verify(EmitError emitError, Real forward, std::optional<Real> backward) {
  return failure(failed(checkTime(emitError, "C8", "forward", forward)) ||
                 (backward && failed(checkTime(emitError, "C8", "backward", *backward))));
}

// C7, C8: the dialect's two discardable attributes, both of a module.
LogicalResult ClusterDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (!isa<ModuleOp>(op))
    return op->emitError("C7: expected '")
           << attribute.getName().getValue() << "' on a module, got it here";
  if (attribute.getName() == specAttr && isa<SpecAttr>(attribute.getValue()))
    return success();
  if (attribute.getName() == profileAttr)
    if (auto times = llvm::dyn_cast<DictionaryAttr>(attribute.getValue()))
      if (llvm::all_of(times,
                       [](NamedAttribute entry) { return isa<TimesAttr>(entry.getValue()); }))
        return success();
  return op->emitError("C7: expected 'cluster.spec' = #cluster.spec or 'cluster.profile' = a "
                       "dictionary of #cluster.times, got '")
         << attribute.getName().getValue() << "' = " << attribute.getValue();
}
