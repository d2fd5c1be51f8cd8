// The context of tests that parse modules.
#pragma once

#include "passes/RegisterAll.h"

#include "mlir/IR/MLIRContext.h"

namespace syncline::test {

/// One context for all tests of a program, on one thread, with all dialects.
inline mlir::MLIRContext &dialects() {
  static mlir::MLIRContext *const all = [] {
    mlir::DialectRegistry registry;
    registerAllDialects(registry);
    auto *made = new mlir::MLIRContext(registry, mlir::MLIRContext::Threading::DISABLED);
    made->loadAllAvailableDialects();
    return made;
  }();
  return *all;
}

} // namespace syncline::test
