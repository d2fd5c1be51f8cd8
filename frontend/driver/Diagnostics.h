// MLIR's diagnostics as one Status.
#pragma once

#include "syncline/Status.h"

#include "mlir/IR/Diagnostics.h"

#include <string>

namespace syncline::driver {

/// Collects errors while it lives. The first error becomes the status's message, its notes behind
/// it; later errors are consequences and are dropped.
class DiagnosticCollector {
public:
  explicit DiagnosticCollector(mlir::MLIRContext *context);

  /// badInput with the collected message, or `fallback` when nothing was said.
  Status status(const std::string &fallback) const;

private:
  std::string message;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace syncline::driver
