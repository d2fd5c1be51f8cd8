// The registry of planners: one table of names, and the parsing of "NAME" and "NAME:SIZE".
#include "passes/solver/Planner.h"

#include "passes/solver/Coarsen.h"
#include "passes/solver/ComparisonPlanners.h"
#include "passes/solver/FinishTimes.h"
#include "passes/solver/Replay.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <optional>

namespace syncline::solver {

namespace {

using Ends = std::vector<std::size_t>;
using Rule = std::function<Ends(const MergeProblem &, std::span<const double>)>;

class RulePlanner final : public Planner {
public:
  RulePlanner(std::string name, Rule rule) : Planner(std::move(name)), rule(std::move(rule)) {}

  Ends groupEnds(const MergeProblem &problem,
                 std::span<const double> earliestFinish) const override {
    return rule(problem, earliestFinish);
  }

private:
  Rule rule;
};

/// One line of the registry; exactly one of the two makers is set.
struct Entry {
  std::string_view name;
  Rule plain;
  std::function<Rule(std::int64_t)> sized;
};

Rule ignoringBound(Ends (*groups)(const MergeProblem &)) {
  return [groups](const MergeProblem &problem, std::span<const double>) { return groups(problem); };
}

const std::vector<Entry> &registry() {
  static const std::vector<Entry> entries = {
      {"optimal", coarsestGroups, {}},
      {"wfbp", ignoringBound(layerwiseGroups), {}},
      {"single", ignoringBound(singleGroup), {}},
      {"mg-wfbp", ignoringBound(mgWfbpGroups), {}},
      {"ddp",
       {},
       [](std::int64_t cap) -> Rule {
         return [cap](const MergeProblem &problem, std::span<const double>) {
           return ddpGroups(problem, cap);
         };
       }},
      {"horovod",
       {},
       [](std::int64_t capacity) -> Rule {
         return [capacity](const MergeProblem &problem, std::span<const double>) {
           return horovodGroups(problem, capacity);
         };
       }},
  };
  return entries;
}

constexpr PlannerUsage usages[] = {
    {"optimal", "the plan that finishes first, proven; of those one with few messages"},
    {"wfbp", "every layer alone (Poseidon's wait-free backpropagation)"},
    {"single", "all layers in one message after the backward pass"},
    {"mg-wfbp", "the published merging rule of MG-WFBP"},
    {"ddp:SIZE", "PyTorch DDP's buckets: the first 1 MiB, then SIZE (its default: 25MiB)"},
    {"horovod:SIZE", "Horovod's fusion buffer of SIZE (its default: 128MiB), cycle 1 ms"},
};

std::string knownForms() {
  std::string list;
  for (const PlannerUsage &usage : usages)
    list += (list.empty() ? "" : ", ") + std::string(usage.form);
  return list;
}

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

/// A positive whole number of bytes below 2^53, written with its unit.
std::optional<std::int64_t> parseSize(std::string_view text) {
  constexpr struct {
    std::string_view unit;
    double bytes;
  } units[] = {{"B", 1},      {"KB", 1e3},          {"MB", 1e6},     {"GB", 1e9},
               {"KiB", 1024}, {"MiB", 1024 * 1024}, {"GiB", 1 << 30}};
  double number = 0;
  auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number))
    return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  if (text.starts_with(' '))
    text.remove_prefix(1);
  for (const auto &unit : units)
    if (text == unit.unit)
      if (double bytes = std::round(number * unit.bytes); bytes >= 1 && bytes < 0x1p53)
        return static_cast<std::int64_t>(bytes);
  return std::nullopt;
}

Status usageError(std::string message) {
  return Status::error(ErrorKind::badUsage, std::move(message));
}

} // namespace

MergeResult Planner::plan(const MergeProblem &problem) const {
  Certificate certificate{earliestFinishTimes(problem)};
  Ends ends = groupEnds(problem, certificate.earliestFinish);
  return {replay(problem, ends), std::move(certificate)};
}

std::span<const PlannerUsage> plannerUsages() { return usages; }

Result<std::shared_ptr<const Planner>> parsePlanner(std::string_view text) {
  std::size_t colon = text.find(':');
  std::string_view name = text.substr(0, colon);
  auto entry = std::ranges::find(registry(), name, &Entry::name);
  if (entry == registry().end())
    return usageError("unknown planner " + quoted(text) + ", expected one of " + knownForms());

  bool hasSize = colon != std::string_view::npos;
  if (entry->plain) {
    if (hasSize)
      return usageError("planner " + quoted(name) + " takes no size, got " + quoted(text));
    return std::shared_ptr<const Planner>(
        std::make_shared<RulePlanner>(std::string(text), entry->plain));
  }
  if (!hasSize)
    return usageError("planner " + quoted(name) + " needs a size, as in '" + std::string(name) +
                      ":25MiB'");
  std::string_view sizeText = text.substr(colon + 1);
  std::optional<std::int64_t> size = parseSize(sizeText);
  if (!size)
    return usageError("planner " + quoted(text) +
                      ": expected a positive size with a unit (B, KB, " +
                      "MB, GB, KiB, MiB, GiB), got " + quoted(sizeText));
  return std::shared_ptr<const Planner>(
      std::make_shared<RulePlanner>(std::string(text), entry->sized(*size)));
}

} // namespace syncline::solver
