// What `compile` was asked for, read and checked once.
#pragma once

#include "frontend/driver/Compile.h"
#include "frontend/files/ClusterFile.h"
#include "frontend/files/Profile.h"
#include "frontend/onnx/ImportOnnx.h"
#include "passes/solver/Planner.h"

#include "mlir/IR/MLIRContext.h"

#include <memory>
#include <optional>

namespace syncline::driver {

/// The files and texts of CompileOptions as types. Each is read here and nowhere else.
struct CompileRequest {
  std::shared_ptr<const solver::Planner> planner;
  frontend::ImportOptions import; ///< how the model is read
  files::ClusterFile cluster;     ///< with the requested nodes, and a device
  /// Whether the device is that of kind 'cpu', because the file states no rates, no profile is
  /// given and the plan is for processors. A layer trace has its times, and needs none.
  bool assumesDevice = false;
  std::optional<files::Profile> profile;
};

/// Errors: badUsage for a planner, scheme or form of consistency that there is not; badInput,
/// naming it, for a file that is no regular file, cannot be read or is faulty.
Result<CompileRequest> readRequest(const CompileOptions &options, mlir::MLIRContext &context);

} // namespace syncline::driver
