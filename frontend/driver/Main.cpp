// The `syncline` command: its subcommands, exit codes, what could not be printed.
#include "frontend/driver/Commands.h"

#include "CLI/CLI.hpp"

#include <cstdio>
#include <iostream>

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

constexpr Subcommand subcommands[] = {
    {"compile", driver::addCompile}, {"inspect", driver::addInspect},
    {"verify", driver::addVerify},   {"simulate", driver::addSimulate},
    {"run", driver::addRun},         {"calibrate", driver::addCalibrate},
    {"profile", driver::addProfile}, {"cluster", driver::addCluster}};

bool isSubcommand(const std::string &name) {
  for (const Subcommand &subcommand : subcommands)
    if (name == subcommand.name)
      return true;
  return false;
}

/// "compile, inspect or run".
std::string subcommandList() {
  std::string list;
  for (const Subcommand &subcommand : subcommands) {
    const bool isFirst = list.empty(), isLast = &subcommand == std::end(subcommands) - 1;
    list += (isFirst ? "" : isLast ? " or " : ", ") + std::string(subcommand.name);
  }
  return list;
}

/// What was printed must have arrived: a full disk is an error, too.
int finishOutput(int code) {
  std::cout.flush();
  const bool written = std::fflush(stdout) == 0 && !std::ferror(stdout) && std::cout;
  if (code == 0 && !written)
    return report(Status::badInput("cannot write to standard output"));
  return code;
}

int runCommand(int argc, char **argv) {
  for (const char *handedOver : {"run", "calibrate"})
    if (argc > 1 && std::string(argv[1]) == handedOver)
      return report(
          driver::replaceBy("syncline-" + std::string(handedOver), {argv + 2, argv + argc}));

  if (argc > 1 && argv[1][0] != '-' && !isSubcommand(argv[1]))
    return report(Status::error(ErrorKind::badUsage, "unknown command '" + std::string(argv[1]) +
                                                         "', expected " + subcommandList()));
  CLI::App app(description, "syncline");
  app.set_version_flag("--version", std::string("syncline ") + SYNCLINE_VERSION);
  app.require_subcommand(1);
  std::vector<driver::Command> commands;
  for (const Subcommand &subcommand : subcommands)
    commands.push_back(subcommand.add(app));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() != 0)
      return report(Status::error(ErrorKind::badUsage,
                                  std::string(error.what()) + "; '--help' lists the options"));
    return finishOutput(app.exit(error)); // prints the help
  }
  for (std::size_t i = 0; i < std::size(subcommands); ++i)
    if (app.got_subcommand(subcommands[i].name))
      return finishOutput(report(commands[i]()));
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
