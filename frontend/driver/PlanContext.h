// The MLIR context of a command.
#pragma once

#include "passes/RegisterAll.h"

#include "mlir/IR/MLIRContext.h"

namespace syncline::driver {

/// Has every dialect loaded and runs passes on one thread: a module has one step or one trace.
class PlanContext : public mlir::MLIRContext {
public:
  PlanContext() : MLIRContext(allDialects(), Threading::DISABLED) { loadAllAvailableDialects(); }

private:
  static mlir::DialectRegistry allDialects() {
    mlir::DialectRegistry registry;
    registerAllDialects(registry);
    return registry;
  }
};

} // namespace syncline::driver
