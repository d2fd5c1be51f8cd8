// syncline-opt: runs any pass on IR text.
#include "passes/Passes.h"
#include "passes/Pipeline.h"
#include "passes/RegisterAll.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  syncline::registerAllDialects(registry);
  syncline::registerSynclinePasses();
  syncline::registerPipeline();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "runs Syncline's passes on IR text\n", registry));
}
