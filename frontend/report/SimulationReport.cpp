// A simulation's results as text and as JSON.
#include "frontend/report/SimulationReport.h"

#include "frontend/files/FormatUnits.h"
#include "frontend/report/PlanText.h"
#include "frontend/report/SimulationTrace.h"
#include "frontend/report/Table.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace syncline::report {

using namespace simulate;
using files::formatSeconds;

namespace {

/// All resources of one kind.
struct Kind {
  std::string name;
  const ResourceUse *busiest = nullptr;
  double busy = 0, bytes = 0, capacity = 0; ///< sums
  int count = 0;
};

std::vector<Kind> kindsOf(const Simulation &simulation) {
  std::vector<Kind> kinds;
  for (const ResourceUse &use : simulation.resources) {
    auto kind = std::ranges::find(kinds, use.kind, &Kind::name);
    if (kind == kinds.end())
      kind = kinds.insert(kinds.end(), {use.kind});
    if (!kind->busiest || use.busy > kind->busiest->busy)
      kind->busiest = &use;
    kind->busy += use.busy;
    kind->bytes += use.bytes;
    kind->capacity += use.capacity;
    ++kind->count;
  }
  return kinds;
}

/// The share of the bytes that a link could have carried; of the time, for streams and channels.
double utilisation(double busy, double bytes, double capacity, int count, double seconds) {
  const double most = (capacity > 0 ? capacity : count) * seconds;
  return most > 0 ? (capacity > 0 ? bytes : busy) / most : 0;
}

/// What the table's columns mean.
constexpr const char *resourceMeaning =
    "busy: the time in which it computes or carries a message, and its share of the step; of "
    "capacity: what a link carries\nof what it could in that step, less where another link of the "
    "way is slower; on average: all of the kind, links of\ntheir capacity, others of the step\n";

std::string resourceTable(const Simulation &simulation) {
  const double total = simulation.stepEnd(simulation.steps - 1);
  Table table({{"resource"},
               {"busiest"},
               {"busy a step", Align::right},
               {"", Align::right},
               {"carries a step", Align::right},
               {"of capacity", Align::right},
               {"on average", Align::right}});
  for (const Kind &kind : kindsOf(simulation)) {
    const ResourceUse &most = *kind.busiest;
    const bool isLink = most.capacity > 0;
    table.addRow({kind.name, most.place, formatSeconds(most.busy / simulation.steps),
                  percent(total > 0 ? most.busy / total : 0),
                  isLink ? formatTraffic(most.bytes / simulation.steps) : "",
                  isLink ? percent(utilisation(0, most.bytes, most.capacity, 1, total)) : "",
                  percent(utilisation(kind.busy, kind.bytes, kind.capacity, kind.count, total))});
  }
  return table.toString() + resourceMeaning;
}

std::string kindName(CriticalPart::Kind kind) {
  switch (kind) {
  case CriticalPart::Kind::compute:
    return "compute";
  case CriticalPart::Kind::square:
    return "square";
  case CriticalPart::Kind::update:
    return "update";
  case CriticalPart::Kind::message:
    return "message";
  }
  return {};
}

/// Whether one row shows both neighbours.
bool belongTogether(const CriticalPart &a, const CriticalPart &b) {
  return a.kind == b.kind && a.kind != CriticalPart::Kind::message && a.phase == b.phase &&
         a.rank == b.rank && a.step == b.step;
}

std::string pathTable(const std::vector<CriticalPart> &path, const Simulation &simulation) {
  Table table({{"critical path"},
               {"step", Align::right},
               {"rank", Align::right},
               {"from", Align::right},
               {"to", Align::right},
               {"takes", Align::right},
               {"what"}});
  for (std::size_t i = 0, end = 0; i < path.size(); i = end) {
    for (end = i + 1; end < path.size() && belongTogether(path[i], path[end]);)
      ++end;
    const CriticalPart &first = path[i], &last = path[end - 1];
    const std::string what = first.kind == CriticalPart::Kind::message  ? "message"
                             : first.kind == CriticalPart::Kind::square ? "squares"
                             : first.kind == CriticalPart::Kind::update ? "updates"
                                                                        : phaseName(first.phase);
    table.addRow(
        {what, std::to_string(first.step), simulation.isFolded ? "all" : std::to_string(first.rank),
         formatSeconds(first.start), formatSeconds(last.end), formatSeconds(last.end - first.start),
         rangeSummary(printable(first.name), printable(last.name), end - i)});
  }
  return table.toString();
}

std::string heading(const Scenario &scenario, const Simulation &simulation,
                    const SimulationContext &context) {
  std::string text = "plan " + printable(context.plan) + " on " + printable(context.cluster) +
                     ", " + std::to_string(scenario.machines.ranks) + " ranks";
  if (context.microBatches > 1)
    text += ", steps of " + std::to_string(context.microBatches) + " micro-batches";
  if (simulation.isFolded && scenario.machines.ranks > 1)
    text += ", all alike: one is simulated";
  if (simulation.counted() > 1)
    text += ", mean of " + std::to_string(simulation.counted()) + " steps";
  return text + "\n\n";
}

Throughput throughputOf(const Scenario &scenario, const Simulation &simulation,
                        const SimulationContext &context) {
  return {scenario.machines.ranks,
          static_cast<double>(context.samples.value_or(0) * context.microBatches),
          simulation.stepSeconds(), context.alone};
}

std::string totals(const Scenario &scenario, const Simulation &simulation,
                   const SimulationContext &context) {
  const double step = simulation.stepSeconds(), exposed = simulation.exposed(scenario);
  std::string text = "step " + formatSeconds(step, 4) + ", exposed communication " +
                     formatSeconds(exposed) + " (" + percent(step > 0 ? exposed / step : 0) +
                     "), communication of the first step ends at " +
                     formatSeconds(simulation.communicationEnd(0)) + "\n";
  if (const std::string rate = throughputText(throughputOf(scenario, simulation, context));
      !rate.empty())
    text += rate + "\n";
  if (context.stragglers)
    text += stragglersText(*context.stragglers, scenario.machines.ranks, context.samples,
                           context.microBatches);
  if (context.lateRanks)
    text += lateRanksText(*context.lateRanks);
  if (!context.isElsewhere)
    text += "the plan's prediction: step " + formatSeconds(context.predicted, 4) + "\n";
  const auto whole = std::ranges::count(simulation.isWhole, true);
  if (whole > 0)
    text += std::to_string(whole) +
            " messages would be too long to simulate round by round and take the time that "
            "planners give them\n";
  return text + context.provenance +
         "exposed: the rank that waits least waits so long for messages\n\n";
}

nlohmann::json messagesJson(const Scenario &scenario, const Simulation &simulation) {
  nlohmann::json messages = nlohmann::json::array();
  for (std::size_t i = 0; i < scenario.messages.size(); ++i) {
    const Message &message = scenario.messages[i];
    double issued = 0, start = 0, end = 0;
    for (int rank = 0; rank < simulation.ranks; ++rank) {
      const MessageSpan &span = simulation.message(0, rank, i);
      issued = rank == 0 ? span.issued : std::min(issued, span.issued);
      start = rank == 0 ? span.start : std::min(start, span.start);
      end = std::max(end, span.end);
    }
    messages.push_back({{"name", message.name},
                        {"scheme", schemeName(message.scheme)},
                        {"bytes", message.bytes},
                        {"channel", message.channel},
                        {"in_last_micro_batch", message.inLastMicroBatch < 0
                                                    ? nlohmann::json()
                                                    : nlohmann::json(message.inLastMicroBatch)},
                        {"issued", issued},
                        {"start", start},
                        {"end", end},
                        {"by_cost", message.isStated || simulation.isWhole[i]}});
  }
  return messages;
}

} // namespace

std::string simulationReport(const Scenario &scenario, const Simulation &simulation,
                             const SimulationContext &context) {
  return heading(scenario, simulation, context) + totals(scenario, simulation, context) +
         resourceTable(simulation) + "\n" +
         pathTable(criticalPath(scenario, simulation), simulation);
}

nlohmann::json simulationJson(const Scenario &scenario, const Simulation &simulation,
                              const SimulationContext &context) {
  const double total = simulation.stepEnd(simulation.steps - 1);
  nlohmann::json resources = nlohmann::json::array(), path = nlohmann::json::array();
  for (const ResourceUse &use : simulation.resources)
    resources.push_back(
        {{"kind", use.kind},
         {"place", use.place},
         {"busy", use.busy},
         {"bytes", use.bytes},
         {"busy_share", total > 0 ? use.busy / total : 0},
         {"utilisation", utilisation(use.busy, use.bytes, use.capacity, 1, total)}});
  for (const CriticalPart &part : criticalPath(scenario, simulation))
    path.push_back({{"kind", kindName(part.kind)},
                    {"phase", phaseName(part.phase)},
                    {"name", part.name},
                    {"step", part.step},
                    {"rank", part.rank},
                    {"start", part.start},
                    {"end", part.end}});
  const Throughput rate = throughputOf(scenario, simulation, context);
  auto known = [](double value) { return value > 0 ? nlohmann::json(value) : nlohmann::json(); };
  return {{"schema", "syncline-simulation"},
          {"version", 2},
          {"plan", context.hash},
          {"cluster", context.cluster},
          {"ranks", scenario.machines.ranks},
          {"folded", simulation.isFolded},
          {"steps", simulation.steps},
          {"micro_batches", context.microBatches},
          {"step", simulation.stepSeconds()},
          {"exposed", simulation.exposed(scenario)},
          {"alone", known(context.alone)},
          {"samples_per_second", known(rate.samplesPerSecond())},
          {"efficiency", known(rate.efficiency())},
          {"stragglers", stragglersJson(context.stragglers)},
          {"late_ranks", context.lateRanks ? lateRanksJson(*context.lateRanks) : nlohmann::json()},
          {"communication_end", simulation.communicationEnd(0)},
          {"predicted_step",
           context.isElsewhere ? nlohmann::json() : nlohmann::json(context.predicted)},
          {"messages", messagesJson(scenario, simulation)},
          {"resources", std::move(resources)},
          {"critical_path", std::move(path)}};
}

} // namespace syncline::report
