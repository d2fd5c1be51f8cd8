// `syncline verify`: a plan's files, checks and proofs, without the solver.
#include "frontend/driver/AskZ3.h"
#include "frontend/driver/Commands.h"
#include "frontend/driver/Diagnostics.h"
#include "frontend/driver/PlanContext.h"
#include "frontend/files/Paths.h"

#include "codegen/folder/Hashes.h"
#include "codegen/folder/PlanFolder.h"
#include "ir/FirstOf.h"
#include "ir/sync/Sync.h"
#include "passes/Passes.h"
#include "passes/solver/Planner.h"
#include "passes/z3/Z3Judge.h"
#include "runtime/launch/CliChecks.h"

#include "mlir/Pass/PassManager.h"

#include "CLI/CLI.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <filesystem>
#include <memory>

using namespace mlir;

namespace syncline::driver {

namespace {

struct VerifyOptions {
  std::string plan;
  std::string model, cluster; ///< files to compare with; empty for none
  bool withZ3 = false;
  double z3Seconds = 60; ///< that Z3 may take
};

/// Compares the hash of the plan's model or cluster with that of the given file, if there is one.
Status checkSource(const VerifyOptions &options, const nlohmann::json &hashes,
                   const std::string &what, const std::string &file) {
  const nlohmann::json stated = hashes.value(what, nlohmann::json());
  const std::string digest = stated.is_string() ? stated.get<std::string>() : "";
  if (digest.size() != 64 || digest.find_first_not_of("0123456789abcdef") != std::string::npos)
    return Status::badInput("'" + options.plan + "/plan.json': 'hashes." + what +
                            "': expected 64 hexadecimal digits");
  if (file.empty())
    return Status::ok();
  std::error_code ignored;
  if (std::filesystem::exists(file, ignored) && !std::filesystem::is_regular_file(file, ignored))
    return Status::badInput("'" + file + "': expected a regular file");
  Result<std::string> hash = codegen::sha256OfFile(file);
  if (!hash)
    return hash.status();
  return *hash == digest ? Status::ok()
                         : Status::badInput("'" + options.plan + "' was not made from '" + file +
                                            "': its hash differs");
}

/// Checks what plan.json states about the plan's origin.
Status checkOrigin(const VerifyOptions &options) {
  Result<nlohmann::json> document = codegen::readPlanJson(options.plan);
  if (!document)
    return document.status();
  const nlohmann::json &hashes = (*document)["hashes"];
  if (Status s = checkSource(options, hashes, "model", options.model); !s)
    return s;
  if (Status s = checkSource(options, hashes, "cluster", options.cluster); !s)
    return s;
  const std::string planner = (*document)["planner"];
  if (!solver::parsePlanner(planner))
    return Status::badInput("'" + options.plan + "/plan.json': S17: no planner has the name '" +
                            planner + "'");
  return Status::ok();
}

Status verify(const VerifyOptions &options) {
  const std::string &folder = options.plan;
  if (Status s = checkOrigin(options); !s)
    return s;
  PlanContext context;
  DiagnosticCollector diagnostics(&context);
  Result<OwningOpRef<ModuleOp>> module = codegen::verifyPlanFolder(folder, context);
  if (!module)
    return module.status();
  PassManager passes(&context);
  passes.addPass(createCheckSolutions());
  passes.addPass(createCheckPlan());
  passes.addPass(createCheckRunnable());
  if (failed(passes.run(module->get())))
    return diagnostics.status("'" + folder + "' fails a check without a reason");
  auto solution = firstOf<sync::SolutionOp>(module->get());
  std::printf("%s: files unchanged, plan valid, bound %sproved\n", folder.c_str(),
              solution && solution.channels() > 1 ? "of one channel " : "");
  if (!options.withZ3)
    return Status::ok();
  std::fflush(stdout); // Z3 may take long
  Result<std::string> opinion = askZ3(folder, module->get(), options.z3Seconds);
  if (!opinion)
    return opinion.status();
  std::printf("%s\n", opinion->c_str());
  return Status::ok();
}

} // namespace

Command addVerify(CLI::App &app) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App *command =
      app.add_subcommand("verify", "Check a plan's files, rules and proofs, without the solver");
  command->footer("Example:\n  syncline verify model.plan --model model.onnx --cluster lab.yaml");
  command->add_option("PLAN", options->plan, "Folder that 'syncline compile' wrote")->required();
  command
      ->add_option("--model", options->model,
                   "Compare this model or layer trace with the one that the plan was made from")
      ->type_name("FILE")
      ->check(launch::someText());
  command
      ->add_option(
          "--cluster", options->cluster,
          "Compare this cluster file, or a sample's, with the one that the plan was made for")
      ->type_name("FILE")
      ->check(launch::someText());
  CLI::Option *withZ3 = command->add_flag(
      "--with-z3", options->withZ3,
      "Also have Z3 prove the bound from the problem, independently of the plan's certificate; "
      "of a plan of '--overlap step', that no other order of its messages has a shorter step" +
          std::string(z3judge::checkAvailable() ? "" : " (this build has no Z3)"));
  command->add_option("--z3-seconds", options->z3Seconds, "Time that Z3 may take, seconds")
      ->type_name("SECONDS")
      ->check(launch::realNumber(0.001, 1e6, "a number of seconds from 0.001 to 1e6"))
      ->capture_default_str()
      ->needs(withZ3);
  return [options]() -> Status {
    if (options->withZ3)
      if (Status available = z3judge::checkAvailable(); !available)
        return available;
    if (Status found = files::resolveCluster(options->cluster); !found)
      return found;
    return verify(*options);
  };
}

} // namespace syncline::driver
