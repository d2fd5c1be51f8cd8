// MLIR's diagnostics as one Status.
#pragma once

#include "syncline/Status.h"

#include "mlir/IR/Diagnostics.h"

#include <string>

namespace syncline {

/// Collects errors while it lives. The first error becomes the status's message, its notes behind
/// it; later errors are consequences and are dropped.
class DiagnosticCollector {
public:
  explicit DiagnosticCollector(mlir::MLIRContext *context);

  /// For errors in what was read: badInput with the collected message, or with `fallback` where no
  /// message was collected.
  Status status(const std::string &fallback) const;
  /// For errors of passes over a module of the frontend: badInput where the first error is a
  /// refusal (ir/Refusal.h), else internal.
  Status passStatus(const std::string &fallback) const;

private:
  std::string message;
  bool isRefusal = false;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace syncline
