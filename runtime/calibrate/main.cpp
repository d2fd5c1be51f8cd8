// syncline-calibrate: measures the ranks on which it is started and writes a cluster file.
#include "runtime/calibrate/CalibrateOptions.h"
#include "runtime/calibrate/CalibrateRun.h"
#include "runtime/core/Guarded.h"
#include "runtime/launch/LocalLauncher.h"
#include "syncline/Printable.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>

using namespace syncline;

static int fail(const Status &status) {
  std::fprintf(stderr, "syncline-calibrate: error: %s\n", printable(status.message()).c_str());
  return status.exitCode();
}

static int run(int argc, char **argv) {
  calibrate::CalibrateOptions options;
  if (std::optional<int> code = calibrate::parseCalibrateOptions(argc, argv, options)) {
    std::cout.flush();
    return *code == 0 && !std::cout ? fail(Status::badInput("cannot write to standard output"))
                                    : *code;
  }
  Result<launch::Identity> identity =
      launch::findIdentity(options.identity, std::getenv, {.ranks = launch::RunShape::anyRanks});
  if (!identity)
    return fail(identity.status());
  if (identity->size < 2)
    return fail(Status::error(ErrorKind::badUsage,
                              "expected at least 2 ranks, got 1: '-n' starts local ones, torchrun, "
                              "mpirun or srun those of several hosts"));
  if (identity->launchesLocally)
    return launch::launchLocally(
        {.ranks = identity->size, .ranksPerNode = options.identity.ranksPerNode.value_or(0)},
        {argv, argv + argc}, launch::localLaunch(options.identity, options.threads));
  // Ranks measure on where whoever reads their output has ended.
  std::signal(SIGPIPE, SIG_IGN);
  return calibrate::runCalibration(options, *identity);
}

int main(int argc, char **argv) {
  int code = 0;
  const Status status = core::guarded([&] { return code = run(argc, argv), Status::ok(); });
  return status ? code : fail(status);
}
