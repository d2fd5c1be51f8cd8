// Marks errors that the input causes, to tell them apart from faults of the compiler.
//
// A pass that cannot carry out a model, a cluster or a request reports this by refuse(). All other
// errors of the pipeline are faults of the compiler, also those of verifiers and judges. MLIR's
// diagnostics have no category, so the mark is the metadata of a fused location. Printers of
// diagnostics print the location inside.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"

namespace syncline {

inline constexpr llvm::StringLiteral refusalMark = "syncline.refusal";

/// Reports an error at `location` that the input causes. The caller's message names what was found
/// and what was expected.
inline mlir::InFlightDiagnostic refuse(mlir::Location location) {
  mlir::MLIRContext *context = location.getContext();
  auto mark = mlir::StringAttr::get(context, refusalMark);
  return mlir::emitError(mlir::FusedLoc::get({location}, mark, context));
}

/// Reports an error of an operation that the input causes. The message begins with the operation's
/// name, as that of emitOpError does.
inline mlir::InFlightDiagnostic refuseOp(mlir::Operation *op) {
  mlir::InFlightDiagnostic diagnostic = refuse(op->getLoc());
  diagnostic << "'" << op->getName() << "' op ";
  return diagnostic;
}

/// The location inside a marked one; nothing where the location has no mark.
inline std::optional<mlir::Location> refusedAt(mlir::Location location) {
  auto fused = mlir::dyn_cast<mlir::FusedLoc>(location);
  auto mark =
      fused ? mlir::dyn_cast_or_null<mlir::StringAttr>(fused.getMetadata()) : mlir::StringAttr();
  if (!mark || mark.getValue() != refusalMark)
    return std::nullopt;
  return fused.getLocations().front();
}

} // namespace syncline
