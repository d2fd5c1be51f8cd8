// A trace of torch.profiler, or of a run, as a profile.
#pragma once

#include "frontend/files/ChromeTrace.h"
#include "frontend/files/Profile.h"

#include <map>
#include <string>
#include <variant>
#include <vector>

namespace syncline::profile {

/// Which events are which nodes of the model. Events of one name are all of one node, or the 1st,
/// 2nd, ... of every step are those of a list.
struct EventMap {
  std::string name;
  std::optional<std::int64_t> batch;
  std::map<std::string, std::variant<std::string, std::vector<std::string>>> operations;
};

/// {"schema": 1, "name"?, "batch"?, "operations": {EVENT: NODE or [NODE, ...]}}. Errors: badInput,
/// naming file and key.
Result<EventMap> parseEventMap(std::string_view text, std::string_view fileName);

/// Seconds.
struct ImportedProfile {
  files::Profile profile;
  std::size_t steps = 0;
  double step = 0;   ///< median
  double mapped = 0; ///< of it, in events that the map names or that follow from these
};

/// Times by node, medians over the trace's steps ("ProfilerStep#"; the whole trace where there are
/// none). An event in the autograd engine ("autograd::engine::evaluate_function: ...", or inside
/// one) belongs to the node's backward, any other to its forward. A mapped forward event brings its
/// backward along where the trace has sequence numbers: what the engine evaluates for the last
/// operation with the number inside the event. Times are those of the kernels that an event
/// launched, where the trace has kernels, else the event's own. In a list only events outside of
/// engine and optimizer count, unless the name is the engine's. Errors: badInput, naming the file
/// and the event of which a step has another number than the map, or that no step has.
Result<ImportedProfile> importEvents(const files::ChromeTrace &trace, const EventMap &map,
                                     const std::string &fileName);

/// Times by node of a trace that `syncline run` wrote, medians over the steps of all ranks: what
/// operations take with messages under way beside them. Reconstruction from factors counts with one
/// rank's share. Errors: badInput for a trace without steps, and
/// for one that nobody measured.
Result<ImportedProfile> importRun(const files::ChromeTrace &trace, const std::string &fileName);

/// Whichever of both the file is; `map` is empty for a run's own. Errors: badUsage where a map
/// lacks or is one too many.
Result<ImportedProfile> importTrace(const std::string &trace, const std::string &map);

/// Steps, nodes, and how much of a step they are.
std::string importSummary(const ImportedProfile &imported);

} // namespace syncline::profile
