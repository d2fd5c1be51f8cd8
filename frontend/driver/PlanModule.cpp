// Reads plan.mlir and checks its hash.
#include "frontend/driver/PlanModule.h"

#include "codegen/folder/Hashes.h"
#include "codegen/folder/ParsePlan.h"
#include "codegen/folder/PlanFolder.h"

#include "ir/FirstOf.h"
#include "ir/sync/Consistency.h"

#include <nlohmann/json.hpp>

using namespace mlir;
using namespace syncline;

Result<OwningOpRef<ModuleOp>> driver::readPlanModule(const std::string &folder,
                                                     MLIRContext &context) {
  SYNCLINE_TRY_GET(document, codegen::readPlanJson(folder));
  const std::string path = folder + "/plan.mlir";
  SYNCLINE_TRY_GET(hash, codegen::sha256OfFile(path));
  if (nlohmann::json expected = (*document)["hashes"]["files"].value("plan.mlir", nlohmann::json());
      expected != *hash)
    return Status::badInput("'" + path +
                            "': the file was changed after it was compiled: its hash differs");
  return codegen::parsePlan(path, context);
}

Status driver::expectGradientsTravel(ModuleOp module, const std::string &folder,
                                     const std::string &what) {
  auto problem = firstOf<sync::ProblemOp>(module);
  if (!problem || !problem.getConsistency())
    return Status::ok();
  return Status::badInput("'" + folder + "': " + what +
                          " is for plans whose gradients travel, got " + "consistency '" +
                          sync::consistencyText(problem.getConsistencyAttr()) + "'");
}
