// The registry of planners: one table of names, and the parsing of "NAME" and "NAME:SIZE".
#include "passes/solver/Planner.h"

#include "passes/solver/Coarsen.h"
#include "passes/solver/ComparisonPlanners.h"
#include "passes/solver/FinishTimes.h"
#include "passes/solver/Gathering.h"
#include "passes/solver/OrderRivals.h"
#include "passes/solver/Replay.h"
#include "passes/solver/SchemePlanners.h"
#include "syncline/ByteSize.h"
#include "syncline/PlanConstants.h"
#include "syncline/Suggestion.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <optional>

namespace syncline::solver {

namespace {

using Choices = Result<std::vector<Choice>>;
/// A rule makes the choices for a problem; it is given f where the problem is plain.
using Rule = std::function<Choices(const Problem &, std::span<const double>)>;

class RulePlanner final : public Planner {
public:
  RulePlanner(std::string name, Rule rule) : Planner(std::move(name)), rule(std::move(rule)) {}

private:
  Choices choose(const Problem &problem, std::span<const double> earliestFinish) const override {
    return rule(problem, earliestFinish);
  }

  Rule rule;
};

/// Our own planner on a problem with other prices, of which Planner::plan() knows.
class PricedPlanner final : public Planner {
public:
  PricedPlanner(std::string name, double price) : Planner(std::move(name), std::nullopt, price) {}

private:
  Choices choose(const Problem &, std::span<const double>) const override {
    return Status::error(ErrorKind::internal, "plans by a search, not by a rule");
  }
};

/// Stands for the planner that asks Z3, where that one is not at hand.
class AbsentPlanner final : public Planner {
public:
  using Planner::Planner;

private:
  Choices choose(const Problem &, std::span<const double>) const override {
    return Status::badInput("plans only in 'syncline compile'");
  }
};

/// Orders messages under the next forward pass, and does nothing else.
class OrderingPlanner final : public Planner {
public:
  OrderingPlanner(std::string name, OrderRule rule)
      : Planner(std::move(name)), rule(std::move(rule)) {}

  const OrderRule *orderRule() const override { return &rule; }

private:
  Choices choose(const Problem &, std::span<const double>) const override {
    return Status::badInput("orders messages under the next forward pass: expected "
                            "'--overlap step'");
  }

  OrderRule rule;
};

/// One line of the registry. Exactly one of the makers is set.
struct Entry {
  std::string_view name;
  Rule plain = {};
  std::function<Rule(std::int64_t)> sized = {};
  OrderRule order = {};
  std::function<OrderRule(std::int64_t)> sizedOrder = {};
};

/// A rule of OrderRivals.h.
template <typename Rival> OrderRule ordering(Rival rival) {
  return [rival](const OrderProblem &problem) -> Result<OrderSolution> {
    if (Status usable = usesFirstClass(problem); !usable)
      return usable;
    return rival(problem);
  };
}

Rule merging(MergeClassGroups groups) {
  return [groups](const Problem &problem, std::span<const double>) {
    return choicesInFirstMergeClass(problem, groups);
  };
}

/// A rule that sends messages as PyTorch DDP and Horovod do. On GPUs they use NCCL, which takes its
/// ring, its tree or another algorithm, whose time only a measurement tells. On CPUs they use Gloo,
/// whose all-reduce is a ring by default, and both keep the default.
Rule mergingBySystem(MergeClassGroups groups) {
  static constexpr auto nccl =
      schemesWhere<[](Scheme scheme) { return isAllReduce(scheme) && isCarried(scheme, true); }>;
  static constexpr Scheme gloo[] = {Scheme::ring};
  return [groups](const Problem &problem, std::span<const double>) {
    return choicesInFirstMergeClass(problem, groups,
                                    problem.onGpus ? std::span<const Scheme>(nccl) : gloo);
  };
}

/// The choices of "optimal" for plain problems; Planner::plan calls solve for others.
Choices optimalChoices(const Problem &problem, std::span<const double> earliestFinish) {
  return choicesInFirstMergeClass(
      problem, [&](const MergeProblem &plain) { return coarsestGroups(plain, earliestFinish); });
}

Rule choosing(Choices (*rule)(const Problem &)) {
  return [rule](const Problem &problem, std::span<const double>) { return rule(problem); };
}

const std::vector<Entry> &registry() {
  static const std::vector<Entry> entries = {
      {"optimal", optimalChoices},
      {"wfbp", merging(layerwiseGroups)},
      {"single", merging(singleGroup)},
      {"mg-wfbp", merging(mgWfbpGroups)},
      {"ddp",
       {},
       [](std::int64_t cap) {
         return mergingBySystem(
             [cap](const MergeProblem &mergeClass) { return ddpGroups(mergeClass, cap); });
       }},
      {"horovod",
       {},
       [](std::int64_t capacity) {
         return mergingBySystem([capacity](const MergeProblem &mergeClass) {
           return horovodGroups(mergeClass, capacity);
         });
       }},
      {"poseidon", choosing(poseidonChoices)},
      {"ps", choosing(serverChoices)},
      {"sfb", choosing(factorChoices)},
      {.name = "p3",
       .sizedOrder =
           [](std::int64_t size) {
             return ordering([size](const OrderProblem &p) { return p3Order(p, size); });
           }},
      {.name = "bytescheduler",
       .sizedOrder =
           [](std::int64_t size) {
             return ordering(
                 [size](const OrderProblem &p) { return byteSchedulerOrder(p, size, size); });
           }},
      {.name = "dear",
       .sizedOrder =
           [](std::int64_t size) {
             return ordering([size](const OrderProblem &p) { return dearOrder(p, size); });
           }},
      {.name = "tictac", .order = ordering(ticTacOrder)},
  };
  return entries;
}

constexpr PlannerUsage usages[] = {
    {"optimal", "schemes and buckets together so that the step finishes first, proven"},
    {"sums", "as optimal, but by sums over the ranks alone, without factors and sparse"},
    {"passes:N", "as optimal, but as if factors and sparse took N times as long"},
    {"wfbp", "every layer alone (wait-free backpropagation)"},
    {"single", "all layers in one message after the backward pass"},
    {"mg-wfbp", "the published merging rule of MG-WFBP"},
    {"ddp:SIZE", "PyTorch DDP's buckets: the first 1 MiB, then SIZE (its default: 25MiB); by ring, "
                 "on GPUs by ring, tree or library, as Gloo and NCCL have"},
    {"horovod:SIZE", "Horovod's fusion buffer of SIZE (its default: 128MiB), cycle 1 ms; by what "
                     "ddp has"},
    {"poseidon", "every layer alone, by factors where they move fewer bytes than servers"},
    {"ps", "every layer alone, through sharded parameter servers"},
    {"sfb", "every layer alone, by sufficient factors wherever a layer can"},
    {"p3:SIZE", "P3's slices of SIZE (its default: 200KB), what the next forward pass reads first "
                "before others; with --overlap step"},
    {"bytescheduler:SIZE",
     "ByteScheduler's partitions of SIZE (its default: 4096KB) through a queue "
     "of SIZE; with --overlap step"},
    {"dear:SIZE", "DeAR's buckets of SIZE: reduce-scatters in the backward pass, then all-gathers, "
                  "what the next forward pass reads first before others; with --overlap step"},
    {"tictac", "whole layers, what the next forward pass reads first before others; with --overlap "
               "step"},
    {"z3:messages=N", "the first to finish of all plans with at most N messages, by Z3; for small "
                      "models, within 60 s"},
};

std::string knownForms() {
  std::string list;
  for (const PlannerUsage &usage : usages)
    list += (list.empty() ? "" : ", ") + std::string(usage.form);
  return list;
}

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

/// A hint at the form with a similar name, or else at all forms.
std::string hintAt(std::string_view name) {
  std::vector<std::string_view> names;
  for (const PlannerUsage &usage : usages)
    names.push_back(usage.form.substr(0, usage.form.find(':')));
  const std::string_view meant = nearestName(name, names);
  for (const PlannerUsage &usage : usages)
    if (!meant.empty() && usage.form.substr(0, usage.form.find(':')) == meant)
      return ", did you mean " + quoted(usage.form) + "?";
  return ", expected one of " + knownForms();
}

Status usageError(std::string message) {
  return Status::error(ErrorKind::badUsage, std::move(message));
}

/// Parses "z3:messages=N", given what stands behind "z3".
Result<std::shared_ptr<const Planner>> parseLimited(std::string_view text,
                                                    std::string_view argument) {
  constexpr std::string_view key = ":messages=";
  std::size_t limit = 0;
  const char *end = argument.data() + argument.size();
  if (!argument.starts_with(key) ||
      std::from_chars(argument.data() + key.size(), end, limit).ptr != end || limit == 0)
    return usageError("planner " + quoted(text) +
                      ": expected 'z3:messages=N' with N of at least 1, as in 'z3:messages=4'");
  return std::shared_ptr<const Planner>(std::make_shared<AbsentPlanner>(std::string(text), limit));
}

/// Parses "passes:N", given what stands behind "passes".
Result<std::shared_ptr<const Planner>> parsePasses(std::string_view text,
                                                   std::string_view argument) {
  std::int64_t passes = 0;
  const char *end = argument.data() + argument.size();
  if (!argument.starts_with(":") || std::from_chars(argument.data() + 1, end, passes).ptr != end ||
      passes < 1 || passes > mostPasses)
    return usageError("planner " + quoted(text) + ": expected 'passes:N' with N from 1 to " +
                      std::to_string(mostPasses) + ", as in 'passes:4'");
  return std::shared_ptr<const Planner>(
      std::make_shared<PricedPlanner>(std::string(text), static_cast<double>(passes)));
}

} // namespace

Result<PlanResult> Planner::plan(const Problem &problem, const SolverOptions &options) const {
  if (price)
    return planPriced(problem, options);
  PlanResult result;
  MergeCertificate certificate;
  if (std::optional<MergeProblem> plain = plainProblem(problem))
    certificate.earliestFinish = earliestFinishTimes(*plain);
  const bool isPlain = !certificate.earliestFinish.empty();
  if (!isPlain && isOptimal()) {
    SolverResult best = solve(problem, options);
    if (std::optional<Solution> ruled = best.optimal() ? std::nullopt : bestRuledSolution(problem);
        ruled && ruled->finish < best.plan.finish)
      best.plan = std::move(*ruled);
    double bound = best.bound();
    return PlanResult{std::move(best.plan), std::move(best.certificate), bound};
  }
  Choices choices = choose(problem, certificate.earliestFinish);
  if (!choices)
    return Status::error(choices.status().kind(),
                         "planner " + quoted(name()) + ": " + choices.status().message());
  result.plan = replay(problem, *choices);
  if (isPlain)
    result.proof = std::move(certificate);
  else
    result.proof = solve(problem, options).certificate;
  result.bound = boundOf(problem, result.proof);
  return result;
}

Result<PlanResult> Planner::planPriced(const Problem &problem, const SolverOptions &options) const {
  const bool gathers = std::ranges::any_of(
      problem.layers, [](const Layer &layer) { return !layer.factorOptions.empty(); });
  const Result<Problem> priced =
      sumsOnly() ? withoutGathering(problem) : withDearGathering(problem, *price);
  if (!priced)
    return Status::error(priced.status().kind(),
                         "planner " + quoted(name()) + ": " + priced.status().message());
  Result<PlanResult> result = (*parsePlanner("optimal"))->plan(*priced, options);
  if (!result || !gathers)
    return result;
  result->plan = replay(problem, choicesOf(problem, result->plan));
  result->proof = solve(problem, options).certificate;
  result->bound = boundOf(problem, result->proof);
  return result;
}

Result<Solution> Planner::follow(const Problem &problem) const {
  Choices choices = choose(problem, {});
  if (!choices)
    return choices.status();
  return replay(problem, *choices);
}

std::optional<Solution> bestRuledSolution(const Problem &problem, std::size_t maxMessages) {
  std::optional<Solution> best;
  for (const Entry &entry : registry()) {
    if (!entry.plain || entry.name == "optimal")
      continue;
    Result<Solution> plan = RulePlanner(std::string(entry.name), entry.plain).follow(problem);
    if (plan && plan->messages.size() <= maxMessages && (!best || plan->finish < best->finish))
      best = std::move(*plan);
  }
  return best;
}

std::span<const PlannerUsage> plannerUsages() { return usages; }

/// A planner of one of the two kinds of rules.
static std::shared_ptr<const Planner> makePlanner(std::string_view name, Rule rule,
                                                  OrderRule order) {
  if (rule)
    return std::make_shared<RulePlanner>(std::string(name), std::move(rule));
  return std::make_shared<OrderingPlanner>(std::string(name), std::move(order));
}

Result<std::shared_ptr<const Planner>> parsePlanner(std::string_view text) {
  std::size_t colon = text.find(':');
  std::string_view name = text.substr(0, colon);
  if (name == "z3")
    return parseLimited(text, text.substr(name.size()));
  if (name == "passes")
    return parsePasses(text, text.substr(name.size()));
  if (text == "sums")
    return std::shared_ptr<const Planner>(std::make_shared<PricedPlanner>(
        std::string(text), std::numeric_limits<double>::infinity()));
  auto entry = std::ranges::find(registry(), name, &Entry::name);
  if (entry == registry().end())
    return usageError("unknown planner " + quoted(text) + hintAt(name));

  bool hasSize = colon != std::string_view::npos;
  if (entry->plain || entry->order) {
    if (hasSize)
      return usageError("planner " + quoted(name) + " takes no size, got " + quoted(text));
    return makePlanner(text, entry->plain, entry->order);
  }
  if (!hasSize)
    return usageError("planner " + quoted(name) + " needs a size, as in '" + std::string(name) +
                      ":25MiB'");
  std::string_view sizeText = text.substr(colon + 1);
  std::optional<std::int64_t> size = parseByteSize(sizeText);
  if (size.value_or(0) == 0)
    return usageError("planner " + quoted(text) + ": expected a positive size with a unit (" +
                      std::string(byteSizeUnits) + "), got " + quoted(sizeText));
  return makePlanner(text, entry->sized ? entry->sized(*size) : Rule(),
                     entry->sized ? OrderRule() : entry->sizedOrder(*size));
}

} // namespace syncline::solver
