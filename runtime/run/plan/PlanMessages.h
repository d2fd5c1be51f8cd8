// The messages of a plan folder: what ranks must know of plan.json to exchange gradients, whoever
// computes these.
#pragma once

#include "runtime/core/StepTypes.h"
#include "runtime/core/WirePrecision.h"
#include "runtime/run/plan/PlanConsistency.h"
#include "syncline/Scheme.h"
#include "syncline/Status.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace syncline::run {

struct PlanBucket {
  int id = 0, channel = 0;
  std::vector<std::string> members;
  Scheme scheme = Scheme::ring;
  double ready = 0, start = 0, end = 0; ///< predicted seconds
  /// Predicted seconds until its gradients exist; later than `end` for factors.
  double reconstructed = 0;
  double traffic = 0;                  ///< predicted bytes a node moves, both directions
  ElementType type = ElementType::f32; ///< the members' type
  std::int64_t bytes = 0;              ///< of the members; only loadMessages() reads it, and `cut`
  /// Bytes of the first member's beginning and of the last one's end that other buckets carry.
  std::array<std::int64_t, 2> cut = {};
  std::int64_t extent = 0; ///< bytes that are summed, including alignment; 0 without a layout
  struct Times {
    double ready = 0, start = 0, end = 0;
  };
  /// The all-gather's times, where it travels in halves; those above are the first half's.
  std::optional<Times> allGather = {};
};

/// The types of the plan's tensors by name; empty in a plan that has none, such as a trace's.
using TensorTypes = std::map<std::string, ElementType, std::less<>>;

/// These throw as PlanJson.h says.
ElementType elementType(const nlohmann::json &object);
PlanBucket planBucket(const nlohmann::json &object, const TensorTypes &types);
core::WirePrecision planWire(const nlohmann::json &json);
bool overlapsSteps(const nlohmann::json &json);
int planMicroBatches(const nlohmann::json &json);

/// Ranks, servers, and ranks on a node; 0 where the plan does not say.
struct PlanRanks {
  int ranks = 1, servers = 0, perNode = 0;
};
PlanRanks planRanks(const nlohmann::json &json);

/// The schemes that each channel's messages need, in the order of first use. A message has a
/// `channel` and a `scheme`.
template <typename Messages>
std::map<int, std::vector<Scheme>> schemesByChannel(const Messages &messages) {
  std::map<int, std::vector<Scheme>> schemes;
  for (const auto &message : messages)
    if (auto &used = schemes[message.channel];
        std::ranges::find(used, message.scheme) == used.end())
      used.push_back(message.scheme);
  return schemes;
}

/// Ok where `own` of the ranks of a node, this rank being number `local` of them, suit the scheme
/// "hierarchical" of a plan for `planned`; 0 where the plan does not say. Errors: badInput.
Status checkNodes(int planned, int rank, int local, int own);

/// A gradient as the planner saw it.
struct PlanGradient {
  std::string name;
  std::int64_t bytes = 0;
};

struct PlanMessages {
  std::string folder, name, hash, modelHash;
  PlanRanks ranks;
  int microBatches = 1;
  core::WirePrecision wire = core::WirePrecision::fp32;
  bool overlapsSteps = false;
  double predictedStep = 0;        ///< seconds
  PlanConsistency consistency;     ///< without its numbers
  std::vector<PlanBucket> buckets; ///< in issue order
  std::vector<PlanGradient> gradients;
  std::shared_ptr<const nlohmann::json> cluster; ///< as plan.json has it
};

/// Reads a folder's plan.json, and no more than that it is an object of this schema. Errors:
/// badInput, naming the file.
Result<nlohmann::json> readPlanFile(const std::string &folder);

/// The plan's hash, where it is that of the document. Errors: badInput. Throws SchemaError.
Result<std::string> checkedHash(const std::string &folder, nlohmann::json json);

/// Reads plan.json and checks its own hash, not those of other files. Takes plans that cannot run,
/// too. Errors: badInput, naming the file.
Result<PlanMessages> loadMessages(const std::string &folder);

} // namespace syncline::run
