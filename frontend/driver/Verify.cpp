// `syncline verify`: a plan's files, checks and proofs, without the solver.
#include "frontend/driver/Commands.h"
#include "frontend/driver/Diagnostics.h"

#include "codegen/json/PlanFolder.h"
#include "passes/Passes.h"
#include "passes/RegisterAll.h"

#include "mlir/Pass/PassManager.h"

#include "CLI/CLI.hpp"

#include <cstdio>
#include <memory>

using namespace mlir;

namespace syncline::driver {

static Status verify(const std::string &folder) {
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  DiagnosticCollector diagnostics(&context);
  Result<OwningOpRef<ModuleOp>> module = verifyPlanFolder(folder, context);
  if (!module)
    return module.status();
  PassManager passes(&context);
  passes.addPass(createCheckSolutions());
  passes.addPass(createCheckPlan());
  if (failed(passes.run(module->get())))
    return diagnostics.status("'" + folder + "' fails a check without a reason");
  std::printf("%s: files unchanged, plan valid, bound proved\n", folder.c_str());
  return Status::ok();
}

Command addVerify(CLI::App &app) {
  auto folder = std::make_shared<std::string>();
  CLI::App *command =
      app.add_subcommand("verify", "Check a plan's files, rules and proofs, without the solver");
  command->add_option("PLAN", *folder, "Folder that 'syncline compile' wrote")->required();
  return [folder] { return verify(*folder); };
}

} // namespace syncline::driver
