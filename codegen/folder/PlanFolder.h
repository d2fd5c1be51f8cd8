// The plan folder: written whole or not at all, and checked byte by byte.
#pragma once

#include "codegen/folder/SmallerPlans.h"
#include "codegen/json/EmitPlanJson.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace syncline::codegen {

/// A file of the folder that the caller writes: weights.bin, model.onnx, layers.csv.
struct PlanFile {
  std::string name;
  std::function<Status(const std::string &path)> write;
};

struct PlanSources {
  mlir::ModuleOp module; ///< as emitPlanJson requires it
  PlanInfo info;
  std::string includeDirectory; ///< where the runtime's headers are, to compile the step
  std::vector<PlanFile> files;
  /// Where given, told each phase by name as it begins: "writing", "compiling the step".
  std::function<void(const std::string &phase)> enter;
  /// Whether a folder for GPUs is written without step.so where nvcc is not installed.
  bool mayLackCompiler = false;
};

/// Whether a plan that has a step was written without step.so. Throws as nlohmann::json does.
bool isUncompiled(const nlohmann::json &document);

/// Writes `folder`: plan.mlir, the given files and plan.json. Where the module has a program, also
/// step.cpp (for info.backend "cuda": step.cu and nccl-tuner.csv) and step.so. The files are made
/// in a folder beside it that is renamed at the end; on an error nothing stays. A folder that holds
/// a plan and nothing else is replaced (see expectReplaceable()); anything else is refused. Returns
/// the document written. Errors: badInput, naming the file; internal when generated code does not
/// compile, with the compiler's messages.
Result<nlohmann::json> writePlan(const std::string &folder, const PlanSources &sources);

/// Plans of the same model for smaller sizes of one dimension of its inputs, or for smaller batches
/// of some ranks.
struct SmallerPlans {
  std::string dimension;
  std::int64_t largest = 0;                ///< the size of the folder's own plan
  std::optional<RankBatches> batches = {}; ///< where sizes are batches
  std::vector<std::pair<std::int64_t, PlanSources>> plans = {}; ///< ascending by size
};

/// The name of a smaller plan's folder: "seq-128". Characters of the dimension's name that file
/// names do not take become '_'.
std::string smallerFolder(const std::string &dimension, std::int64_t size);

/// As writePlan(), with a folder of its own for each smaller plan, and a list of all plans:
/// lengths.json, or batches.json with `batches`. Returns their documents, the folder's own last.
/// Values that are equal are one file with several links.
Result<std::vector<nlohmann::json>>
writePlans(const std::string &folder, const PlanSources &sources, const SmallerPlans &smaller);

/// Reads plan.json and checks its schema and its own hash, not the other files. Errors: badInput,
/// naming the file.
Result<nlohmann::json> readPlanJson(const std::string &folder);

/// Checks every file's hash, that plan.mlir parses and verifies, and that step.cpp (step.cu,
/// nccl-tuner.csv) and plan.json are what its module gives. Returns the module, so that passes can
/// judge it. Precondition: the context's registry knows the dialects (registerAllDialects). Errors:
/// badInput, naming the file.
Result<mlir::OwningOpRef<mlir::ModuleOp>> verifyPlanFolder(const std::string &folder,
                                                           mlir::MLIRContext &context);

} // namespace syncline::codegen
