// --checkpoint, --every, --keep, --resume.
#include "runtime/run/options/CheckpointOptions.h"

#include "runtime/launch/CliChecks.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <sstream>
#include <string_view>

#include <CLI/CLI.hpp>

namespace syncline::run {
namespace {

/// The order of samples and the meaning of moments depend on these.
constexpr std::array<std::string_view, 6> fixedOptions{
    "--seed", "--shuffle", "--data", "--synthetic", "--optimizer", "--accumulate"};
/// Training does not depend on these.
constexpr std::array<std::string_view, 6> freeOptions{"--checkpoint", "--every",       "--resume",
                                                      "--dump-steps", "--trace-steps", "--eval"};

bool isIn(std::span<const std::string_view> names, const std::string &name) {
  return std::ranges::find(names, name) != names.end();
}

/// The values of each option, empty for one without values.
std::map<std::string, std::string> valuesOf(const std::string &text) {
  std::map<std::string, std::string> values;
  std::istringstream words(text);
  std::string option;
  for (std::string word; words >> word;)
    if (word.starts_with("--"))
      values[option = word];
    else if (std::string &value = values[option]; value.empty())
      value = word;
    else
      value += " " + word;
  return values;
}

std::string difference(const std::string &option, const std::string *before,
                       const std::string *now) {
  const auto with = [&](const std::string &value) {
    return value.empty() ? option : option + " " + value;
  };
  if (!before)
    return with(*now) + " is new";
  return with(*before) + (now ? " is now " + *now : " is gone");
}

} // namespace

void CheckpointOptions::addTo(CLI::App &app) {
  const char *group = "Checkpoints";
  auto *dir = app.add_option("--checkpoint", folder,
                             "Save the state of the run in DIR, which all ranks share, at its end, "
                             "at Ctrl-C, SIGTERM and SIGHUP, and as --every says")
                  ->check(launch::someText())
                  ->type_name("DIR")
                  ->group(group);
  app.add_option("--every", every,
                 "Save after every N steps, beside the next ones; with local updates a multiple of "
                 "their period")
      ->check(launch::wholeNumber(1, "steps"))
      ->type_name("N")
      ->needs(dir)
      ->group(group);
  app.add_option("--keep", keep, "Keep the last K checkpoints")
      ->check(launch::wholeNumber(1, "checkpoints"))
      ->type_name("K")
      ->capture_default_str()
      ->needs(dir)
      ->group(group);
  app.add_flag("--resume", resumes,
               "Go on from the newest good checkpoint in DIR, or from the start where DIR has none")
      ->needs(dir)
      ->group(group);
}

Status CheckpointOptions::check(const Plan &plan) const {
  const PlanConsistency &c = plan.consistency;
  if (!any())
    return Status::ok();
  if (c.isServed())
    return Status::badInput("'" + plan.folder + "': the weights of '" + c.text +
                            "' travel by servers, whose ranks are at different steps: "
                            "'--checkpoint' cannot save them, expected bsp, local, diloco or "
                            "easgd:sync1 to sync3");
  if (every && *every % c.period != 0)
    return Status::badInput("--every " + std::to_string(*every) + ": expected a multiple of " +
                            std::to_string(c.period) + " steps, the period of '" + c.text + "'");
  return Status::ok();
}

std::string CheckpointOptions::shared() const {
  if (!any())
    return "";
  return " --checkpoint" + (every ? " --every " + std::to_string(*every) : "") +
         (resumes ? " --resume" : "");
}

OptionChanges compareOptions(const std::string &before, const std::string &now) {
  const auto old = valuesOf(before), present = valuesOf(now);
  OptionChanges changes;
  const auto add = [&](const std::string &option, const std::string *was, const std::string *is) {
    if (isIn(freeOptions, option) || (was && is && *was == *is))
      return;
    const std::string text = difference(option, was, is);
    if (!isIn(fixedOptions, option))
      changes.changed += (changes.changed.empty() ? "" : ", ") + text;
    else if (changes.forbidden.empty())
      changes.forbidden = text;
  };
  for (const auto &[option, value] : old) {
    const auto found = present.find(option);
    add(option, &value, found == present.end() ? nullptr : &found->second);
  }
  for (const auto &[option, value] : present)
    if (!old.contains(option))
      add(option, nullptr, &value);
  return changes;
}

} // namespace syncline::run
