// Reading and writing the file of kernels, and telling it to the other ranks.
#include "runtime/run/KernelChoices.h"

#include "runtime/core/Deadline.h"
#include "runtime/core/Formatted.h"
#include "runtime/launch/CliChecks.h"
#include "syncline/OutputFile.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <CLI/CLI.hpp>

namespace syncline::run {

namespace {

constexpr const char *planFile = "convolutions.tsv";

/// The file's text; empty where there is no file.
Result<std::string> textOf(const std::string &path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    return std::string();
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file.peek() != std::ifstream::traits_type::eof())
    text << file.rdbuf();
  if (!file.is_open() || file.bad() || !text)
    return Status::badInput("'" + path + "': cannot read");
  return text.str();
}

} // namespace

void KernelFlags::addTo(CLI::App &app, const std::string &group) {
  app.add_option("--tune-convolutions", value,
                 "Before the first step, time cuDNN's engines for each convolution and keep the "
                 "fastest whose results are always the same: 'on' keeps the choice in the plan's "
                 "convolutions.tsv, for this device and this cuDNN, and later runs take it from "
                 "there; FILE keeps it there; 'off' takes the first that cuDNN names")
      ->check(launch::someText())
      ->capture_default_str()
      ->type_name("on|off|FILE")
      ->group(group);
}

Result<ChosenKernels> KernelFlags::chooseFirst(const KernelRun &run, std::string &table) const {
  const std::string path = isGiven() ? value : run.plan.file(planFile);
  SYNCLINE_TRY_GET(text, textOf(path));
  const core::Clock::time_point start = core::Clock::now();
  Result<core::KernelChoice> choice = run.backend.chooseKernels(run.executable, *text, true);
  if (!choice)
    return Status::error(choice.status().kind(), "'" + path + "': " + choice.status().message());
  table = choice->table;
  ChosenKernels chosen{std::move(choice->kernels), ""};
  if (choice->timed == 0)
    return chosen;
  chosen.note = "timed the engines of " + std::to_string(choice->timed) + " convolutions on " +
                choice->machine + core::formatted(" in %.1f s", core::secondsSince(start));
  const Status written = writeWholeFile(path, table);
  if (!written && isGiven())
    return written;
  chosen.note += written ? "; '" + path + "' keeps them for later runs"
                         : "; later runs time them again: " + written.message();
  return chosen;
}

Result<ChosenKernels> KernelFlags::choose(const KernelRun &run) const {
  std::string table;
  if (!run.group)
    return chooseFirst(run, table);
  const std::string key = "kernels";
  Result<ChosenKernels> chosen = ChosenKernels();
  const bool isFirst = run.group->rank() == 0;
  if (isFirst) {
    chosen = chooseFirst(run, table);
    if (!chosen)
      return chosen;
    SYNCLINE_TRY(run.group->tell(key, table, run.seconds));
  }
  const auto told =
      run.group->gather("kernels told", "", run.seconds, transport::Participants::workers);
  if (!told || isFirst)
    return told ? chosen : Result<ChosenKernels>(told.status());
  SYNCLINE_TRY_GET(value, run.group->ask(key, run.seconds));
  SYNCLINE_TRY_GET(choice, run.backend.chooseKernels(run.executable, value->value_or(""), false));
  return ChosenKernels{std::move(choice->kernels), ""};
}

} // namespace syncline::run
