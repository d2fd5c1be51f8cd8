// Joining, checking options, measuring and writing.
#include "runtime/calibrate/CalibrateRun.h"

#include "runtime/calibrate/Analysis.h"
#include "runtime/calibrate/Calibration.h"
#include "runtime/calibrate/ClusterText.h"
#include "runtime/calibrate/DeviceChannels.h"
#include "runtime/calibrate/ResultTable.h"
#include "runtime/calibrate/SizeText.h"
#include "runtime/launch/CommandLineText.h"
#include "runtime/launch/Joining.h"
#include "runtime/run/Backends.h"
#include "runtime/transport/GroupPeers.h"
#include "syncline/OutputFile.h"
#include "syncline/Printable.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <unistd.h>

namespace syncline::calibrate {
namespace {

std::string hostName() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  std::string text = name;
  // The name goes into a YAML comment, which a line break would end.
  std::erase_if(text, [](unsigned char c) { return c < ' '; });
  return text.empty() ? "unknown host" : text;
}

/// Ok when at least one size is short enough for the scheme.
Status checkSizes(Scheme scheme, int ranks, const std::vector<std::int64_t> &sizes) {
  const std::int64_t most = largestMessage(scheme, ranks, sizes.back());
  if (sizes.front() <= most)
    return Status::ok();
  return Status::error(ErrorKind::badUsage,
                       "--sizes: '" + std::string(schemeName(scheme)) + "' gathers from each of " +
                           std::to_string(ranks) +
                           " ranks, together no more than the longest size: expected " +
                           (most > 0 ? "one of at most " + sizeText(most) + ", or " : "") +
                           sizeText(sizes.front() * ranks) + " as the longest");
}

class CalibrationRun {
public:
  CalibrationRun(const CalibrateOptions &options, const launch::Identity &identity)
      : options(options), identity(identity) {}

  Status run();
  transport::Group *joined() const { return group.get(); }

private:
  Status openBackend();
  Status join();
  Result<int> ranksPerNode();
  Status chooseSettings();
  Status connect();
  std::string whyNot(Scheme scheme) const;
  Status write(const Findings &findings) const;

  const CalibrateOptions &options;
  const launch::Identity &identity;
  const core::Backend *backend = nullptr;
  int device = 0;
  std::string versions;
  std::unique_ptr<transport::Group> group;
  std::unique_ptr<core::Peers> peers; ///< for the backend's own channels; null without them
  Settings settings;
  std::vector<std::string> hosts;
};

Status CalibrationRun::run() {
  if (identity.rank == 0 && !options.output.empty())
    SYNCLINE_TRY(expectWritableFile(options.output));
  SYNCLINE_TRY(openBackend());
  SYNCLINE_TRY(join());
  SYNCLINE_TRY(chooseSettings());
  SYNCLINE_TRY(connect());
  SYNCLINE_TRY_GET(findings, [&] {
    Progress progress(identity.rank == 0 && !options.quiet, options.seconds);
    Calibration calibration({*backend, group->transport(), peers.get(), device}, settings,
                            progress);
    return calibration.run();
  }());
  findings->hosts = hosts;
  findings->conditions = options.conditions();
  // The other ranks succeed only if the file is written.
  if (identity.rank == 0)
    SYNCLINE_TRY(write(*findings));
  return group->leave(options.timeout);
}

Status CalibrationRun::openBackend() {
  SYNCLINE_TRY_GET(opened, run::openBackend(options.backend));
  backend = *opened;
  if (!backend->hasPrecision(options.precision))
    return Status::badInput("--precision bf16: " + std::string(launch::missingBfloat16));
  versions = "Syncline " SYNCLINE_VERSION ", " + backend->description();
  Result<int> chosen =
      run::chooseDevice({options.device, options.sharesDevice, identity.machineRank},
                        backend->devices(), options.backend);
  if (chosen)
    device = *chosen;
  return chosen.status();
}

Status CalibrationRun::join() {
  SYNCLINE_TRY_GET(found, launch::joinGroup(identity, options.startTimeout));
  group = std::move(*found);
  SYNCLINE_TRY(group->agree({{"versions", versions}, {"options", options.sharedOptions()}}));
  std::string place = hostName();
  if (const std::string name = backend->deviceName(device); !name.empty())
    place += " (" + name + ")";
  SYNCLINE_TRY_GET(all, group->gather("host", place, options.startTimeout));
  hosts = std::move(*all);
  if (options.backend != "cpu")
    return Status::ok();
  const auto notes =
      launch::notesOnThreads(options.threads, group.get(), identity.size, options.startTimeout);
  if (notes && identity.rank == 0)
    for (const std::string &text : *notes)
      std::fprintf(stderr, "syncline-calibrate: %s\n", text.c_str());
  return notes.status();
}

/// The number of ranks in each node, or 1 unless all nodes have equally many ranks that are
/// numbered node by node.
Result<int> CalibrationRun::ranksPerNode() {
  const std::string own =
      std::to_string(identity.localSize) + " " + std::to_string(identity.localRank);
  SYNCLINE_TRY_GET(all, group->gather("node", own, options.startTimeout));
  const int size = identity.localSize;
  for (int rank = 0; rank < identity.size; ++rank)
    if (size < 1 || identity.size % size != 0 ||
        (*all)[rank] != std::to_string(size) + " " + std::to_string(rank % size))
      return 1;
  return size;
}

Status CalibrationRun::chooseSettings() {
  SYNCLINE_TRY_GET(perNode, ranksPerNode());
  settings.ranksPerNode = *perNode;
  settings.seconds = options.seconds;
  settings.threads = options.threads;
  settings.precision = options.precision;
  settings.sharesDevice = options.sharesDevice;
  settings.sizes = options.sizes.empty() ? defaultSizes() : options.sizes;
  const std::vector<Scheme> usable = usableSchemes(*backend, identity.size, settings);
  settings.schemes = options.schemes.empty() ? usable : options.schemes;
  for (Scheme scheme : settings.schemes)
    if (std::find(usable.begin(), usable.end(), scheme) == usable.end())
      return Status::error(ErrorKind::badUsage, "--schemes: " + whyNot(scheme));
  // Without '--schemes', schemes without a suitable size are left out, and the file says so.
  for (Scheme scheme : options.schemes)
    SYNCLINE_TRY(checkSizes(scheme, identity.size, settings.sizes));
  return Status::ok();
}

/// Prepares the host's links for a backend without its own channels.
Status CalibrationRun::connect() {
  peers = transport::createPeers(*group, options.timeout, options.timeout);
  group->enter("as ranks compared times");
  return backend->hasChannels() ? Status::ok() : group->connect(options.timeout);
}

/// The reason why a scheme cannot be measured.
std::string CalibrationRun::whyNot(Scheme scheme) const {
  const std::string name = "'" + std::string(schemeName(scheme)) + "'";
  if (!backend->hasChannels())
    return name + " needs several nodes of several ranks, numbered node by node; "
                  "'--ranks-per-node' takes ranks for several nodes";
  return "backend '" + options.backend + "' does not carry " + name + "; expected some of " +
         listOf(usableSchemes(*backend, identity.size, settings), ", ");
}

Status CalibrationRun::write(const Findings &findings) const {
  const std::string name =
      options.output.empty() ? "calibrated" : std::filesystem::path(options.output).stem().string();
  const std::string text = clusterText(findings, analyse(findings), {printable(name), versions});
  if (!options.quiet)
    std::fputs(resultTable(findings).c_str(), stderr);
  if (const std::string note = besideNote(findings); !options.quiet && !note.empty())
    std::fprintf(stderr, "note: %s\n", note.c_str());
  if (!options.output.empty()) {
    const Status written = writeWholeFile(options.output, text);
    if (written && !options.quiet)
      std::fputs(launch::closingLines(options.output, std::to_string(findings.ranks) + " ranks",
                                      {"syncline", "compile", "MODEL", "--cluster", options.output,
                                       "-o", "OUT.plan"})
                     .c_str(),
                 stderr);
    return written;
  }
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
    return Status::ok();
  return Status::badInput("cannot write to standard output");
}

} // namespace

int runCalibration(const CalibrateOptions &options, const launch::Identity &identity) {
  CalibrationRun run(options, identity);
  const Status s = run.run();
  return launch::conclude("syncline-calibrate", s, run.joined());
}

} // namespace syncline::calibrate
