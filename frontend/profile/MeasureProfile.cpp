// Runs one plan in several processes and takes the times of the first.
#include "frontend/profile/MeasureProfile.h"

#include "codegen/folder/PlanFolder.h"
#include "frontend/files/ClusterFile.h"
#include "frontend/files/Paths.h"
#include "frontend/files/TextFile.h"
#include "frontend/profile/ChildProcesses.h"
#include "frontend/report/PlanText.h"
#include "runtime/launch/Processors.h"
#include "runtime/launch/ProgressLine.h"
#include "syncline/OutputFile.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>
#include <functional>

namespace syncline::profile {
namespace {

/// A cluster file for a plan of one rank, whose predictions are not used.
constexpr const char *oneRank = "name: one rank\n"
                                "ranks: 1\n"
                                "device: {compute: 50 GFLOP/s, memory: 10 GB/s}\n"
                                "network: {bandwidth: 10 Gb/s, latency: 20 us}\n";

std::string program(const char *name) { return (files::executableFolder() / name).string(); }

/// A function that shows on the progress line what is being done, and for how long.
std::function<void()> telling(launch::ProgressLine &progress, const std::string &what) {
  return [&progress, what, start = core::Clock::now()] {
    progress.show("profiling: " + what + ", " +
                  std::to_string(std::lround(core::secondsSince(start))) + " s");
  };
}

Result<std::string> compileModel(const ProfileOptions &options, ChildProcesses &children,
                                 launch::ProgressLine &progress) {
  const std::string cluster = children.file("cluster.yaml"), plan = children.file("profile.plan");
  SYNCLINE_TRY(writeWholeFile(cluster, oneRank));
  std::vector<std::string> words{program("syncline"), "compile", "--quiet", options.source,
                                 "--cluster",         cluster,   "-o",      plan};
  words.insert(words.end(), options.compiling.begin(), options.compiling.end());
  SYNCLINE_TRY_GET(child, children.start(words));
  SYNCLINE_TRY(children.wait(*child, telling(progress, "compiling " + options.source)));
  return plan;
}

/// The number of ranks for a file's devices per node; an error where that is too large.
Result<int> checkedRanks(std::int64_t devices, const std::string &path) {
  if (devices >= 1 && devices <= maxLocalRanks)
    return static_cast<int>(devices);
  return Status::badInput("'" + path + "': expected 1 to " + std::to_string(maxLocalRanks) +
                          " devices a node, to run as ranks side by side, got " +
                          std::to_string(devices) + "; '-n' says how many");
}

/// Ranks to run: the devices of a node by the cluster file, else by the plan.
Result<int> ranksOf(const ProfileOptions &options, const std::optional<files::ClusterFile> &cluster,
                    bool isPlan) {
  if (options.ranks)
    return *options.ranks;
  if (cluster)
    return checkedRanks(cluster->devicesPerNode, options.cluster);
  if (!isPlan)
    return 1;
  SYNCLINE_TRY_GET(plan, codegen::readPlanJson(options.source));
  SYNCLINE_TRY_GET(devices, report::guarded([&] {
                     return plan->at("cluster").at("devices_per_node").get<std::int64_t>();
                   }));
  return checkedRanks(*devices, options.source + "/plan.json");
}

/// Notes how ranks compute: in the plan's precision, and on processors with how many threads.
Status noteSettings(const ProfileOptions &options, const std::string &plan,
                    files::Profile &profile) {
  SYNCLINE_TRY_GET(document, codegen::readPlanJson(plan));
  const Result<std::string> precision = report::guarded([&] {
    if (document->at("backend") == "cpu")
      profile.threads = options.threads;
    return document->at("precision").get<std::string>();
  });
  if (precision)
    profile.precision = *precision;
  return precision.status();
}

/// The command line of a rank that runs alone; `run` refuses a backend that it lacks. On GPUs each
/// rank has its own device. Updates of SGD are those with a momentum.
std::vector<std::string> runWords(const ProfileOptions &options, const std::string &plan,
                                  const std::string &backend, const std::string &optimizer,
                                  int rank) {
  std::vector<std::string> words{
      program("syncline-run"),        plan, "--alone", "--lr", "1e-6", "--threads",
      std::to_string(options.threads)};
  if (optimizer == "sgd")
    words.insert(words.end(), {"--momentum", "0.9"});
  if (backend != "cpu")
    words.insert(words.end(), {"--device", std::to_string(rank)});
  return words;
}

/// Starts the other ranks, then the first one, and waits for the first. Returns the logs of the
/// others, which run as long as the first.
Result<std::vector<std::string>> runRanks(const ProfileOptions &options, const std::string &plan,
                                          int ranks, const std::string &times,
                                          ChildProcesses &children,
                                          launch::ProgressLine &progress) {
  SYNCLINE_TRY_GET(document, codegen::readPlanJson(plan));
  std::string backend, optimizer;
  SYNCLINE_TRY(report::guarded([&] {
    backend = document->at("backend");
    optimizer = document->at("optimizer");
    return plan;
  }));
  const auto processors = [&](int rank) {
    return options.pin ? launch::processorBlock(rank, options.threads) : cpu_set_t{};
  };
  std::vector<ChildProcesses::Child> others;
  for (int rank = 1; rank < ranks; ++rank) {
    std::vector<std::string> endless = runWords(options, plan, backend, optimizer, rank);
    endless.insert(endless.end(), {"--steps", "1000000000", "--log", "json"});
    SYNCLINE_TRY_GET(child, children.start(endless, processors(rank)));
    others.push_back(std::move(*child));
  }
  std::vector<std::string> logs;
  for (ChildProcesses::Child &other : others) {
    SYNCLINE_TRY(children.waitForOutput(other));
    logs.push_back(other.output);
  }
  std::vector<std::string> words = runWords(options, plan, backend, optimizer, 0);
  words.insert(words.end(), {"--op-times", times});
  // A rank that shares a processor computes in turns of some milliseconds: means need many of them.
  constexpr const char *manyTurns = "3"; // seconds
  if (ranks * options.threads > launch::usableProcessors())
    words.insert(words.end(), {"--op-times-for", manyTurns});
  auto first = children.start(words, processors(0));
  const std::string what = "measuring operations until the median step stands still, 60 s at most";
  SYNCLINE_TRY(first ? children.wait(*first, telling(progress, what)) : first.status());
  return logs;
}

/// The steps of the ranks that ran beside the one that wrote `times`. Where ranks share processors
/// only their number counts.
Result<SideBySide> readOthers(const std::string &times, const std::vector<std::string> &logs,
                              bool sharesProcessors) {
  if (sharesProcessors)
    return SideBySide{.others = std::vector<RankSteps>(logs.size()), .sharesProcessors = true};
  SYNCLINE_TRY_GET(end, lastWritten(times));
  SideBySide beside{.others = {}, .end = *end};
  for (const std::string &log : logs) {
    SYNCLINE_TRY_GET(steps, readSteps(log));
    beside.others.push_back(std::move(*steps));
  }
  return beside;
}

} // namespace

Result<MeasuredProfile> measureProfile(const ProfileOptions &options) {
  std::error_code ignored;
  const bool isPlan = std::filesystem::is_directory(options.source, ignored);
  std::optional<files::ClusterFile> cluster;
  if (!options.cluster.empty()) {
    SYNCLINE_TRY_GET(read, files::readClusterFile(options.cluster));
    cluster = std::move(*read);
  }
  SYNCLINE_TRY_GET(ranks, ranksOf(options, cluster, isPlan));
  ChildProcesses children;
  SYNCLINE_TRY(children.create());
  launch::ProgressLine progress(/*isShown=*/true);
  SYNCLINE_TRY_GET(plan, isPlan ? options.source : compileModel(options, children, progress));
  const std::string times = children.file("times.json");
  SYNCLINE_TRY_GET(logs, runRanks(options, *plan, *ranks, times, children, progress));
  SYNCLINE_TRY_GET(beside,
                   readOthers(times, *logs, *ranks * options.threads > launch::usableProcessors()));
  constexpr std::size_t maxBytes = std::size_t{1} << 30;
  SYNCLINE_TRY_GET(text, files::readTextFile(times, maxBytes));
  const auto json = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  SYNCLINE_TRY_GET(measured, profileOfTimes(json, *beside));
  measured->profile.name = measured->model + (cluster ? " on " + cluster->name : "");
  SYNCLINE_TRY(noteSettings(options, *plan, measured->profile));
  return measured;
}

} // namespace syncline::profile
