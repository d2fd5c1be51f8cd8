// What `compile` was asked for, read and checked once.
#pragma once

#include "frontend/driver/Compile.h"
#include "frontend/files/ClusterFile.h"
#include "frontend/files/Profile.h"
#include "frontend/onnx/ImportOnnx.h"
#include "passes/candidates/Candidates.h"
#include "syncline/OptimizerKind.h"

#include "mlir/IR/MLIRContext.h"

#include <optional>
#include <string>
#include <vector>

namespace syncline::driver {

/// What messages call the inputs.
struct InputPaths {
  std::string model, cluster;
  std::string profile; ///< empty for none
};

/// The files and texts of CompileOptions as types. Each is read here and nowhere else.
struct CompileRequest {
  InputPaths paths;
  candidates::Request plan; ///< with the planner that answers, which is Z3 where it was asked for
  std::vector<std::string> openForms; ///< of consistency, to compare; empty: the plan's is settled
  frontend::ImportOptions import;     ///< how the model is read
  OptimizerKind optimizer = OptimizerKind::sgd;
  std::string wire = "fp32", precision = "fp32"; ///< of allWires, of nn::precisions
  std::string backend = "cpu";                   ///< one of stepTargets()
  files::ClusterFile cluster;                    ///< with the requested nodes, and a device
  /// Whether the device is that of kind 'cpu', because the file states no rates, no profile is
  /// given and the plan is for processors. A layer trace has its times, and needs none.
  bool assumesDevice = false;
  bool knowsPrecision = false; ///< the device's rates are those of `precision`
  std::optional<files::Profile> profile;
};

/// Refuses inputs that are no regular files: inputs are read more than once, which a pipe does not
/// allow, and a device may never end.
Status expectFile(const std::string &path);

/// Precondition: the backend is settled. Errors: badUsage for a planner, scheme or form of
/// consistency that there is not; badInput, naming it, for a file that is no regular file, cannot
/// be read or is faulty.
Result<CompileRequest> readRequest(const CompileOptions &options, mlir::MLIRContext &context);

} // namespace syncline::driver
