// The program syncline-translate, which prints what codegen makes of a plan's text.
#include "codegen/cpp/CppTarget.h"
#include "codegen/cuda/CudaTarget.h"
#include "codegen/json/EmitPlanJson.h"
#include "codegen/nccl/TunerTable.h"
#include "codegen/step/EmitStep.h"
#include "ir/Try.h"
#include "passes/RegisterAll.h"

#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"

#include <nlohmann/json.hpp>

using namespace mlir;
using namespace syncline::codegen;

/// A version for the text that stays the same in all releases.
static constexpr const char *version = "test";

static TranslateFromMLIRFunction printStep(const StepTarget &target) {
  return [&target](Operation *module, llvm::raw_ostream &os) -> LogicalResult {
    for (auto program : cast<ModuleOp>(module).getOps<syncline::plan::ProgramOp>()) {
      SYNCLINE_TRY_MLIR(text, emitStep(program, target, {version, "optimal"}));
      os << *text;
    }
    return success();
  };
}

static LogicalResult printJson(ModuleOp module, llvm::raw_ostream &os) {
  auto document = emitPlanJson(module, {version, "plan", "", ""});
  if (!document)
    return module.emitError(document.status().message());
  os << document->dump(1) << "\n";
  return success();
}

/// Prints the table, then the clashes of which compile warns.
static LogicalResult printTunerTable(ModuleOp module, llvm::raw_ostream &os) {
  auto spec = module->getAttrOfType<syncline::cluster::SpecAttr>(syncline::cluster::specAttr);
  if (!spec || !spec.getNccl())
    return module.emitError("expected a cluster with 'nccl'");
  for (auto program : module.getOps<syncline::plan::ProgramOp>()) {
    const TunerTable table = tunerTable(program);
    os << table.text;
    for (const TunerClash &clash : table.clashes)
      os << "clash of " << clash.first << " by " << clash.firstAlgorithm << " and " << clash.second
         << " by " << clash.secondAlgorithm << ", " << clash.bytes << " bytes\n";
  }
  return success();
}

int main(int argc, char **argv) {
  TranslateFromMLIRRegistration cpp("plan-to-cpp", "step.cpp of a plan", printStep(cppTarget()),
                                    syncline::registerAllDialects);
  TranslateFromMLIRRegistration cuda("plan-to-cuda", "step.cu of a plan", printStep(cudaTarget()),
                                     syncline::registerAllDialects);
  TranslateFromMLIRRegistration json("plan-to-json", "plan.json of a plan, without hashes",
                                     printJson, syncline::registerAllDialects);
  TranslateFromMLIRRegistration tuner("plan-to-nccl-tuner",
                                      "nccl-tuner.csv of a plan, and its clashes", printTunerTable,
                                      syncline::registerAllDialects);
  return failed(mlirTranslateMain(argc, argv, "prints what codegen makes of a plan\n"));
}
