// The command line of `syncline compile`.
#include "codegen/step/StepTarget.h"
#include "frontend/driver/BackendOption.h"
#include "frontend/driver/ChooseConsistency.h"
#include "frontend/driver/Commands.h"
#include "frontend/driver/CompileOffers.h"
#include "frontend/driver/Exclusions.h"
#include "frontend/driver/LossOptions.h"
#include "frontend/driver/NamedNumbers.h"
#include "frontend/files/Paths.h"
#include "ir/cluster/Cluster.h"
#include "ir/nn/NN.h"
#include "passes/solver/Planner.h"
#include "passes/z3/Z3Judge.h"
#include "runtime/launch/CliChecks.h"
#include "runtime/launch/CommandLine.h"
#include "syncline/OptimizerKind.h"
#include "syncline/PlanConstants.h"
#include "syncline/PlanFiles.h"
#include "syncline/WirePrecision.h"

#include "CLI/CLI.hpp"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <functional>
#include <memory>

namespace syncline::driver {

static std::string plannerHelp() {
  std::string text = "Plan by this planner, which decides what is merged and how it travels:";
  for (const solver::PlannerUsage &usage : solver::plannerUsages()) {
    text += "\n  " + std::string(usage.form) + ": " + std::string(usage.text);
    if (usage.form.starts_with("z3") && !z3judge::checkAvailable())
      text += " (this build has no Z3)";
  }
  return text;
}

/// The planner's options.
static void addPlanner(CLI::App &command, CompileOptions &options) {
  command.add_option("--planner", options.planner, plannerHelp())
      ->capture_default_str()
      ->group("Planning");
}

static std::string schemeHelp() {
  std::string text = "Send gradients that match this glob by one scheme; may be repeated, the last "
                     "match counts; default: the planner's choice. Planners other than "
                     "'optimal' need a pattern of all gradients, as '*=ring'. Schemes: ";
  for (Scheme scheme : allSchemes())
    text += std::string(schemeName(scheme)) + ", ";
  return text + "ps (parameter-server), sfb (factors)";
}

static std::vector<std::string> backends() {
  std::vector<std::string> names;
  for (const codegen::StepTarget *target : codegen::stepTargets())
    names.push_back(target->backend.str());
  return names;
}

static std::vector<std::string> channelCounts() {
  std::vector<std::string> counts{"auto"};
  for (int count = 1; count <= maxChannels; ++count)
    counts.push_back(std::to_string(count));
  return counts;
}

static void addOptimizer(CLI::App &command, CompileOptions &options) {
  std::vector<std::string> names;
  for (const OptimizerKind kind : allOptimizers)
    names.emplace_back(optimizerName(kind));
  command
      .add_option(
          "--optimizer", options.optimizer,
          "Train by this optimizer: PyTorch's of that name, or LAMB; 'run' sets its rate and "
          "the like")
      ->check(launch::oneOf(names))
      ->capture_default_str()
      ->group("Training");
}

static void addClipping(CLI::App &command, CompileOptions &options) {
  command
      .add_option(
          "--clip-norm", options.clipNorm,
          "Scale all mean gradients such that their norm is at most LIMIT: all updates then "
          "follow the last message, which the plan counts; 'run' clips by it, or by its "
          "own --clip-norm (default: no limit)")
      ->type_name("LIMIT")
      ->check(launch::realNumber(1e-30, 1e30, "a number from 1e-30 to 1e30"))
      ->group("Training");
}

static void addAccumulation(CLI::App &command, CompileOptions &options) {
  command
      .add_option(
          "--accumulate", options.accumulate,
          "Plan steps that compute the gradients of M micro-batches one after the other and "
          "apply their mean: sums travel in the last one only, factors and rows in each; 'run' "
          "takes M from the plan")
      ->type_name("M")
      ->check(launch::wholeNumber(1, "micro-batches", mostMicroBatches))
      ->capture_default_str()
      ->group("Training");
}

static void addPrecision(CLI::App &command, CompileOptions &options) {
  const std::vector<std::string> names(std::begin(nn::precisions), std::end(nn::precisions));
  command
      .add_option("--precision", options.precision,
                  "Compute products and convolutions in this type; tf32 with --backend cuda or "
                  "--plan-only, fp16 with --plan-only; default: that of the profile, else on kinds "
                  "of GPUs from A100 on tf32, as PyTorch's convolutions do, else fp32")
      ->check(launch::oneOf(names))
      ->type_name("TYPE")
      ->group("Training");
}

static void addLike(CLI::App &command, CompileOptions &options) {
  const std::vector<std::string> names(std::begin(cluster::allLikes), std::end(cluster::allLikes));
  command
      .add_option(
          "--like", options.like,
          "Predict GPUs by these kernels: pytorch, eager and unfused, with channels last in "
          "16 bits; pytorch-nchw, with channels first; compiled, fused as here; best, tuned "
          "as for MLPerf (default: pytorch)")
      ->check(launch::oneOf(names))
      ->type_name("KERNELS")
      ->group("Training");
}

static void addWire(CLI::App &command, CompileOptions &options) {
  std::vector<std::string> names;
  for (const WirePrecision wire : allWires)
    names.emplace_back(wireName(wire));
  command
      .add_option("--wire", options.wire,
                  "Send gradients rounded to this type; bf16 and fp16 halve their bytes")
      ->check(launch::oneOf(names))
      ->type_name("TYPE")
      ->capture_default_str()
      ->group("Training");
}

static void addRecomputation(CLI::App &command, CompileOptions &options) {
  command
      .add_option_function<std::vector<std::string>>(
          "--recompute",
          [&options](const std::vector<std::string> &globs) {
            for (const char *alone : {"none", "auto"})
              if (globs.size() > 1 && llvm::is_contained(globs, alone))
                throw CLI::ValidationError("--recompute: '" + std::string(alone) +
                                           "' stands alone, got other values beside it");
            options.recompute = globs;
            std::erase(options.recompute, "none");
          },
          "Compute activations again in the backward pass instead of keeping them: none; auto, "
          "where the step needs more memory than the cluster file's devices have, what takes the "
          "fewest seconds; or a glob of layers, such as '/encoder/layers.*', whose inputs and "
          "results alone are kept; globs may be repeated (default: none)")
      ->type_name("none|auto|GLOB")
      ->check(launch::someText())
      ->allow_extra_args(false)
      ->group("Training");
}

/// When ranks exchange weights in place of gradients.
static void addConsistency(CLI::App &command, CompileOptions &options) {
  command
      .add_option(
          "--consistency", options.consistency,
          "Who waits for whom: bsp, all ranks in every step for all gradients; ssp:S, a rank that "
          "is more than S steps ahead of another; asp, none; dssp:L,U, like ssp:L, but servers may "
          "grant the fastest rank up to U steps; easgd:VARIANT,RHO[,TAU], every TAU steps "
          "(default: "
          "1) weights and a centre attract each other with elasticity RHO, VARIANT is original, "
          "async, momentum, hogwild, sync1, sync2 or sync3; local:H, all ranks every H "
          "steps, after which all weights become their mean; diloco:H,Q,TAU,ALPHA[,RATE,MOMENTUM], "
          "streaming DiLoCo: in H steps each of Q fragments of the weights travels once, is used "
          "TAU steps after its start and leaves ALPHA parts of a rank's own weights; outer "
          "optimizer: Nesterov SGD, by default with rate 0.7 and momentum 0.9. On GPUs local, "
          "diloco and easgd by sync1, sync2 or sync3. "
          "auto:FORM,FORM,.. simulates the named forms and takes the one with most samples a "
          "second; it prints what that trades in staleness")
      ->type_name("FORM")
      ->check(launch::someText())
      ->capture_default_str()
      ->group("Training");
}

/// Options for models that are planned by their shapes alone.
static void addLayers(CLI::App &command, CompileOptions &options) {
  command
      .add_flag(
          "--plan-only", options.planOnly,
          "Plan by the model's shapes alone, for scripts of PyTorch, not to run: takes operators "
          "that cannot be trained, several inputs, and a loss inside; writes layers.csv, its trace")
      ->group("Planning");
  const auto setDimension = [&options](const std::string &name,
                                       const std::vector<std::int64_t> &sizes) -> std::string {
    if (options.dimensions.count(name) || options.varied == name)
      return "'" + name + "' is given twice";
    if (sizes.size() == 1)
      return options.dimensions.emplace(name, sizes.front()), "";
    if (sizes.size() > maxLengths)
      return "expected at most " + std::to_string(maxLengths) + " sizes of '" + name + "', got " +
             std::to_string(sizes.size());
    if (!options.varied.empty())
      return "'" + options.varied + "' and '" + name + "' have several sizes, one may";
    if (std::ranges::adjacent_find(sizes, std::greater_equal<>()) != sizes.end())
      return "expected sizes of '" + name + "' that ascend";
    options.varied = name;
    options.sizes = sizes;
    return "";
  };
  addNamedLists(command, "--dim", "N", 1, setDimension,
                "Set a symbolic dimension of the model's inputs besides the batch; may be "
                "repeated. With several sizes, as seq=128,256, a step for each: 'run' pads a "
                "sample to the smallest that holds it");
  addNamedNumbers(
      command, "--batch-dimension", "D", 0, options.batchDimensions,
      "Say which dimension of an input is the batch, counted from 0, as 1 where time is "
      "first; data files have samples first; default: the first, or one named 'batch..'; "
      "may be repeated");
}

/// What a plan is made of.
static CLI::Option *addInputs(CLI::App &command, CompileOptions &options) {
  command.add_option("MODEL", options.model, "ONNX model, or a layer trace (.csv) to plan only")
      ->required();
  CLI::Option *cluster =
      command
          .add_option("--cluster", options.cluster,
                      "Cluster file (YAML), or the name of a sample where there is no such file; "
                      "'syncline cluster --list' lists them")
          ->required()
          ->type_name("FILE")
          ->check(launch::someText())
          ->group("Inputs");
  command
      .add_option("--profile", options.profile,
                  "Take measured times from this file (JSON), which hold for the --threads of the "
                  "measurement; default: estimate by the cluster's rates")
      ->check(launch::someText())
      ->group("Inputs");
  return cluster;
}

/// What is written.
static CLI::Option *addOutput(CLI::App &command, CompileOptions &options) {
  CLI::Option *output = command
                            .add_option("-o,--output", options.output,
                                        "Write the plan to this folder; a plan there is replaced")
                            ->required()
                            ->check(launch::someText())
                            ->group("Output");
  command
      .add_option(
          "--backend", options.backend,
          "Compile the step for this device: cpu by CXX or c++; cuda by NVCC or nvcc, with the "
          "schemes that NCCL has; default: cuda where the cluster's devices are a kind of "
          "GPU, else cpu")
      ->check(launch::oneOf(backends()))
      ->type_name("DEVICE")
      ->group("Output");
  command.add_flag("--quiet", options.quiet, "Say nothing of what was written")->group("Output");
  return output;
}

/// What is trained, and from which samples.
static void addModel(CLI::App &command, CompileOptions &options) {
  command
      .add_option("--batch", options.batch,
                  "Take so many samples per rank; default: as in the model")
      ->check(launch::wholeNumber(1, "samples"))
      ->type_name("K")
      ->group("Training");
  addLoss(command, options);
  command
      .add_option(
          "--freeze", options.freeze,
          "Do not train parameters that match this glob; may be repeated; default: train all")
      ->allow_extra_args(false)
      ->group("Training");
  command
      .add_option("--parameters", options.parameters,
                  "Train the parameters that this file lists, a line such as 'fc.weight (10, 64)' "
                  "each, and no other tensors; default: what the model says and its nodes show")
      ->type_name("FILE")
      ->check(launch::someText())
      ->group("Training");
  command
      .add_option_function<std::string>(
          "--dropout", [&options](const std::string &value) { options.dropout = value == "keep"; },
          "Train with the model's Dropout nodes and noise, or without; default: keep")
      ->check(launch::oneOf({"keep", "off"}))
      ->group("Training");
}

/// How messages travel.
static void addPlanning(CLI::App &command, CompileOptions &options) {
  command.add_option("--scheme", options.schemes, schemeHelp())
      ->type_name("LAYER=SCHEME")
      ->allow_extra_args(false)
      ->group("Planning");
  command
      .add_option(
          "--overlap", options.overlap,
          "Hide messages behind the backward pass, or (step) behind the next forward pass "
          "too, which then waits for each bucket where it reads the bucket's parameters. auto, "
          "with planner 'optimal': backward, unless step, or one message behind the backward pass, "
          "has a predicted step shorter by 1 % (for step with a profile's scatter: the shorter "
          "mean of disturbed steps) and fits the devices; with others the overlap of their system; "
          "default with --plan-only and layer traces: backward, as DistributedDataParallel waits")
      ->check(launch::oneOf({"backward", "step", "auto"}))
      ->capture_default_str()
      ->group("Planning");
  command
      .add_option(
          "--split-tied", options.splitTied,
          "Send the gradient of a table that an embedding and the logits share in two parts, the "
          "logits' part while the backward pass goes on, the embedding's rows at its end; auto, "
          "with planner 'optimal': where the predicted step is shorter by 1 %")
      ->check(launch::oneOf({"auto", "never", "always"}))
      ->capture_default_str()
      ->group("Planning");
  command
      .add_option("--channels", options.channels,
                  "Let successive messages take turns on so many channels, which carry messages "
                  "at the same time; auto: 1, or 2 where the predicted step is shorter by 1 %")
      ->check(launch::oneOf(channelCounts()))
      ->capture_default_str()
      ->group("Planning");
  command
      .add_flag("--balance", options.balance,
                "Give ranks batches by their speed ('overrides' of the cluster file), so that none "
                "waits for a slower one; --batch is their mean; default: equal batches")
      ->group("Planning");
  command
      .add_option("--nodes", options.nodes,
                  "Plan for so many nodes instead of the cluster file's; ranks are nodes times "
                  "devices-per-node")
      ->check(launch::wholeNumber(1, "nodes"))
      ->type_name("N")
      ->group("Planning");
}

/// Sets the overlap where only one makes sense, or where another one must be asked for.
static void settleOverlap(CompileOptions &options, bool isAskedFor) {
  const bool staysLocal = options.consistency != "bsp" && !isAutoConsistency(options.consistency);
  const auto planner = solver::parsePlanner(options.planner);
  const bool isForScripts = options.planOnly || isTrace(options.model);
  if ((isForScripts && !isAskedFor && planner && (*planner)->isOptimal()) ||
      !options.sizes.empty() || options.splitTied == "always" ||
      (staysLocal && options.overlap == "auto"))
    options.overlap = "backward";
}

Command addCompile(CLI::App &app) {
  auto options = std::make_shared<CompileOptions>();
  CLI::App *command = app.add_subcommand("compile", "Compile a model and a cluster into a plan");
  command->footer("Exclude each other:\n" + exclusionText() +
                  "\nExamples:\n"
                  "  syncline compile model.onnx --cluster ethernet-10g --batch 32 -o model.plan\n"
                  "  syncline compile model.onnx --cluster lab.yaml --batch 32 --planner ddp:25MiB "
                  "-o ddp.plan");
  CLI::Option *cluster = addInputs(*command, *options);
  addOffers(*command, *options, cluster, addOutput(*command, *options));
  addModel(*command, *options);
  addOptimizer(*command, *options);
  addClipping(*command, *options);
  addAccumulation(*command, *options);
  addPrecision(*command, *options);
  addLike(*command, *options);
  addWire(*command, *options);
  addConsistency(*command, *options);
  addRecomputation(*command, *options);
  addPlanner(*command, *options);
  addPlanning(*command, *options);
  addLayers(*command, *options);
  return [options, command]() -> Status {
    const auto isGiven = [&](const std::string &option) { return command->count(option) > 0; };
    SYNCLINE_TRY_GET(forms, formsOf(options->consistency));
    options->forms = std::move(*forms);
    SYNCLINE_TRY(checkExclusions(*options, isGiven));
    settleOverlap(*options, isGiven("--overlap"));
    if (!options->offers.empty())
      return compileOffers(*options, isGiven);
    SYNCLINE_TRY(files::resolveCluster(options->cluster));
    SYNCLINE_TRY(settleBackend(*options));
    SYNCLINE_TRY(checkExclusions(*options, isGiven));
    return compile(*options);
  };
}

} // namespace syncline::driver
