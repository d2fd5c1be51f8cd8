// A trace of torch.profiler, or of a run, as a profile.
#pragma once

#include "frontend/files/ChromeTrace.h"
#include "frontend/files/Profile.h"

#include <map>
#include <string>
#include <variant>
#include <vector>

namespace syncline::profile {

/// Maps names of events to nodes of the model. All events of one name belong to one node, or the
/// 1st, 2nd, ... of every step belong to the nodes of a list.
struct EventMap {
  std::string name;
  std::optional<std::int64_t> batch;
  std::map<std::string, std::variant<std::string, std::vector<std::string>>> operations;
};

/// {"schema": 1, "name"?, "batch"?, "operations": {EVENT: NODE or [NODE, ...]}}. Errors: badInput,
/// naming file and key.
Result<EventMap> parseEventMap(std::string_view text, std::string_view fileName);

/// A profile and how much of the trace it covers; times in seconds.
struct ImportedProfile {
  files::Profile profile;
  std::size_t steps = 0;
  bool isMarked = true; ///< whether the trace says where its steps begin and end
  double step = 0;      ///< median step
  double mapped = 0;   ///< seconds of a step in events that the map names, or that follow from them
  std::string leftOut; ///< which of the trace's events are broken; empty where none is
};

/// Times by node, medians over the trace's steps ("ProfilerStep#"; the whole trace where there are
/// none, which isMarked tells). An event in the autograd engine
/// ("autograd::engine::evaluate_function: ...", or inside one) belongs to the node's backward, any
/// other to its forward. A mapped forward event brings its backward along where the trace has
/// sequence numbers: what the engine evaluates for the last operation with the number inside the
/// event. Times are those of the kernels that an event launched, where the trace has kernels, else
/// the event's own. In a list only events outside of engine and optimizer count, unless the name is
/// the engine's. Errors: badInput, naming the file and the event of which a step has another number
/// than the map, or that no step has.
Result<ImportedProfile> importEvents(const files::ChromeTrace &trace, const EventMap &map,
                                     const std::string &fileName);

/// Times by node from a trace that `syncline run` wrote, as medians over the steps of all ranks.
/// They contain what messages beside the operations cost. Reconstruction from factors counts with
/// one rank's share. Errors: badInput for a trace without steps, and for a simulated one.
Result<ImportedProfile> importRun(const files::ChromeTrace &trace, const std::string &fileName);

/// Imports a trace of either kind; `map` is empty for a trace of `syncline run`. Errors: badUsage
/// where a map is missing or not needed.
Result<ImportedProfile> importTrace(const std::string &trace, const std::string &map);

/// A text for people: how many steps and nodes, and which part of a step the nodes are.
std::string importSummary(const ImportedProfile &imported);

} // namespace syncline::profile
