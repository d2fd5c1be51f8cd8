// The command line of `syncline profile`.
#include "codegen/folder/PlanFolder.h"
#include "frontend/driver/Commands.h"
#include "frontend/files/Paths.h"
#include "frontend/profile/MeasureProfile.h"
#include "frontend/profile/TorchTrace.h"
#include "runtime/launch/CliChecks.h"
#include "runtime/launch/CommandLine.h"
#include "runtime/launch/CommandLineText.h"
#include "syncline/OutputFile.h"

#include "CLI/CLI.hpp"
#include <nlohmann/json.hpp>

#include <cstdio>
#include <filesystem>
#include <memory>

namespace syncline::driver {
namespace {

/// How many samples a model is compiled for.
void addBatch(CLI::App &command, profile::ProfileOptions &options) {
  command
      .add_option_function<std::string>(
          "--batch",
          [&options](const std::string &samples) { options.compiling = {"--batch", samples}; },
          "Take so many samples per rank; default: as in the model")
      ->type_name("K")
      ->check(launch::someText())
      ->group("Model (a plan has its own)");
  launch::addDecided(command,
                     {"--loss", "--classes-in", "--loss-on", "--freeze", "--parameters",
                      "--dropout", "--optimizer", "--backend", "--precision"},
                     ", and then 'syncline profile PLAN'");
}

void addMeasuringOptions(CLI::App &command, profile::ProfileOptions &options) {
  const char *group = "Measuring";
  command
      .add_option("--cluster", options.cluster,
                  "Cluster file (YAML) or a sample's name: so many ranks as a node has devices, "
                  "and its name")
      ->type_name("FILE")
      ->check(launch::someText())
      ->group(group);
  command
      .add_option("-n", options.ranks,
                  "Run so many ranks side by side, which share processors and memory as in a run, "
                  "but do not communicate; the first one's times count, and how much the steps of "
                  "all scatter; default: devices-per-node of the cluster or the plan, else 1")
      ->check(CLI::Range(1, maxLocalRanks))
      ->type_name("N")
      ->group(group);
  command
      .add_flag(
          "--pin", options.pin,
          "Keep each rank on as many processors as it has threads: rank i on the i-th such block "
          "of those that this process may use, modulo their number")
      ->group(group);
  command.add_option("--threads", options.threads, "Use so many compute threads a rank")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str()
      ->type_name("N")
      ->group(group);
}

void addImport(CLI::App &command, profile::ProfileOptions &options) {
  auto *trace = command
                    .add_option("--from-trace", options.trace,
                                "Take times from a trace instead: one that 'syncline run --trace' "
                                "wrote, with messages beside the operations, or a Chrome trace of "
                                "torch.profiler")
                    ->type_name("TRACE")
                    ->check(launch::someText())
                    ->group("Import");
  auto *map =
      command
          .add_option("--map", options.map,
                      "Which events of torch.profiler are which nodes (JSON): {\"schema\": 1, "
                      "\"operations\": {EVENT: NODE or [NODE of the 1st, 2nd, ... in a step]}}")
          ->type_name("MAP")
          ->check(launch::someText())
          ->group("Import");
  map->needs(trace);
  for (const char *other : {"MODEL", "--batch", "--cluster", "-n", "--pin", "--threads"})
    trace->excludes(command.get_option(other));
}

/// Whether `source` is a model file: not a plan's folder, and not empty as with '--from-trace'.
bool isModel(const std::string &source) {
  std::error_code ignored;
  return !source.empty() && !std::filesystem::is_directory(source, ignored);
}

Status checkUsage(const profile::ProfileOptions &options) {
  if (options.source.empty() && options.trace.empty())
    return Status::error(ErrorKind::badUsage,
                         "profile: expected a model, a plan or '--from-trace'");
  if (!options.compiling.empty() && !isModel(options.source))
    return Status::error(ErrorKind::badUsage, options.compiling.front() + " is for models; '" +
                                                  options.source + "' is a plan");
  return expectWritableFile(options.output);
}

/// The words of `compile` by which a plan was made that is measured: a profile is of its backend,
/// precision and batch.
Result<std::vector<std::string>> wordsOf(const std::string &plan) {
  SYNCLINE_TRY_GET(document, codegen::readPlanJson(plan));
  std::vector<std::string> words{"--batch", std::to_string(document->value("batch", 1))};
  for (const auto &[key, usual] : {std::pair("backend", "cpu"), {"precision", "fp32"}})
    if (const std::string value = document->value(key, usual); value != usual)
      words.insert(words.end(), {"--" + std::string(key), value});
  return words;
}

Status write(const profile::ProfileOptions &options, const files::Profile &profile) {
  SYNCLINE_TRY(writeWholeFile(options.output, files::formatProfile(profile)));
  const std::string model = isModel(options.source) ? options.source : "MODEL";
  const std::string cluster = options.cluster.empty() ? "CLUSTER" : options.cluster;
  std::vector<std::string> next{"syncline", "compile", model};
  next.insert(next.end(), options.compiling.begin(), options.compiling.end());
  if (!options.source.empty() && !isModel(options.source)) {
    SYNCLINE_TRY_GET(words, wordsOf(options.source));
    next.insert(next.end(), words->begin(), words->end());
  }
  next.insert(next.end(), {"--cluster", cluster, "--profile", options.output, "-o", "OUT.plan"});
  std::fputs(launch::closingLines(options.output, "", next).c_str(), stderr);
  return Status::ok();
}

Status profile(const profile::ProfileOptions &options) {
  SYNCLINE_TRY(checkUsage(options));
  if (!options.trace.empty()) {
    SYNCLINE_TRY_GET(imported, profile::importTrace(options.trace, options.map));
    std::fprintf(stderr, "%s", profile::importSummary(*imported).c_str());
    return write(options, imported->profile);
  }
  SYNCLINE_TRY_GET(measured, profile::measureProfile(options));
  std::fprintf(stderr, "%s", profile::profileSummary(*measured).c_str());
  return write(options, measured->profile);
}

} // namespace

Command addProfile(CLI::App &app) {
  auto options = std::make_shared<profile::ProfileOptions>();
  CLI::App *command = app.add_subcommand(
      "profile", "Measure what every operation of a model takes on this machine");
  command->footer("Example:\n"
                  "  syncline profile model.onnx --batch 32 -n 2 -o model.json");
  command->add_option(
      "MODEL", options->source,
      "ONNX model, which is compiled for one rank of CPUs; or, for other options of "
      "'compile' than --batch, such as --backend and --precision, a plan's folder: "
      "one of its ranks is measured");
  command->add_option("-o,--output", options->output, "Write the profile to this file (JSON)")
      ->required()
      ->check(launch::someText());
  addBatch(*command, *options);
  addMeasuringOptions(*command, *options);
  addImport(*command, *options);
  return [options]() -> Status {
    SYNCLINE_TRY(files::resolveCluster(options->cluster));
    return profile(*options);
  };
}

} // namespace syncline::driver
