// The switches, each documented once with unit and default.
#include "runtime/run/options/Options.h"

#include "runtime/launch/CliChecks.h"
#include "runtime/launch/CommandLine.h"
#include "runtime/launch/RankFlags.h"
#include "runtime/run/options/ScheduleFlags.h"
#include "runtime/run/trace/OperationTimes.h"
#include "syncline/OutputFile.h"
#include "syncline/PlanConstants.h"
#include "syncline/Printable.h"

#include <sstream>

#include <CLI/CLI.hpp>

namespace syncline::run {
namespace {

/// Longest time limit in seconds; clocks can add it without overflow.
constexpr double longestWait = 1e6;

void addRanks(CLI::App &app, Options &o) {
  const launch::RankFlagTexts texts = {
      .group = "Ranks (default: the variables of torchrun, Open MPI, MPICH, Intel MPI, PMIx, Slurm "
               "or Kubernetes; without them as many local ranks as the plan has)",
      .localRanks = "Start N ranks on this host, and the plan's servers",
      .ranksPerNode = "for local ranks the plan's number"};
  launch::addRankFlags(app, o.identity, texts);
}

void addEvaluation(CLI::App &app, Options &o, const char *group) {
  app.add_option("--eval-every", o.evalEvery, "Evaluate after every N steps, too")
      ->check(launch::wholeNumber(1, "steps"))
      ->type_name("N")
      ->needs("--eval")
      ->group(group);
  app.add_flag("--eval-only", o.evalOnly,
               "Evaluate without training: the plan's initial values, or those of --load")
      ->needs("--eval")
      ->excludes("--eval-every")
      ->excludes("--data")
      ->group(group);
}

void addData(CLI::App &app, Options &o) {
  const char *group = "Data";
  auto *data = app.add_option("--data", o.data,
                              "Train on the samples and labels of two files, each .npy or .csv; of "
                              "a folder with pairs NAME-x.npy and NAME-y.npy; or of a folder with "
                              "a folder of .jpg and .png images for each class. A model of several "
                              "inputs has a file for each by name, INPUT=X,..,Y, or NAME-INPUT.npy "
                              "in a folder. Rank r of P takes block r of every global batch "
                              "(default: synthetic samples, the same in every step)")
                   ->check(launch::someText())
                   ->type_name("X,Y|DIR")
                   ->group(group);
  app.add_flag("--shuffle", o.shuffle, "Reorder the samples in every epoch")->group(group);
  app.add_option("--eval", o.eval,
                 "After training, compute accuracy and loss on these samples, without dropout and "
                 "with rank 0's running statistics")
      ->check(launch::someText())
      ->type_name("X,Y|DIR")
      ->group(group);
  addImageFlags(app, o, data, group);
  addEvaluation(app, o, group);
  app.add_option("--seed", o.seed,
                 "Seed the initial values, the samples' order and changes, and dropout")
      ->check(launch::wholeNumber(0, "the seed"))
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
  app.add_option("--load", o.load,
                 "Start from the values of this ONNX file, such as --save has written")
      ->check(launch::someText())
      ->type_name("FILE")
      ->group(group);
  auto *steps =
      app.add_option("--steps", o.steps,
                     "Train for N steps (default 1 epoch; 10 steps with synthetic samples)")
          ->check(launch::wholeNumber(0, "steps"))
          ->type_name("N")
          ->group(group);
  auto *epochs = app.add_option("--epochs", o.epochs, "Go N times through the data");
  epochs->check(launch::wholeNumber(0, "epochs"))->type_name("N")->excludes(steps)->group(group);
  app.add_option("--accumulate", o.wantedMicroBatches,
                 "Let a step compute the gradients of M batches one after the other, and apply "
                 "their mean (default: that of 'compile --accumulate', else 1)")
      ->check(launch::wholeNumber(1, "batches", mostMicroBatches))
      ->type_name("M")
      ->group(group);
}

void addOutput(CLI::App &app, Options &o, std::string &log, std::string &dumpSteps) {
  const char *group = "Output";
  app.add_option("--save", o.save, "Write the trained model as ONNX")
      ->check(launch::someText())
      ->type_name("FILE")
      ->group(group);
  app.add_option("--dump", o.dump,
                 "Write loss, synchronised gradients and parameters to DIR as .npy; those of rank "
                 "N above 0 to DIR/rankN")
      ->check(launch::someText())
      ->type_name("DIR")
      ->group(group);
  app.add_option("--dump-steps", dumpSteps, "Dump these steps, numbered from 0")
      ->type_name("N,N,..")
      ->capture_default_str()
      ->group(group);
  app.add_option("--log", log,
                 "Print the log as 'text' on stderr, or as 'json': one object a line on stdout, "
                 "with steps and epochs numbered from 0")
      ->check(launch::oneOf({"text", "json"}))
      ->capture_default_str()
      ->type_name("FORMAT")
      ->group(group);
}

void addMeasuring(CLI::App &app, Options &o) {
  const char *group = "Measuring";
  auto *trace =
      app.add_option(
             "--trace", o.trace,
             "Write the times of the last steps on every rank, for Perfetto or chrome://tracing")
          ->check(launch::someText())
          ->type_name("FILE")
          ->group(group);
  app.add_option("--trace-steps", o.traceSteps, "Trace the last N steps")
      ->check(launch::wholeNumber(1, "steps"))
      ->type_name("N")
      ->capture_default_str()
      ->needs(trace)
      ->group(group);
  for (const char *training :
       {"--steps", "--epochs", "--save", "--dump", "--trace", "--schedule", "--checkpoint"})
    app.get_option("--eval-only")->excludes(app.get_option(training));
}

/// What `syncline profile` starts a rank with: the rank then runs alone, to be measured. Nothing is
/// sent, and the trained values are of no use. Help does not list these options.
void addProfiling(CLI::App &app, Options &o) {
  const char *hidden = "";
  app.add_flag("--alone", o.alone)->group(hidden);
  // The seconds of every operation, as JSON. The run ends when the median step is steady.
  app.add_option("--op-times", o.opTimes)->check(launch::someText())->group(hidden);
  app.add_option("--op-times-for", o.opTimesFor) // at least so many seconds
      ->check(launch::realNumber(1e-3, Steadiness::longest, "seconds from 0.001 to 60"))
      ->group(hidden);
}

/// What is wrong with them, or nothing. CLI11 does not name hidden options in its messages.
std::string checkProfiling(const CLI::App &app) {
  for (const char *other : {"--checkpoint", "--save", "--dump", "--eval", "--trace", "-n", "--rank",
                            "--ranks", "--ranks-per-node"})
    if (app.count("--alone") > 0 && app.count(other) > 0)
      return std::string(other) + " excludes --alone";
  for (auto [option, needed] :
       {std::pair{"--op-times", "--alone"}, {"--op-times-for", "--op-times"}})
    if (app.count(option) > 0 && app.count(needed) == 0)
      return std::string(option) + " needs " + needed;
  return "";
}

void addLimits(CLI::App &app, Options &o) {
  const char *group = "Machine and limits";
  const std::string gpus = "GPUs (plans of 'compile --backend cuda')";
  launch::addDeviceFlags(app, o, gpus);
  app.add_flag("--cuda-graph", o.capturesSteps,
               "Capture a whole step once, messages included, and replay it")
      ->group(gpus);
  o.kernels.addTo(app, gpus);
  app.add_option(
         "--threads", o.threads,
         "Compute with N threads in each rank, as --profile and calibrate did for the plan; "
         "OMP_NUM_THREADS is ignored")
      ->check(CLI::Range(1, 1024))
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
  app.add_flag("--allow-nonfinite", o.allowsNonFinite,
               "Continue, and save, when the loss or an update is not finite (default: end with "
               "exit code 1 and report where it began)")
      ->group(group);
  app.add_option("--timeout", o.timeout,
                 "Wait at most so many seconds for another rank (default the larger of 30 and 20 "
                 "predicted steps, or windows of local updates)")
      ->check(launch::realNumber(1e-3, longestWait, "seconds from 0.001 to 1e6"))
      ->type_name("SECONDS")
      ->group(group);
  app.add_option("--start-timeout", o.startTimeout,
                 "Wait at most so many seconds for all ranks to start")
      ->check(launch::realNumber(1e-3, longestWait, "seconds from 0.001 to 1e6"))
      ->type_name("SECONDS")
      ->capture_default_str()
      ->group(group);
}

bool parseSteps(const std::string &text, std::set<std::int64_t> &steps) {
  steps.clear();
  std::stringstream list(text);
  for (std::string item; std::getline(list, item, ',');) {
    if (item.empty() || item.size() > 15 ||
        item.find_first_not_of("0123456789") != std::string::npos)
      return false;
    steps.insert(std::stoll(item));
  }
  return !steps.empty();
}

int complain(const std::string &message) {
  std::cerr << "syncline-run: error: " << printable(message) << "\n";
  return 2;
}

} // namespace

Status Options::checkPlan(const Plan &plan) const {
  const std::string folder = "'" + plan.folder + "'";
  for (auto [isGiven, name] : {std::pair{device.has_value(), "--device"},
                               {sharesDevice, "--share-device"},
                               {capturesSteps, "--cuda-graph"},
                               {kernels.isGiven(), "--tune-convolutions"}})
    if (isGiven && backend == "cpu")
      return Status::error(ErrorKind::badUsage,
                           std::string(name) +
                               " needs a plan of 'syncline compile --backend cuda'");
  if (clipsNorm())
    SYNCLINE_TRY(checkClipping(plan));
  if (optimizerFlags.lossScale)
    SYNCLINE_TRY(checkLossScale(plan));
  if (microBatches > 1)
    SYNCLINE_TRY(checkMicroBatches(plan));
  if (!save.empty() && !plan.hasSkeleton)
    return Status::badInput(folder + " has no model.onnx: '--save' needs one");
  const PlanConsistency &c = plan.consistency;
  if (c.isServed() && backend != "cpu")
    return Status::badInput(folder + ": the weights of '" + c.text +
                            "' travel by servers, which backend '" + backend +
                            "' does not know, expected 'cpu'");
  if (c.form == PlanConsistency::Form::easgd && c.variant == PlanConsistency::Variant::momentum &&
      optimizerFlags.momentum.value_or(0) == 0)
    return Status::badInput(folder + ": '" + c.text + "' needs '--momentum'");
  if (c.isServed() && evalEvery > 0)
    return Status::badInput(folder + ": with '" + c.text +
                            "' ranks are at different steps, expected no '--eval-every'");
  return checkpoint.check(plan);
}

/// All updates wait for the norm of all gradients, which only the last message completes.
Status Options::checkClipping(const Plan &plan) const {
  const auto refuse = [&](const std::string &why) {
    return Status::badInput("'" + plan.folder +
                            "': '--clip-norm' needs the norm of all gradients before the first "
                            "update, but " +
                            why);
  };
  if (plan.overlapsSteps)
    return refuse("messages reach into the next step; expected a plan of 'syncline compile "
                  "--overlap backward'");
  return Status::ok();
}

Status Options::chooseOptimizer(const Plan &plan) {
  const Result<core::OptimizerOptions> chosen = optimizerFlags.optionsFor(plan.optimizer);
  if (!chosen)
    return Status::error(chosen.status().kind(),
                         "'" + plan.folder + "': " + chosen.status().message());
  optimizer = *chosen;
  optimizer.keepsFinite = !allowsNonFinite;
  return Status::ok();
}

Status Options::checkFiles() const {
  for (const std::string &file : {save, trace, opTimes, kernels.ownFile()})
    if (!file.empty())
      SYNCLINE_TRY(expectWritableFile(file));
  return dump.empty() ? Status::ok() : expectWritableFolder(dump);
}

Status Options::checkSteps(std::int64_t steps) const {
  SYNCLINE_TRY(schedule.check(steps));
  constexpr auto warmUp = static_cast<std::int64_t>(Steadiness::warmUp);
  if (!opTimes.empty() && steps <= warmUp)
    return Status::error(ErrorKind::badUsage,
                         "--op-times: expected more than the " + std::to_string(warmUp) +
                             " steps that warm up, got " + std::to_string(steps));
  if (!dump.empty() && *dumpSteps.rbegin() >= steps)
    return Status::error(ErrorKind::badUsage,
                         "--dump-steps " + std::to_string(*dumpSteps.rbegin()) + ": the run has " +
                             std::to_string(steps) + " steps, numbered from 0");
  return Status::ok();
}

std::string Options::sharedOptions() const {
  std::ostringstream text;
  text.precision(17);
  text << optimizerFlags.text(optimizer) << " --seed " << seed << (shuffle ? " --shuffle" : "")
       << (data.empty() ? " --synthetic" : " --data") << (eval.empty() ? "" : " --eval")
       << (evalOnly ? " --eval-only" : "") << ImageFlags::sharedOptions();
  if (evalEvery > 0)
    text << " --eval-every " << evalEvery;
  if (steps)
    text << " --steps " << *steps;
  if (epochs)
    text << " --epochs " << *epochs;
  if (microBatches > 1)
    text << " --accumulate " << microBatches;
  if (!dump.empty())
    for (std::int64_t step : dumpSteps)
      text << " --dump-steps " << step;
  text << (allowsNonFinite ? " --allow-nonfinite" : "") << checkpoint.shared();
  text << ' ' << launch::DeviceFlags::sharedOptions() << (capturesSteps ? " --cuda-graph" : "")
       << kernels.shared();
  if (!trace.empty())
    text << " --trace-steps " << traceSteps;
  return text.str();
}

std::optional<int> parseOptions(int argc, char **argv, Options &o) {
  CLI::App app(
      "Trains the model of a plan folder, as one rank or as all ranks of this host.\n"
      "Exit codes: 0 good, 1 bad input or a lost rank, 2 bad command line, 3 internal error.",
      launch::typedCommand("syncline-run"));
  app.option_defaults()->always_capture_default(false);
  app.formatter(launch::helpFormatter());
  app.footer(
      "Examples:\n"
      "  syncline run model.plan --data x.npy,y.npy --epochs 3 --lr 0.01 --save trained.onnx\n"
      "  torchrun --nproc-per-node 4 --no-python -- syncline run model.plan --data x.npy,y.npy");
  app.set_version_flag("--version", std::string("syncline-run ") + SYNCLINE_VERSION);
  app.add_option("PLAN", o.plan, "folder written by 'syncline compile'")->required();
  std::string log = "text", dumpSteps = "0";
  addRanks(app, o);
  addData(app, o);
  o.optimizerFlags.addTo(app);
  ScheduleFlags schedule;
  addScheduleFlags(app, schedule);
  addOutput(app, o, log, dumpSteps);
  o.checkpoint.addTo(app);
  addMeasuring(app, o);
  addProfiling(app, o);
  launch::addDecided(app, {"--backend", "--precision", "--wire"});
  addLimits(app, o);
  if (std::optional<int> code = launch::parseWords(app, argc, argv, complain))
    return code;
  if (std::string wrong = checkProfiling(app); !wrong.empty())
    return complain(wrong);
  if (!parseSteps(dumpSteps, o.dumpSteps))
    return complain("--dump-steps: expected step numbers such as '0,2', got '" + dumpSteps + "'");
  if (std::string wrong = checkImageFlags(o, !o.data.empty() || !o.eval.empty()); !wrong.empty())
    return complain(wrong);
  o.images.seed = o.seed;
  if (o.epochs && o.data.empty())
    return complain("--epochs needs --data");
  if (Status s = o.optimizerFlags.check(); !s)
    return complain(s.message());
  for (const char *other : {"--trace", "--alone"})
    if (o.wantedMicroBatches.value_or(1) > 1 && app.count(other) > 0)
      return complain("--accumulate cannot be combined with " + std::string(other));
  if (o.capturesSteps && o.optimizerFlags.lossScale)
    return complain("--loss-scale cannot be combined with --cuda-graph, because the host decides "
                    "whether a step is skipped");
  Result<Schedule> scheduled = scheduleOf(schedule);
  if (!scheduled)
    return complain(scheduled.status().message());
  o.schedule = std::move(*scheduled);
  o.json = log == "json";
  return std::nullopt;
}

} // namespace syncline::run
