// The `syncline` command: compile, inspect, verify, run.
#include "frontend/driver/Commands.h"

#include "CLI/CLI.hpp"

#include <cstdio>

using namespace syncline;

namespace {

constexpr const char *description =
    "Compiles a model and a cluster into a communication plan for data-parallel training:\n"
    "which gradients travel together, when, and how long it takes, with a proof.";

int report(const Status &status) {
  if (!status)
    std::fprintf(stderr, "syncline: error: %s\n", status.message().c_str());
  return status.exitCode();
}

struct Subcommand {
  const char *name;
  driver::Command (*add)(CLI::App &);
};

constexpr Subcommand subcommands[] = {{"compile", driver::addCompile},
                                      {"inspect", driver::addInspect},
                                      {"verify", driver::addVerify},
                                      {"run", driver::addRun}};

int runCommand(int argc, char **argv) {
  if (argc > 1 && std::string(argv[1]) == "run")
    return report(driver::runTraining({argv + 2, argv + argc}));

  CLI::App app(description, "syncline");
  app.set_version_flag("--version", std::string("syncline ") + SYNCLINE_VERSION);
  app.require_subcommand(1);
  std::vector<driver::Command> commands;
  for (const Subcommand &subcommand : subcommands)
    commands.push_back(subcommand.add(app));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    // CLI11 prints help and errors; any code but 0 is a bad command line.
    return app.exit(error) == 0 ? 0 : 2;
  }
  for (std::size_t i = 0; i < std::size(subcommands); ++i)
    if (app.got_subcommand(subcommands[i].name))
      return report(commands[i]());
  return 2;
}

} // namespace

int main(int argc, char **argv) {
  try {
    return runCommand(argc, argv);
  } catch (const std::bad_alloc &) {
    return report(Status::badInput("out of memory"));
  } catch (const std::exception &error) {
    return report(Status::error(ErrorKind::internal, error.what()));
  }
}
