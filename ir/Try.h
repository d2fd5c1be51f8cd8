// SYNCLINE_TRY_GET (syncline/Status.h) for functions that fail as MLIR's do, with a diagnostic.
#pragma once

#include "mlir/Support/LogicalResult.h"

/// Declares `name`, the FailureOr that the expression makes, and returns failure() from the
/// function around it if that failed. Behind it, *name is the value.
#define SYNCLINE_TRY_MLIR(name, ...)                                                               \
  auto name = __VA_ARGS__;                                                                         \
  if (::mlir::failed(name))                                                                        \
  return ::mlir::failure()
