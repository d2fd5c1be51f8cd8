// The `syncline` command: subcommands, exit codes, and errors of standard output.
#include "frontend/driver/Commands.h"

#include "frontend/onnx/ExternalFiles.h"
#include "runtime/launch/CommandLine.h"
#include "syncline/Printable.h"
#include "syncline/Suggestion.h"

#include "CLI/CLI.hpp"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string_view>

using namespace syncline;

namespace {

constexpr const char *description =
    "Compiles a model and a cluster into a communication plan for data-parallel training:\n"
    "which gradients travel together, when, and how long it takes, with a proof.";

int report(const Status &status) {
  if (!status)
    std::fprintf(stderr, "syncline: error: %s\n", printable(status.message()).c_str());
  if (!status && status.kind() == ErrorKind::internal)
    std::fprintf(stderr, "syncline: this is a fault of syncline " SYNCLINE_VERSION
                         ", not of its input; please report it with the command and its files\n");
  return status.exitCode();
}

struct Subcommand {
  std::string_view name;
  driver::Command (*add)(CLI::App &);
};

constexpr Subcommand subcommands[] = {
    {"compile", driver::addCompile}, {"inspect", driver::addInspect},
    {"verify", driver::addVerify},   {"simulate", driver::addSimulate},
    {"run", driver::addRun},         {"calibrate", driver::addCalibrate},
    {"profile", driver::addProfile}, {"cluster", driver::addCluster}};

bool isSubcommand(std::string_view name) {
  return std::ranges::find(subcommands, name, &Subcommand::name) != std::end(subcommands);
}

Status unknownCommand(std::string_view name) {
  std::vector<std::string_view> known{"help"};
  for (const Subcommand &subcommand : subcommands)
    known.push_back(subcommand.name);
  return Status::error(ErrorKind::badUsage,
                       "unknown command '" + std::string(name) + "'" + suggestion(name, known));
}

/// The words of the line, with "help" and "help run" turned into "--help" and "run --help".
std::vector<std::string> wordsOf(int argc, char **argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty() || words[0] != "help")
    return words;
  words.erase(words.begin());
  words.insert(words.empty() ? words.end() : words.begin() + 1, "--help");
  return words;
}

/// Flushes standard output. Output that cannot be written, as to a full disk, is an error.
int finishOutput(int code) {
  std::cout.flush();
  const bool written = std::fflush(stdout) == 0 && !std::ferror(stdout) && std::cout;
  if (code == 0 && !written)
    return report(Status::badInput("cannot write to standard output"));
  return code;
}

int runCommand(std::vector<std::string> words) {
  const std::string command = words.empty() ? "" : words.front();
  if (command == "run" || command == "calibrate")
    return report(driver::replaceBy(command, {words.begin() + 1, words.end()}));
  if (!command.empty() && command.front() != '-' && !isSubcommand(command))
    return report(unknownCommand(command));
  CLI::App app(description, "syncline");
  app.set_version_flag("--version", std::string("syncline ") + SYNCLINE_VERSION);
  app.formatter(launch::helpFormatter());
  app.require_subcommand(1);
  std::vector<driver::Command> commands;
  for (const Subcommand &subcommand : subcommands)
    commands.push_back(subcommand.add(app));
  try {
    std::ranges::reverse(words); // CLI11 wants the last word first
    app.parse(std::move(words));
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() != 0)
      return report(Status::error(ErrorKind::badUsage, launch::usageMessage(app, error)));
    return finishOutput(app.exit(error)); // prints the help
  }
  if (const std::string clash = launch::outputClash(app, frontend::externalFilesOf); !clash.empty())
    return report(Status::error(ErrorKind::badUsage, clash));
  for (std::size_t i = 0; i < std::size(subcommands); ++i)
    if (app.got_subcommand(std::string(subcommands[i].name)))
      return finishOutput(report(commands[i]()));
  return 2;
}

} // namespace

int main(int argc, char **argv) {
  try {
    return runCommand(wordsOf(argc, argv));
  } catch (const std::bad_alloc &) {
    return report(Status::badInput("out of memory"));
  } catch (const std::exception &error) {
    return report(Status::error(ErrorKind::internal, error.what()));
  }
}
