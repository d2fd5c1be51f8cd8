// A plan folder as the runtime sees it: what plan.json says, checked.
#pragma once

#include "runtime/core/Executable.h"
#include "runtime/data/Dataset.h"
#include "runtime/launch/Identity.h"
#include "syncline/Status.h"

#include <optional>
#include <string>
#include <vector>

namespace syncline {

/// How a tensor without stored values begins.
struct TensorInit {
  enum class Kind { constant, normal, uniform, values } kind = Kind::constant;
  double first = 0;           ///< value, mean or low
  double second = 0;          ///< deviation or high
  std::vector<double> values; ///< row-major, one an element
};

/// A tensor with values before the first step.
struct PlanTensor {
  std::string name;
  enum class Kind {
    parameter, ///< trained
    state,     ///< of the model, but not trained: running statistics, frozen parameters
    constant,  ///< of the plan; the model does not know it
  } kind = Kind::parameter;
  ElementType type = ElementType::f32;
  Shape shape;
  std::optional<std::int64_t> offset; ///< in weights.bin
  TensorInit init;                    ///< when there is no offset
};

struct NamedTensor {
  std::string name;
  ElementType type = ElementType::f32;
  Shape shape;
};

struct PlanBucket {
  int id = 0, channel = 0;
  std::vector<std::string> members;
  Scheme scheme = Scheme::ring;
  double ready = 0, start = 0, end = 0; ///< predicted seconds
  double rebuilt = 0;                   ///< when its gradients exist; differs from end for factors
  double traffic = 0;                   ///< predicted bytes a node moves, both directions
  ElementType type = ElementType::f32;  ///< of the members
  std::int64_t extent = 0;              ///< bytes that are summed, alignment included
};

struct Plan {
  std::string folder, name, planner, hash, backend, loss;
  int ranks = 1;          ///< that compute
  int servers = 0;        ///< ranks behind these that serve "parameter-server"
  int ranksPerNode = 0;   ///< of the cluster that it is made for; 0 when it does not say
  std::int64_t batch = 1; ///< samples a rank
  NamedTensor input, target;
  std::optional<NamedTensor> output; ///< of the graph, in the arena, whole after the forward phase
  std::vector<PlanTensor> tensors;
  std::vector<PlanBucket> buckets; ///< in the order of their issue
  SpaceSizes sizes;
  double predictedStep = 0;    ///< seconds, in virtual time
  double plannedStep = 0;      ///< seconds, in the planner's model
  double predictedTraffic = 0; ///< bytes a node moves in a step, both directions
  bool hasSkeleton = false;    ///< there is a model.onnx

  /// Seconds that ranks wait for each other where nobody says how long: never less than 30, nor
  /// than 20 steps by either prediction.
  double usualTimeout() const;

  std::string file(const std::string &name) const { return folder + "/" + name; }
  SampleFormat sampleFormat() const;
};

/// Only whom the plan needs, without looking at hashes; for the launcher, whose children read the
/// rest.
Result<RunShape> readRunShape(const std::string &folder);

/// Reads plan.json and compares the hash of every file that it lists. Errors: badInput, naming the
/// file: missing or malformed, another schema, a changed byte, a plan that cannot run.
Result<Plan> loadPlan(const std::string &folder);

} // namespace syncline
