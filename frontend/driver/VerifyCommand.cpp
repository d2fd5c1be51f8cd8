// `syncline verify`: a plan's files, checks and proofs, without the solver.
#include "frontend/driver/AskZ3.h"
#include "frontend/driver/Commands.h"
#include "frontend/driver/CompareModel.h"
#include "frontend/driver/PlanContext.h"
#include "frontend/driver/Z3Planner.h"
#include "frontend/files/ClusterFile.h"
#include "frontend/files/ClusterKinds.h"
#include "frontend/files/DeviceTable.h"
#include "frontend/files/Paths.h"
#include "frontend/ir/ToAttr.h"
#include "frontend/onnx/CheckSkeleton.h"
#include "passes/Diagnostics.h"

#include "codegen/folder/Hashes.h"
#include "codegen/folder/PlanFolder.h"
#include "codegen/folder/SmallerPlans.h"
#include "ir/FirstOf.h"
#include "ir/cluster/Cluster.h"
#include "ir/nn/NN.h"
#include "ir/plan/Plan.h"
#include "ir/sync/Sync.h"
#include "passes/Passes.h"
#include "passes/candidates/SplitBatch.h"
#include "passes/solver/Planner.h"
#include "passes/z3/Z3Judge.h"
#include "runtime/launch/CliChecks.h"
#include "syncline/TrainedLoss.h"

#include "mlir/Pass/PassManager.h"

#include "CLI/CLI.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

using namespace mlir;

namespace syncline::driver {

namespace {

struct VerifyOptions {
  std::string plan;
  std::string model, cluster; ///< files to compare with; empty for none
  bool withZ3 = false;
  std::optional<codegen::RankBatches> batches = {}; ///< of a folder whose ranks have unequal ones
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
  SYNCLINE_TRY_GET(hash, codegen::sha256OfFile(file));
  return *hash == digest ? Status::ok()
                         : Status::badInput("'" + options.plan + "' was not made from '" + file +
                                            "': its hash differs");
}

/// Checks what plan.json states about the plan's origin.
Status checkOrigin(const VerifyOptions &options) {
  SYNCLINE_TRY_GET(document, codegen::readPlanJson(options.plan));
  const nlohmann::json &hashes = (*document)["hashes"];
  SYNCLINE_TRY(checkSource(options, hashes, "model", options.model));
  SYNCLINE_TRY(checkSource(options, hashes, "cluster", options.cluster));
  const std::string planner = (*document)["planner"];
  if (!solver::plannerOfPlan(planner))
    return Status::badInput("'" + options.plan + "/plan.json': no planner has the name '" +
                            planner + "'");
  return Status::ok();
}

/// The output that is the loss; empty where the text names none.
std::string lossOf(const nlohmann::json &loss) {
  const Result<TrainedLoss> read =
      TrainedLoss::parse(loss.is_string() ? loss.get<std::string>() : std::string());
  return read ? read->output : std::string();
}

frontend::PlannedNames namesOf(const nlohmann::json &document) {
  frontend::PlannedNames names;
  for (const nlohmann::json &input : document.at("inputs"))
    names.inputs.push_back(input.at(input.contains("of") ? "of" : "name").get<std::string>());
  document.at("unneeded_inputs").get_to(names.unneeded);
  const nlohmann::json options = document.value("options", nlohmann::json());
  if (document.at("output").is_null())
    names.output = lossOf(document.at("loss"));
  else
    document.at("output").at("name").get_to(names.output);
  if (options.is_object() && options.contains("loss_on") && options["loss_on"].is_string())
    options["loss_on"].get_to(names.lossOn);
  for (const nlohmann::json &tensor : document.at("tensors"))
    if (tensor.at("kind") == "parameter")
      names.parameters.push_back(tensor.at("name").get<std::string>());
    else if (tensor.at("kind") == "state")
      names.states.push_back(tensor.at("name").get<std::string>());
  return names;
}

/// The plan's cluster, with the slowdowns that follow from the ranks' own batches.
cluster::SpecAttr balancedSpec(const codegen::RankBatches &batches,
                               llvm::ArrayRef<double> slowdowns, cluster::SpecAttr spec,
                               ModuleOp plan) {
  return candidates::asBalanced(spec, {batches.fixed, batches.perSample}, slowdowns,
                                batches.ofRanks, firstOf<plan::ProgramOp>(plan).getBatch());
}

/// The batches that the folder states are the best by what it states of the ranks, have as many
/// samples as equal ones, and give the plan's slowdowns.
Status checkBatches(const VerifyOptions &options, ModuleOp plan) {
  const codegen::RankBatches &batches = *options.batches;
  const auto bad = [&](const std::string &what) {
    return Status::badInput("'" + options.plan + "': " + what);
  };
  const std::int64_t wanted = batches.equal * std::ssize(batches.ofRanks);
  if (batches.samples() != wanted)
    return bad("expected batches of " + std::to_string(wanted) + " samples in all, got " +
               std::to_string(batches.samples()));
  if (!candidates::isBestSplit({batches.fixed, batches.perSample}, batches.slowdowns,
                               batches.ofRanks))
    return bad("other batches of its ranks have a shorter step");
  auto spec = plan->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
  if (balancedSpec(batches, batches.slowdowns, spec, plan) != spec)
    return bad("its slowdowns are not those of the ranks' batches");
  return Status::ok();
}

/// The cluster that the plan has is the file's, for the plan's number of ranks and the precision in
/// which it was asked to compute.
Status compareCluster(const VerifyOptions &options, ModuleOp plan, const std::string &precision) {
  SYNCLINE_TRY_GET(file, files::readClusterFile(options.cluster));
  auto spec = plan->getAttrOfType<cluster::SpecAttr>(cluster::specAttr);
  file->ranks = spec.getRanks();
  // A plan by a profile has no kernels where its kind lacks the precision.
  const auto kernels = spec.getDevice().getKernels();
  const files::DeviceKind *kind = files::findDeviceKind(file->device.kind);
  if (kernels || (kind && !kind->isGpu()))
    files::predictByKind(file->device, precision, kernels ? kernels.getLike().str() : "");
  auto given = cluster::withNccl(frontend::toAttr(*file, plan.getContext()), spec.getNccl());
  if (options.batches)
    given = balancedSpec(*options.batches, candidates::slowdownsOf(given), given, plan);
  if (given == spec)
    return Status::ok();
  return Status::badInput("'" + options.plan + "/plan.mlir': its cluster differs from what '" +
                          options.cluster + "' says");
}

/// The precision that plan.json records of `compile`'s options. A layer trace has none.
std::string precisionOf(const nlohmann::json &document) {
  const nlohmann::json options = document.value("options", nlohmann::json());
  const bool isStated = options.is_object() && options.contains("precision");
  return isStated && options["precision"].is_string() ? options["precision"].get<std::string>()
                                                      : nn::precisions[0].str();
}

/// Compares what the options name, and says what was compared and what was not.
Result<std::string> compareSources(const VerifyOptions &options, ModuleOp plan) {
  SYNCLINE_TRY_GET(document, codegen::readPlanJson(options.plan));
  const bool runs = static_cast<bool>(firstOf<plan::ProgramOp>(plan));
  if (runs)
    SYNCLINE_TRY(frontend::checkSkeleton(options.plan + "/model.onnx", namesOf(*document)));
  bool comparesModel = false;
  if (!options.model.empty()) {
    SYNCLINE_TRY_GET(compared, compareModel(options.plan, *document, plan, options.model));
    comparesModel = *compared;
  }
  if (!options.cluster.empty())
    SYNCLINE_TRY(compareCluster(options, plan, precisionOf(*document)));
  const std::string model = runs ? "program, values and model.onnx" : "layers";
  std::string equal = comparesModel ? model + " as the model gives them" : "",
              open = comparesModel ? "" : model + " with the model";
  const auto add = [](std::string &list, const std::string &item) {
    list += (list.empty() ? "" : ", ") + item;
  };
  add(options.cluster.empty() ? open : equal,
      options.cluster.empty() ? "the cluster with its file" : "the cluster as its file says");
  if (plan->hasAttr(cluster::profileAttr))
    add(open, "times with the profile");
  if (runs && comparesModel) // the plan's own: any of them makes a good plan
    add(open, "options of training");
  if (runs)
    add(open, codegen::isUncompiled(*document) ? "step.cu, which is not compiled"
                                               : "step.so with its source");
  return equal + (equal.empty() || open.empty() ? "" : "; ") +
         (open.empty() ? "" : "not compared: " + open);
}

Status verify(const VerifyOptions &options) {
  const std::string &folder = options.plan;
  SYNCLINE_TRY(checkOrigin(options));
  PlanContext context;
  DiagnosticCollector diagnostics(&context);
  SYNCLINE_TRY_GET(module, codegen::verifyPlanFolder(folder, context));
  PassManager passes(&context);
  passes.addPass(createCheckSolutions());
  passes.addPass(createCheckPlan());
  passes.addPass(createCheckRunnable());
  if (failed(passes.run(module->get())))
    return diagnostics.status("'" + folder + "' fails a check without a reason");
  if (options.batches)
    SYNCLINE_TRY(checkBatches(options, module->get()));
  SYNCLINE_TRY_GET(compared, compareSources(options, module->get()));
  auto solution = firstOf<sync::SolutionOp>(module->get());
  std::printf("%s: files unchanged, plan valid, bound %sproved; %s\n", folder.c_str(),
              solution && solution.channels() > 1 ? "of one channel " : "", compared->c_str());
  if (!options.withZ3)
    return Status::ok();
  std::fflush(stdout); // Z3 may take long
  SYNCLINE_TRY_GET(opinion, askZ3(folder, module->get(), z3Seconds));
  std::printf("%s\n", opinion->c_str());
  return Status::ok();
}

/// Refuses a smaller plan whose buckets, or what else a run depends on, are not those of the
/// folder's own: steps of both train the parameters of one memory.
Status expectCommonBuckets(const std::string &folder, const std::string &smaller, bool ofOneBatch) {
  SYNCLINE_TRY_GET(own, codegen::readPlanJson(folder));
  SYNCLINE_TRY_GET(other, codegen::readPlanJson(smaller));
  const auto lie = [](const nlohmann::json &one, const nlohmann::json &two) {
    constexpr const char *keys[] = {"id", "members", "scheme", "channel", "offset", "extent"};
    return std::ranges::all_of(keys, [&](const char *key) { return one.at(key) == two.at(key); });
  };
  for (const char *key : {"ranks", "servers", "batch", "loss", "optimizer", "precision", "wire",
                          "accumulate", "clip_norm", "backend"})
    if (own->at(key) != other->at(key) && (ofOneBatch || key != std::string_view("batch")))
      return Status::badInput("'" + smaller + "/plan.json': '" + key + "' is not that of '" +
                              folder + "', with which it shares the parameters");
  return std::ranges::equal(own->at("buckets"), other->at("buckets"), lie)
             ? Status::ok()
             : Status::badInput("'" + smaller + "/plan.json': its buckets are not those of '" +
                                folder + "', with which it shares the parameters");
}

/// Verifies the folder's own plan and those for smaller sizes.
Status verifyAll(const VerifyOptions &options) {
  SYNCLINE_TRY_GET(folders, codegen::readSmaller(options.plan));
  VerifyOptions one = options;
  one.batches = folders->batches;
  for (const codegen::SizedFolder &smaller : folders->smaller) {
    one.plan = smaller.folder;
    SYNCLINE_TRY(verify(one));
    SYNCLINE_TRY(
        expectCommonBuckets(options.plan, smaller.folder, /*ofOneBatch=*/!folders->batches));
  }
  one.plan = options.plan;
  return verify(one);
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
                   "Compare the plan with what this model or layer trace gives again, on the "
                   "plan's cluster by the plan's solution: program, values and model.onnx")
      ->type_name("FILE")
      ->check(launch::someText());
  command
      ->add_option(
          "--cluster", options->cluster,
          "Compare the plan's cluster with this file, or a sample's, from which it was made")
      ->type_name("FILE")
      ->check(launch::someText());
  command->add_flag(
      "--with-z3", options->withZ3,
      "Also have Z3 prove the bound from the problem, independently of the plan's certificate; "
      "of a plan of '--overlap step', that no other order of its messages has a shorter step" +
          std::string(z3judge::checkAvailable() ? "" : " (this build has no Z3)"));
  return [options]() -> Status {
    if (options->withZ3)
      SYNCLINE_TRY(z3judge::checkAvailable());
    SYNCLINE_TRY(files::resolveCluster(options->cluster));
    return verifyAll(*options);
  };
}

} // namespace syncline::driver
