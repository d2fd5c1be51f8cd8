// syncline-run: trains the model of a plan folder.
#include "runtime/core/Guarded.h"
#include "runtime/launch/LocalLauncher.h"
#include "runtime/run/RankRun.h"
#include "runtime/run/StopSignal.h"
#include "runtime/run/options/Options.h"
#include "runtime/run/plan/Plan.h"
#include "syncline/Printable.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>

using namespace syncline;

static int fail(const Status &status) {
  std::fprintf(stderr, "syncline-run: error: %s\n", printable(status.message()).c_str());
  return status.exitCode();
}

/// Returns the exit code, or an error when standard output could not be written.
static int finish(int code) {
  std::cout.flush();
  if (code == 0 && !std::cout)
    return fail(Status::badInput("cannot write to standard output"));
  return code;
}

static int run(int argc, char **argv) {
  run::Options options;
  if (std::optional<int> code = run::parseOptions(argc, argv, options))
    return finish(*code);
  if (options.alone) {
    run::StopSignal::listen();
    return finish(run::runRank(options, launch::Identity()));
  }
  Result<launch::RunShape> shape = run::readRunShape(options.plan);
  if (!shape)
    return fail(shape.status());
  Result<launch::Identity> identity = launch::findIdentity(options.identity, std::getenv, *shape);
  if (!identity)
    return fail(identity.status());
  if (identity->launchesLocally)
    return launch::launchLocally(*shape, {argv, argv + argc},
                                 launch::localLaunch(options.identity, options.threads));
  // Ranks train on where whoever reads their output has ended; rank 0 says so at the end.
  std::signal(SIGPIPE, SIG_IGN);
  run::StopSignal::listen();
  return finish(run::runRank(options, *identity));
}

int main(int argc, char **argv) {
  int code = 0;
  const Status status = core::guarded([&] { return code = ::run(argc, argv), Status::ok(); });
  return status ? code : fail(status);
}
