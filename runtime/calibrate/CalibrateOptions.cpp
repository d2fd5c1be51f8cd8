// The switches, each documented once with unit and default.
#include "runtime/calibrate/CalibrateOptions.h"

#include "runtime/calibrate/SizeText.h"
#include "runtime/launch/CliChecks.h"
#include "runtime/launch/CommandLine.h"
#include "runtime/launch/RankFlags.h"
#include "syncline/Printable.h"

#include <algorithm>
#include <iostream>
#include <sstream>

namespace syncline::calibrate {
namespace {

/// Longest time and time limit in seconds.
constexpr double longest = 1e6;
/// Limits of message sizes in bytes. Every rank holds a few buffers of the largest size.
constexpr std::int64_t smallestSize = 4, largestSize = std::int64_t{1} << 30;

struct Texts {
  std::string time = "60s", sizes, schemes;
};

void addMeasurements(CLI::App &app, CalibrateOptions &o, Texts &texts) {
  const char *group = "Measurements";
  app.add_option("--time", texts.time, "Measure for about this time, such as '90s' or '5min'")
      ->capture_default_str()
      ->type_name("TIME")
      ->group(group);
  app.add_option("--sizes", texts.sizes,
                 "Begin with these message sizes; between them others are measured where the curve "
                 "bends (default 1KiB,4KiB,16KiB,..,64MiB)")
      ->type_name("SIZE,..")
      ->group(group);
  app.add_option("--schemes", texts.schemes,
                 "Measure these schemes (default all that the ranks can use)")
      ->type_name("SCHEME,..")
      ->group(group);
  launch::addPlanlessFlags(app, o, group);
  launch::addDeviceFlags(app, o, "GPUs (--backend cuda)");
  app.add_option("--threads", o.threads,
                 "Compute with N threads in each rank, as run will; OMP_NUM_THREADS is ignored")
      ->check(CLI::Range(1, 1024))
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
}

void addOutput(CLI::App &app, CalibrateOptions &o) {
  const char *group = "Output and limits";
  app.add_option(
         "-o,--output", o.output,
         "Write the cluster file to FILE, which names the cluster, replacing an existing one "
         "(default standard output)")
      ->check(launch::someText())
      ->type_name("FILE")
      ->group(group);
  app.add_flag("--quiet", o.quiet, "Print no progress and no table on standard error")
      ->group(group);
  for (auto [flag, value, help] :
       {std::tuple("--timeout", &o.timeout, "Wait at most so many seconds for another rank"),
        std::tuple("--start-timeout", &o.startTimeout,
                   "Wait at most so many seconds for all ranks to start")})
    app.add_option(flag, *value, help)
        ->check(launch::realNumber(1e-3, longest, "seconds from 0.001 to 1e6"))
        ->type_name("SECONDS")
        ->capture_default_str()
        ->group(group);
}

std::vector<std::string> items(const std::string &list) {
  std::vector<std::string> all;
  std::stringstream text(list);
  for (std::string item; std::getline(text, item, ',');)
    all.push_back(item);
  return all;
}

Status readTime(const std::string &text, double &seconds) {
  SYNCLINE_TRY_GET(time, parseTime(text));
  if (*time < 1 || *time > longest)
    return Status::badInput("expected a time from 1s to 1e6 s, got '" + text + "'");
  seconds = *time;
  return Status::ok();
}

Status readSizes(const std::string &text, std::vector<std::int64_t> &sizes) {
  for (const std::string &item : items(text)) {
    SYNCLINE_TRY_GET(size, parseSize(item));
    if (*size < smallestSize || *size > largestSize || *size % 4 != 0)
      return Status::badInput("expected multiples of 4B up to 1GiB, got '" + item + "'");
    if (!sizes.empty() && *size <= sizes.back())
      return Status::badInput("expected sizes in ascending order, got '" + item + "' after '" +
                              sizeText(sizes.back()) + "'");
    sizes.push_back(*size);
  }
  return Status::ok();
}

Status readSchemes(const std::string &text, std::vector<Scheme> &schemes) {
  for (const std::string &item : items(text)) {
    SYNCLINE_TRY_GET(scheme, readScheme(item));
    if (std::find(schemes.begin(), schemes.end(), *scheme) != schemes.end())
      return Status::badInput("'" + item + "' is given twice");
    schemes.push_back(*scheme);
  }
  return Status::ok();
}

/// Checks that the ranks fill nodes, if both numbers are known here. Otherwise the ranks check it
/// after joining.
Status checkNodes(const launch::IdentityFlags &flags) {
  const std::optional<int> ranks = flags.localRanks ? flags.localRanks : flags.ranks;
  const int perNode = flags.ranksPerNode.value_or(1);
  if (!ranks || *ranks % perNode == 0)
    return Status::ok();
  return Status::badInput("expected a divisor of " + std::to_string(*ranks) + " ranks, got '" +
                          std::to_string(perNode) + "'");
}

int complain(const std::string &message) {
  std::cerr << "syncline-calibrate: error: " << printable(message) << "\n";
  return 2;
}

} // namespace

std::string CalibrateOptions::sharedOptions() const {
  std::ostringstream text;
  text.precision(17);
  text << "--time " << seconds << "s --threads " << threads << " --backend " << backend
       << " --precision " << launch::precisionName(precision)
       << (sharesDevice ? " --share-device" : "");
  for (std::int64_t size : sizes)
    text << " --sizes " << sizeText(size);
  for (Scheme scheme : schemes)
    text << " --schemes " << schemeName(scheme);
  return text.str();
}

std::string CalibrateOptions::conditions() const {
  return backend == "cpu"
             ? "compute threads a rank: " + std::to_string(threads) +
                   (precision == core::Precision::bf16 ? "; --precision bf16" : "")
             : "--precision " + launch::precisionName(precision) +
                   (sharesDevice ? " --share-device, messages go through sockets" : "");
}

std::optional<int> parseCalibrateOptions(int argc, char **argv, CalibrateOptions &o) {
  CLI::App app(
      "Measures links, collectives and devices on the ranks it is started on, and writes "
      "a cluster file.\n"
      "Exit codes: 0 good, 1 bad input or a lost rank, 2 bad command line, 3 internal error.",
      launch::typedCommand("syncline-calibrate"));
  app.option_defaults()->always_capture_default(false);
  app.formatter(launch::helpFormatter());
  app.footer("Examples:\n"
             "  syncline calibrate -n 4 -o measured.yaml\n"
             "  mpirun --hostfile hosts syncline calibrate --time 5min -o lab.yaml");
  app.set_version_flag("--version", std::string("syncline-calibrate ") + SYNCLINE_VERSION);
  Texts texts;
  launch::addRankFlags(app, o.identity,
                       {.group =
                            "Ranks (default: the variables of torchrun, Open MPI, MPICH, Intel MPI "
                            "or Slurm)",
                        .localRanks = "Start N ranks on this host",
                        .ranksPerNode = "local ranks share one node",
                        .fewestRanks = 2});
  addMeasurements(app, o, texts);
  addOutput(app, o);
  if (std::optional<int> code = launch::parseWords(app, argc, argv, complain))
    return code;
  if (std::string wrong = launch::checkDeviceFlags(o); !wrong.empty())
    return complain(wrong);
  if (Status s = readTime(texts.time, o.seconds); !s)
    return complain("--time: " + s.message());
  if (Status s = readSizes(texts.sizes, o.sizes); !s)
    return complain("--sizes: " + s.message());
  if (Status s = readSchemes(texts.schemes, o.schemes); !s)
    return complain("--schemes: " + s.message());
  if (Status s = checkNodes(o.identity); !s)
    return complain("--ranks-per-node: " + s.message());
  return std::nullopt;
}

} // namespace syncline::calibrate
