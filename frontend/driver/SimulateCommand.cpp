// The command line of `syncline simulate`.
#include "frontend/driver/Commands.h"
#include "frontend/driver/PlotOption.h"
#include "frontend/driver/Simulate.h"
#include "frontend/files/FormatUnits.h"
#include "frontend/files/Paths.h"
#include "frontend/files/Units.h"
#include "frontend/sweep/ConsistencySweep.h"
#include "runtime/launch/CliChecks.h"
#include "runtime/launch/CommandLine.h"

#include "CLI/CLI.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <set>
#include <span>

namespace syncline::driver {

namespace {

struct RawOptions {
  std::string jitter;
  std::vector<std::string> slow, sweeps;
  std::string replan = "yes", threshold;
};

Status usage(const std::string &what) { return Status::error(ErrorKind::badUsage, what); }

/// Reads "5%" as 0.05.
Status readPercent(const std::string &option, const std::string &text, double &share) {
  std::string_view digits = text;
  if (!digits.ends_with('%'))
    return usage(option + ": expected a percentage such as '5%', got '" + text + "'");
  digits.remove_suffix(1);
  const char *all = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), all, share);
  if (error != std::errc() || end != all || !(share >= 0 && share < 100))
    return usage(option + ": expected a percentage from 0% to below 100%, got '" + text + "'");
  share /= 100;
  return Status::ok();
}

Status readSlow(const std::string &text, std::pair<int, double> &slow) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  auto [end, error] = std::from_chars(text.data(), text.data() + colon, slow.first);
  if (colon == text.size() || error != std::errc() || end != text.data() + colon || slow.first < 0)
    return usage("--slow: expected RANK:FACTOR, as in '3:1.5', got '" + text + "'");
  Result<double> factor = files::parseFactor(std::string_view(text).substr(colon + 1));
  if (!factor)
    return usage("--slow: '" + text + "': " + factor.status().message());
  slow.second = *factor;
  return Status::ok();
}

Status finish(const RawOptions &raw, SimulateOptions &options) {
  if (!raw.jitter.empty())
    SYNCLINE_TRY(readPercent("--jitter", raw.jitter, options.jitter));
  if (!raw.threshold.empty())
    SYNCLINE_TRY(readPercent("--threshold", raw.threshold, options.threshold));
  std::set<int> slowRanks;
  for (const std::string &text : raw.slow) {
    SYNCLINE_TRY(readSlow(text, options.slow.emplace_back()));
    if (!slowRanks.insert(options.slow.back().first).second)
      return usage("--slow: rank " + std::to_string(options.slow.back().first) + " is given twice");
  }
  for (const std::string &text : raw.sweeps) {
    if (const std::string axis = std::string(sweep::consistencyAxis) + "=";
        text.starts_with(axis)) {
      Result<std::vector<std::string>> forms = sweep::splitForms(text.substr(axis.size()));
      if (!forms)
        return usage("--sweep: " + forms.status().message());
      options.consistencySweeps.push_back(*forms);
      continue;
    }
    SYNCLINE_TRY_GET(axis, sweep::parseSweep(text));
    options.sweeps.push_back(*axis);
  }
  options.replan = raw.replan == "yes";
  if (options.sweepsGrid())
    SYNCLINE_TRY(sweep::checkCombination(options.sweeps[0], options.sweeps[1]));
  const auto judged = options.sweepsGrid() ? std::span(options.sweeps).first(1) : options.sweeps;
  if (!raw.threshold.empty() && std::ranges::all_of(judged, &sweep::SweepAxis::isNamed))
    return usage("--threshold: expected an axis of numbers, for a grid as the first --sweep");
  if (raw.sweeps.size() != 1 && !options.sweepsGrid() && !(options.csv + options.plot).empty())
    return usage("--csv and --plot show one sweep or a grid of two axes, got " +
                 files::counted(static_cast<std::int64_t>(raw.sweeps.size()), "sweep"));
  if (!options.plot.empty() && !options.sweeps.empty() && options.sweeps.front().isNamed())
    return usage("--plot draws over numbers, expected an axis of numbers first, got '" +
                 std::string(sweep::axisName(options.sweeps.front().kind)) + "'");
  SYNCLINE_TRY(expectSvgName(options.plot));
  if (!raw.sweeps.empty() && !options.trace.empty())
    return usage("--trace is of one simulation, not of a sweep");
  return Status::ok();
}

void addSweepOptions(CLI::App *command, RawOptions *raw, SimulateOptions *options) {
  CLI::Option *sweep =
      command
          ->add_option(
              "--sweep", raw->sweeps,
              "Simulate over a range, or at the values of a list, instead: "
              "bandwidth=1Gb/s..100Gb/s, latency=1us..1ms, ranks=1..2048 or ranks=4,8,16, "
              "nodes=1..8, batch=8..256, slow=1..4 (times as long that rank 0 computes), "
              "bucket=1MiB..200MiB (planner ddp:SIZE), overlap=backward,step (for plans of "
              "'compile --overlap step'), planner=optimal,ddp:25MiB,wfbp, "
              "consistency=bsp,ssp:3,dssp:3,15 (forms of 'compile "
              "--consistency'; prints what each trades, time a step for staleness). Given twice: a "
              "grid of both axes, for --plot the axis of numbers first; more often: one by one. "
              "All but consistency print samples/s, of all ranks, and efficiency: samples/s / "
              "(ranks x samples/s of one device alone, which "
              "sends nothing). What does not fit into the devices' memory is left out")
          ->type_name("AXIS=FIRST..LAST")
          ->allow_extra_args(false)
          ->group("Sweeps");
  command
      ->add_option("--replan", raw->replan,
                   "Let the plan's planner decide anew at every point (yes), or keep the plan's "
                   "decisions (no)")
      ->check(launch::oneOf({"yes", "no"}))
      ->capture_default_str()
      ->needs(sweep)
      ->group("Sweeps");
  command
      ->add_option("--threshold", raw->threshold,
                   "Say from where on efficiency is above this; default: 90%")
      ->check(launch::someText())
      ->type_name("PERCENT")
      ->needs(sweep)
      ->group("Sweeps");
  command
      ->add_option("--csv", options->csv,
                   "Write the points to this file as well (CSV); default: none")
      ->check(launch::someText())
      ->type_name("FILE")
      ->group("Sweeps");
  command
      ->add_option("--plot", options->plot,
                   "Draw the points to this file as well (SVG); default: none")
      ->check(launch::someText())
      ->type_name("FILE")
      ->group("Sweeps");
}

} // namespace

Command addSimulate(CLI::App &app) {
  auto options = std::make_shared<SimulateOptions>();
  auto raw = std::make_shared<RawOptions>();
  constexpr int maxSteps = 1'000'000;
  CLI::App *command =
      app.add_subcommand("simulate", "Run a plan in virtual time, here or on another cluster");
  command->footer("Examples:\n"
                  "  syncline simulate model.plan --cluster ethernet-25g --slow 3:1.5\n"
                  "  syncline simulate model.plan --sweep ranks=4..2048");
  command->add_option("PLAN", options->plan, "Folder that 'syncline compile' wrote")->required();
  command
      ->add_option("--cluster", options->cluster,
                   "Simulate on this cluster file, or sample's name; operations take the time "
                   "they were planned with; default: the plan's cluster")
      ->check(launch::someText())
      ->type_name("FILE")
      ->group("What differs");
  CLI::Option *jitter =
      command
          ->add_option("--jitter", raw->jitter,
                       "Vary every operation's time by up to so much, e.g. 5%; default: 0%")
          ->check(launch::someText())
          ->type_name("PERCENT")
          ->group("What differs");
  command->add_option("--seed", options->seed, "Draw the jitter from this seed")
      ->check(launch::wholeNumber(0, "a seed"))
      ->needs(jitter)
      ->type_name("N")
      ->capture_default_str()
      ->group("What differs");
  command
      ->add_option("--slow", raw->slow,
                   "Slow this rank's operations by this factor; may be repeated; default: none")
      ->type_name("RANK:FACTOR")
      ->allow_extra_args(false)
      ->group("What differs");
  command
      ->add_option("--steps", options->steps,
                   "Simulate so many steps, one behind the other; default: 1, and with a "
                   "consistency other than bsp until every rank has done 1000, or above 16 ranks "
                   "16000 of all ranks")
      ->check(launch::wholeNumber(1, "steps", maxSteps))
      ->type_name("N")
      ->group("What differs");
  command
      ->add_flag("--json", options->json,
                 "Print every number as JSON, of a sweep a line for each value")
      ->group("Output");
  command
      ->add_option(
          "--trace", options->trace,
          "Write a Chrome trace to this file, for Perfetto or chrome://tracing; default: none")
      ->check(launch::someText())
      ->type_name("FILE")
      ->group("Output");
  addSweepOptions(command, raw.get(), options.get());
  return [options, raw]() -> Status {
    SYNCLINE_TRY(finish(*raw, *options));
    SYNCLINE_TRY(files::resolveCluster(options->cluster));
    return simulatePlan(*options);
  };
}

} // namespace syncline::driver
