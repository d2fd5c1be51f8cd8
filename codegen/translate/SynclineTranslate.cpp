// syncline-translate: prints what codegen makes of a plan's text.
#include "codegen/cpp/EmitStepCpp.h"
#include "codegen/json/EmitPlanJson.h"
#include "passes/RegisterAll.h"

#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"

using namespace mlir;

/// Text that does not change from version to version.
static constexpr const char *version = "test";

static LogicalResult printStep(ModuleOp module, llvm::raw_ostream &os) {
  for (auto program : module.getOps<syncline::plan::ProgramOp>()) {
    FailureOr<std::string> text = syncline::emitStepCpp(program, {version, "optimal"});
    if (failed(text))
      return failure();
    os << *text;
  }
  return success();
}

static LogicalResult printJson(ModuleOp module, llvm::raw_ostream &os) {
  auto document = syncline::emitPlanJson(module, {version, "plan", "", ""});
  if (!document)
    return module.emitError(document.status().message());
  os << document->dump(1) << "\n";
  return success();
}

int main(int argc, char **argv) {
  TranslateFromMLIRRegistration step("plan-to-cpp", "step.cpp of a plan", printStep,
                                     syncline::registerAllDialects);
  TranslateFromMLIRRegistration json("plan-to-json", "plan.json of a plan, without hashes",
                                     printJson, syncline::registerAllDialects);
  return failed(mlirTranslateMain(argc, argv, "prints what codegen makes of a plan\n"));
}
