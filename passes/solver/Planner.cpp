// The planners that users may name, and the parsing of "NAME" and "NAME:SIZE".
#include "passes/solver/Planner.h"

#include "passes/problem/Interference.h"
#include "passes/solver/Coarsen.h"
#include "passes/solver/CommonPlanner.h"
#include "passes/solver/FinishTimes.h"
#include "passes/solver/Gathering.h"
#include "passes/solver/Inflation.h"
#include "passes/solver/PlannerRows.h"
#include "passes/solver/Replay.h"
#include "passes/solver/SchemePlanners.h"
#include "syncline/ByteSize.h"
#include "syncline/PlanConstants.h"
#include "syncline/Suggestion.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>

namespace syncline::solver {

namespace {

using PlannerRef = std::shared_ptr<const Planner>;

/// Stands for the planner that asks Z3, where that one is not at hand.
Result<std::vector<Choice>> chooseByZ3(const Problem &) {
  return Status::badInput("plans only in 'syncline compile'");
}

const std::vector<PlannerRow> &planners() {
  static const std::vector<PlannerRow> table = [] {
    std::vector<PlannerRow> rows = {
        {{"optimal", "schemes and buckets together so that the step finishes first, proven"},
         always(Search{})},
    };
    for (const auto rowsOfFile : {groupingPlanners, schemePlanners, orderingPlanners})
      std::ranges::move(rowsOfFile(), std::back_inserter(rows));
    rows.push_back(
        {{"z3:messages=N", "the first to finish of all plans with at most N messages, by Z3; for "
                           "small models, within 60 s"},
         always(MergeRule(chooseByZ3))});
    return rows;
  }();
  return table;
}

std::string knownForms() {
  std::string list;
  for (const PlannerRow &entry : planners())
    list += (list.empty() ? "" : ", ") + std::string(entry.usage.form);
  return list;
}

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

/// A hint at the form with a similar name, or else at all forms.
std::string hintAt(std::string_view name) {
  std::vector<std::string_view> names;
  for (const PlannerRow &entry : planners())
    names.push_back(entry.name());
  const std::string_view meant = nearestName(name, names);
  const auto entry = std::ranges::find(planners(), meant, &PlannerRow::name);
  return entry == planners().end() ? ", expected one of " + knownForms()
                                   : ", did you mean " + quoted(entry->usage.form) + "?";
}

Status usageError(std::string message) {
  return Status::error(ErrorKind::badUsage, std::move(message));
}

/// The number that is all of `text`, from 1 on; 0 if there is none.
template <typename Number> Number positiveNumber(std::string_view text) {
  Number number = 0;
  const char *end = text.data() + text.size();
  const auto [ptr, error] = std::from_chars(text.data(), end, number);
  return ptr == end && error == std::errc() && number > 0 ? number : 0;
}

/// Parses "z3:messages=N", given what stands behind "z3".
Result<PlannerRef> parseLimited(std::string_view text, std::string_view argument,
                                const PlannerRow &entry) {
  constexpr std::string_view key = ":messages=";
  const auto limit =
      argument.starts_with(key) ? positiveNumber<std::size_t>(argument.substr(key.size())) : 0;
  if (limit == 0)
    return usageError("planner " + quoted(text) +
                      ": expected 'z3:messages=N' with N of at least 1, as in 'z3:messages=4'");
  return std::make_shared<const Planner>(std::string(text), entry.method(0), limit);
}

constexpr std::string_view inflatedPrefix = "inflated:", wholeEnding = ":whole";

/// f of merging alone; empty where the problem is not plain.
std::vector<double> plainFinishTimes(const Problem &problem) {
  const std::optional<MergeProblem> plain = plainProblem(problem);
  return plain ? earliestFinishTimes(*plain) : std::vector<double>();
}

/// What a plain problem's recursion gives: few messages among the plans that finish first. Nothing
/// for other problems.
Result<std::optional<PlanResult>> merged(const Problem &problem) {
  std::vector<double> finish = plainFinishTimes(problem);
  if (finish.empty())
    return std::optional<PlanResult>();
  SYNCLINE_TRY_GET(choices, choicesInFirstMergeClass(problem, [&](const MergeProblem &plain) {
                     return coarsestGroups(plain, finish);
                   }));
  PlanResult result{replay(problem, *choices), MergeCertificate{std::move(finish)}};
  result.bound = boundOf(problem, result.proof);
  return std::optional(std::move(result));
}

/// What the search finds: no plan that ends later than the one for messages that slow nothing.
SolverResult solveBeside(const Problem &problem, const SolverOptions &options) {
  if (!slowsComputation(problem))
    return solve(problem, options);
  const Problem free = withoutLosses(problem);
  const Result<std::optional<PlanResult>> plain = merged(free);
  const Solution forgets = plain && *plain ? (*plain)->plan : solve(free, options).plan;
  const Solution known = replay(problem, choicesOf(free, forgets));
  return solve(problem, options, &known);
}

/// A solution with a proof of how early any could end.
PlanResult proved(const Problem &problem, Solution plan, const SolverOptions &options) {
  if (tellsClasses(problem))
    return proved(withLeastLosses(problem), std::move(plan), options);
  PlanResult result;
  result.plan = std::move(plan);
  if (std::vector<double> finish = plainFinishTimes(problem); !finish.empty())
    result.proof = MergeCertificate{std::move(finish)};
  else
    result.proof = solveBeside(problem, options).certificate;
  result.bound = boundOf(problem, result.proof);
  return result;
}

/// What "optimal" gives: for a plain problem few messages among the plans that finish first, for
/// others what the search finds, or a rule's solution where that is better.
Result<PlanResult> searched(const Problem &problem, const SolverOptions &options) {
  Result<std::optional<PlanResult>> plain = merged(problem);
  if (!plain)
    return plain.status();
  if (*plain)
    return std::move(**plain);
  SolverResult best = solveBeside(problem, options);
  if (std::optional<Solution> ruled = best.optimal() ? std::nullopt : bestRuledSolution(problem);
      ruled && ruled->finish < best.plan.finish)
    best.plan = std::move(*ruled);
  const double bound = best.bound();
  return PlanResult{std::move(best.plan), std::move(best.certificate), bound};
}

/// What the search gives where all messages take longer, with all plans' bound.
Result<PlanResult> searchedInflated(const Problem &problem, double inflation,
                                    const SolverOptions &options) {
  SYNCLINE_TRY_GET(result, searched(inflated(problem, inflation), options));
  return proved(problem, replay(problem, choicesOf(problem, result->plan)), options);
}

/// What the search gives where messages by factors and rows are dearer, with all plans' bound.
Result<PlanResult> searched(const Problem &problem, const Search &search,
                            const SolverOptions &options) {
  if (search.inflation > 0)
    return searchedInflated(problem, search.inflation, options);
  if (search.gatherPrice == 1)
    return searched(problem, options);
  const bool gathers = std::ranges::any_of(
      problem.layers, [](const Layer &layer) { return !layer.factorOptions.empty(); });
  SYNCLINE_TRY_GET(priced, search.sumsOnly() ? withoutGathering(problem)
                                             : withDearGathering(problem, search.gatherPrice));
  Result<PlanResult> result = searched(*priced, options);
  if (!result || !gathers)
    return result;
  return proved(problem, replay(problem, choicesOf(problem, result->plan)), options);
}

Result<PlanResult> ruled(const Problem &problem, const MergeRule &rule,
                         const SolverOptions &options) {
  SYNCLINE_TRY_GET(choices, rule(problem));
  return proved(problem, replay(problem, *choices), options);
}

} // namespace

Result<PlanResult> Planner::plan(const Problem &problem, const SolverOptions &options) const {
  Result<PlanResult> result = Status::badInput("orders messages under the next forward pass: "
                                               "expected '--overlap step'");
  if (const auto *rule = std::get_if<MergeRule>(&method))
    result = ruled(problem, *rule, options);
  else if (search())
    result = searched(problem, *search(), options);
  if (result)
    return result;
  return Status::error(result.status().kind(),
                       "planner " + quoted(name()) + ": " + result.status().message());
}

bool Planner::plansAnew() const { return !limit && name() != commonName; }

std::optional<Solution> bestRuledSolution(const Problem &problem, std::size_t maxMessages) {
  std::optional<Solution> best;
  for (const PlannerRow &entry : planners()) {
    const Planner::Method method = entry.method(1);
    const auto *rule = std::get_if<MergeRule>(&method);
    if (!rule || entry.name() != entry.usage.form)
      continue;
    const Result<std::vector<Choice>> choices = (*rule)(problem);
    if (!choices)
      continue;
    Solution plan = replay(problem, *choices);
    if (plan.messages.size() <= maxMessages && (!best || plan.finish < best->finish))
      best = std::move(plan);
  }
  return best;
}

std::vector<PlannerUsage> plannerUsages() {
  std::vector<PlannerUsage> usages;
  for (const PlannerRow &entry : planners())
    usages.push_back(entry.usage);
  return usages;
}

Result<PlannerRef> parsePlanner(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const auto entry = std::ranges::find(planners(), name, &PlannerRow::name);
  if (entry == planners().end())
    return usageError("unknown planner " + quoted(text) + hintAt(name));
  if (name == "z3")
    return parseLimited(text, text.substr(name.size()), *entry);

  const bool hasSize = colon != std::string_view::npos;
  if (entry->usage.form == name) {
    if (hasSize)
      return usageError("planner " + quoted(name) + " takes no size, got " + quoted(text));
    return std::make_shared<const Planner>(std::string(text), entry->method(0));
  }
  if (!hasSize)
    return usageError("planner " + quoted(name) + " needs a size, as in '" + std::string(name) +
                      ":25MiB'");
  const std::string_view sizeText = text.substr(colon + 1);
  const std::optional<std::int64_t> size = parseByteSize(sizeText);
  if (size.value_or(0) == 0)
    return usageError("planner " + quoted(text) + ": expected a positive size with a unit (" +
                      std::string(byteSizeUnits) + "), got " + quoted(sizeText));
  return std::make_shared<const Planner>(std::string(text), entry->method(*size));
}

PlannerRef sumsPlanner() {
  return std::make_shared<const Planner>("sums", Search{std::numeric_limits<double>::infinity()});
}

PlannerRef microBatchesPlanner(std::int64_t microBatches) {
  return std::make_shared<const Planner>("micro-batches:" + std::to_string(microBatches),
                                         Search{static_cast<double>(microBatches)});
}

PlannerRef inflatedPlanner(int percent, bool inHalves) {
  return std::make_shared<const Planner>(
      std::string(inflatedPrefix) + std::to_string(percent) +
          std::string(inHalves ? "" : wholeEnding),
      Search{.inflation = static_cast<double>(percent) / 100, .inHalves = inHalves});
}

/// The planner "inflated:P" or "inflated:P:whole"; null for another name.
static PlannerRef parseInflated(std::string_view name) {
  if (!name.starts_with(inflatedPrefix))
    return nullptr;
  std::string_view number = name.substr(inflatedPrefix.size());
  const bool inHalves = !number.ends_with(wholeEnding);
  if (!inHalves)
    number.remove_suffix(wholeEnding.size());
  const auto percent = number == "0" ? 0 : positiveNumber<int>(number);
  const bool isNumber = number == "0" || percent > 0;
  const PlannerRef planner =
      isNumber && percent <= mostInflation ? inflatedPlanner(percent, inHalves) : nullptr;
  return planner && planner->name() == name && !planner->isOptimal() ? planner : nullptr;
}

Result<PlannerRef> plannerOfPlan(std::string_view name) {
  constexpr std::string_view microBatches = "micro-batches:";
  if (PlannerRef inflated = parseInflated(name))
    return inflated;
  if (name == "sums")
    return sumsPlanner();
  if (name == commonName)
    return commonPlannerOfPlan();
  if (const auto count = name.starts_with(microBatches)
                             ? positiveNumber<std::int64_t>(name.substr(microBatches.size()))
                             : 0;
      count > 0 && count <= mostMicroBatches)
    return microBatchesPlanner(count);
  return parsePlanner(name);
}

} // namespace syncline::solver
