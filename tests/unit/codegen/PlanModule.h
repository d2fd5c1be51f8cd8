// Plans from text, for tests of codegen.
#pragma once

#include "ir/plan/Plan.h"
#include "tests/support/TemporaryFolder.h"

#include "mlir/IR/OwningOpRef.h"

#include <string>

namespace syncline::test {

/// A context that knows every dialect, and modules parsed in it.
class PlanModule {
public:
  PlanModule();
  /// Empty when the text does not parse; the test fails then.
  mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string &text);
  mlir::MLIRContext context;
};

/// A module with a small trained network: convolution, a flat loop, a loop that broadcasts,
/// pooling, matrix product, loss, two buckets; problem and solution beside it.
std::string smallNetwork();

/// A trace's module: problem and solution only.
std::string smallTrace();

} // namespace syncline::test
