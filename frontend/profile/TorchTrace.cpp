// Maps events to nodes: by name and order, backward by sequence number, kernels by external id.
#include "frontend/profile/TorchTrace.h"

#include "frontend/files/FormatUnits.h"
#include "frontend/files/TextFile.h"
#include "frontend/files/Units.h"
#include "frontend/report/PlanText.h"
#include "runtime/core/Statistics.h"
#include "syncline/JsonDepth.h"
#include "syncline/Suggestion.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <set>

namespace syncline::profile {
namespace {

using files::TraceEvent;
using Events = std::vector<const TraceEvent *>; ///< by beginning

constexpr std::string_view engineText = "autograd::engine::evaluate_function",
                           stepName = "ProfilerStep#", optimizer = "Optimizer.";

/// Said of a trace in which steps are not marked.
const std::string unmarked = "the trace has no events 'ProfilerStep#' and counts as one step: "
                             "'torch.profiler.profile' with a 'schedule' marks steps";

bool isEngine(const TraceEvent &event) { return event.name.starts_with(engineText); }

bool isKernel(const TraceEvent &event) {
  return event.category == "kernel" || event.category == "gpu_memcpy" ||
         event.category == "gpu_memset";
}

bool contains(const TraceEvent &outer, const TraceEvent &inner) {
  return outer.thread == inner.thread && outer.process == inner.process &&
         outer.begin <= inner.begin && inner.end() <= outer.end() + 1e-9;
}

struct NodeTimes {
  double forward = 0, backward = 0;
  bool hasBackward = false;
};

/// One step's events.
class StepImport {
public:
  StepImport(const Events &events, const Events &kernels) : events(events) {
    for (const TraceEvent *event : events)
      if (isEngine(*event) || event->name.starts_with(optimizer))
        inner.push_back(event);
    for (const TraceEvent *kernel : kernels)
      if (kernel->external)
        kernelSeconds[*kernel->external] += kernel->seconds;
    byKernels = !kernels.empty();
    // Later events overwrite earlier ones: the engine evaluates the last operation with a number.
    for (const TraceEvent *event : events)
      if (event->sequence && !isEngine(*event) && !insideEngine(*event))
        creators[*event->sequence] = event;
  }

  /// Maps the step's events. Returns what is wrong, empty for nothing.
  std::string map(const EventMap &map) {
    for (const auto &[name, nodes] : map.operations) {
      const Events found = eventsOf(name);
      if (!found.empty())
        seen.insert(name);
      const auto *list = std::get_if<std::vector<std::string>>(&nodes);
      if (list && list->size() != found.size())
        return "a step has " + std::to_string(found.size()) + " events '" + name +
               "', expected the " + std::to_string(list->size()) + " of the map";
      for (std::size_t i = 0; i < found.size(); ++i)
        add(*found[i], list ? (*list)[i] : std::get<std::string>(nodes));
    }
    return {};
  }

  std::map<std::string, NodeTimes> nodes;
  std::set<std::string> seen; ///< events of the map that the step has

private:
  bool insideEngine(const TraceEvent &event) const {
    return std::ranges::any_of(
        inner, [&](const TraceEvent *outer) { return outer != &event && contains(*outer, event); });
  }

  Events eventsOf(const std::string &name) const {
    Events found;
    for (const TraceEvent *event : events)
      if (event->name == name && (isEngine(*event) || !insideEngine(*event)))
        found.push_back(event);
    return found;
  }

  /// Seconds of the event itself, or of the kernels that it and the events inside it launched.
  double secondsOf(const TraceEvent &event) const {
    if (!byKernels)
      return event.seconds;
    std::set<std::int64_t> launchers;
    for (const TraceEvent *other : events)
      if (other->external && contains(event, *other))
        launchers.insert(*other->external);
    double seconds = 0;
    for (const std::int64_t id : launchers)
      if (const auto found = kernelSeconds.find(id); found != kernelSeconds.end())
        seconds += found->second;
    return seconds;
  }

  void add(const TraceEvent &event, const std::string &name) {
    NodeTimes &node = nodes[name];
    if (isEngine(event)) {
      if (taken.insert(&event).second)
        addBackward(event, node);
      return;
    }
    node.forward += secondsOf(event);
    std::set<std::int64_t> numbers;
    for (const auto &[number, creator] : creators)
      if (contains(event, *creator))
        numbers.insert(number);
    for (const TraceEvent *other : inner)
      if (isEngine(*other) && other->sequence && numbers.contains(*other->sequence) &&
          taken.insert(other).second)
        addBackward(*other, node);
  }

  void addBackward(const TraceEvent &event, NodeTimes &node) const {
    node.hasBackward = true;
    node.backward += secondsOf(event);
  }

  const Events &events;
  Events inner; ///< events of the engine and the optimizer
  std::map<std::int64_t, double> kernelSeconds;
  std::map<std::int64_t, const TraceEvent *> creators; ///< by sequence number
  std::set<const TraceEvent *> taken; ///< events of the engine that a node has already
  bool byKernels = false;
};

/// Begin and end of each step that the profiler has marked.
std::vector<std::pair<double, double>> markedSteps(const files::ChromeTrace &trace) {
  std::vector<std::pair<double, double>> steps;
  for (const TraceEvent &event : trace.events)
    if (event.name.starts_with(stepName) && event.category != "gpu_user_annotation")
      steps.push_back({event.begin, event.end()});
  return steps;
}

std::pair<double, double> wholeOf(const files::ChromeTrace &trace) {
  double begin = std::numeric_limits<double>::infinity(), end = -begin;
  for (const TraceEvent &event : trace.events) {
    begin = std::min(begin, event.begin);
    end = std::max(end, event.end());
  }
  return {begin, end};
}

void fill(ImportedProfile &imported, const std::vector<std::map<std::string, NodeTimes>> &steps) {
  std::set<std::string> names;
  for (const auto &step : steps)
    for (const auto &[name, node] : step)
      names.insert(name);
  for (const std::string &name : names) {
    std::vector<double> forward, backward;
    bool hasBackward = false;
    for (const auto &step : steps) {
      const auto found = step.find(name);
      const NodeTimes node = found == step.end() ? NodeTimes() : found->second;
      forward.push_back(node.forward);
      backward.push_back(node.backward);
      hasBackward |= node.hasBackward;
    }
    files::OperationTimes &times = imported.profile.operations[name];
    times.forward = core::median(forward);
    imported.mapped += times.forward;
    if (hasBackward) {
      times.backward = core::median(backward);
      imported.mapped += *times.backward;
    }
  }
}

decltype(EventMap::operations) operationsFrom(const nlohmann::json &json) {
  const std::string expected =
      "'operations': expected an object of node names, or lists of them, by event, got ";
  const auto found = json.find("operations");
  if (found == json.end())
    throw report::SchemaError{expected + "none"};
  if (!found->is_object())
    throw report::SchemaError{expected + found->type_name()};
  decltype(EventMap::operations) operations;
  for (const auto &[event, nodes] : found->items()) {
    const bool isList =
        nodes.is_array() && std::ranges::all_of(nodes, [](auto &n) { return n.is_string(); });
    if (!nodes.is_string() && !isList)
      throw report::SchemaError{expected +
                                (nodes.is_array() ? "a list of others" : nodes.type_name()) +
                                " of '" + event.substr(0, 60) + "'"};
    if (isList)
      operations[event] = nodes.get<std::vector<std::string>>();
    else
      operations[event] = nodes.get<std::string>();
  }
  return operations;
}

EventMap mapFrom(const nlohmann::json &json) {
  EventMap map;
  if (!json.is_object() || !json.contains("schema") || json["schema"] != 1)
    throw report::SchemaError{"expected \"schema\": 1"};
  for (const auto &[key, value] : json.items()) {
    constexpr std::string_view known[] = {"schema", "name", "batch", "operations"};
    if (std::ranges::find(known, key) == std::end(known))
      throw report::SchemaError{"unknown key '" + key + "'" + suggestion(key, known)};
  }
  if (json.contains("name")) {
    if (!json["name"].is_string())
      throw report::SchemaError{"'name': expected a text, got " +
                                std::string(json["name"].type_name())};
    map.name = json["name"].get<std::string>();
  }
  if (json.contains("batch")) {
    Result<std::int64_t> batch =
        files::parseCount(json["batch"].dump(), "samples per rank", std::int64_t{1} << 31);
    if (!batch)
      throw report::SchemaError{"'batch': " + batch.status().message()};
    map.batch = *batch;
  }
  map.operations = operationsFrom(json);
  return map;
}

} // namespace

Result<EventMap> parseEventMap(std::string_view text, std::string_view fileName) {
  constexpr int maxLevels = 8;
  SYNCLINE_TRY(checkJsonDepth(text, fileName, maxLevels));
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded())
    return Status::badInput(std::string(fileName) + ": not valid JSON");
  try {
    return mapFrom(json);
  } catch (const report::SchemaError &bad) {
    return Status::badInput(std::string(fileName) + ": " + bad.message);
  }
}

Result<ImportedProfile> importEvents(const files::ChromeTrace &trace, const EventMap &map,
                                     const std::string &fileName) {
  ImportedProfile imported;
  imported.profile.name = map.name;
  imported.profile.batch = map.batch;
  std::vector<std::map<std::string, NodeTimes>> all;
  std::vector<double> lengths;
  std::set<std::string> seen;
  std::vector<std::pair<double, double>> steps = markedSteps(trace);
  imported.isMarked = !steps.empty();
  if (steps.empty())
    steps.push_back(wholeOf(trace));
  for (const auto &[begin, end] : steps) {
    Events events, kernels;
    std::set<std::int64_t> launched;
    for (const TraceEvent &event : trace.events)
      if (event.begin >= begin && event.begin < end && !isKernel(event)) {
        events.push_back(&event);
        launched.insert(event.external.value_or(-1));
      }
    for (const TraceEvent &event : trace.events) // kernels may run after the step
      if (isKernel(event) && event.external && launched.contains(*event.external))
        kernels.push_back(&event);
    StepImport step(events, kernels);
    if (const std::string wrong = step.map(map); !wrong.empty())
      return Status::badInput(fileName + ": " + wrong + (imported.isMarked ? "" : "; " + unmarked));
    all.push_back(std::move(step.nodes));
    seen.merge(step.seen);
    lengths.push_back(end - begin);
  }
  for (const auto &[name, nodes] : map.operations)
    if (!seen.contains(name))
      return Status::badInput(fileName + ": no step has an event '" + name +
                              "', which the map names");
  imported.steps = all.size();
  imported.step = core::median(lengths);
  fill(imported, all);
  if (imported.profile.operations.empty())
    return Status::badInput(fileName + ": the map names no events");
  return imported;
}

static Result<ImportedProfile> importRead(const files::ChromeTrace &read, const std::string &trace,
                                          const std::string &map) {
  const bool isRun = read.schema == "syncline-trace";
  if (isRun != map.empty())
    return Status::error(ErrorKind::badUsage,
                         isRun ? "--map is for traces of torch.profiler; '" + trace +
                                     "' is of a run and names its nodes"
                               : "--map: expected which events of '" + trace + "' are which nodes");
  if (isRun)
    return importRun(read, trace);
  constexpr std::size_t maxBytes = 64u << 20;
  SYNCLINE_TRY_GET(text, files::readTextFile(map, maxBytes));
  Result<EventMap> events = parseEventMap(*text, map);
  return events ? importEvents(read, *events, trace) : Result<ImportedProfile>(events.status());
}

Result<ImportedProfile> importTrace(const std::string &trace, const std::string &map) {
  SYNCLINE_TRY_GET(read, files::readChromeTrace(trace));
  Result<ImportedProfile> imported = importRead(*read, trace, map);
  if (imported)
    imported->leftOut = read->leftOut;
  return imported;
}

std::string importSummary(const ImportedProfile &imported) {
  using files::counted, files::formatSeconds;
  const std::size_t nodes = imported.profile.operations.size();
  return (imported.leftOut.empty() ? "" : "note: " + imported.leftOut + "\n") +
         (imported.isMarked ? "" : "note: " + unmarked + "\n") + counted(imported.steps, "step") +
         " of " + formatSeconds(imported.step) + ": " + counted(nodes, "node") +
         (nodes == 1 ? " takes " : " take ") + formatSeconds(imported.mapped) + ", " +
         report::percent(imported.step > 0 ? imported.mapped / imported.step : 0) + " of one\n";
}

} // namespace syncline::profile
