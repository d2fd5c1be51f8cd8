// Refusal: an error that the input causes, told apart from a fault of the compiler.
//
// A pass that finds that a model, a cluster or a request cannot be carried out says so by refuse();
// whatever else a pass of the pipeline reports, its verifiers and judges included, is a fault of
// ours. MLIR's diagnostics have no category: the mark is the metadata of a fused location, which
// printers of diagnostics look through.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"

namespace syncline {

inline constexpr llvm::StringLiteral refusalMark = "syncline.refusal";

/// An error at `location` that the input causes. Its message names what was found and expected.
inline mlir::InFlightDiagnostic refuse(mlir::Location location) {
  mlir::MLIRContext *context = location.getContext();
  auto mark = mlir::StringAttr::get(context, refusalMark);
  return mlir::emitError(mlir::FusedLoc::get({location}, mark, context));
}

/// The same about an operation, which the message then names first, as emitOpError does.
inline mlir::InFlightDiagnostic refuseOp(mlir::Operation *op) {
  mlir::InFlightDiagnostic diagnostic = refuse(op->getLoc());
  diagnostic << "'" << op->getName() << "' op ";
  return diagnostic;
}

/// The marked location's own; nothing where the location bears no mark.
inline std::optional<mlir::Location> refusedAt(mlir::Location location) {
  auto fused = mlir::dyn_cast<mlir::FusedLoc>(location);
  auto mark =
      fused ? mlir::dyn_cast_or_null<mlir::StringAttr>(fused.getMetadata()) : mlir::StringAttr();
  if (!mark || mark.getValue() != refusalMark)
    return std::nullopt;
  return fused.getLocations().front();
}

} // namespace syncline
