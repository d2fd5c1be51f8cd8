// A plan folder as the runtime sees it: what plan.json says, checked.
#pragma once

#include "runtime/core/Executable.h"
#include "runtime/data/Dataset.h"
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
  int id = 0;
  std::vector<std::string> members;
  std::string scheme;                   ///< one of allReduceSchemes()
  double ready = 0, start = 0, end = 0; ///< predicted seconds
};

struct Plan {
  std::string folder, name, planner, hash, backend, loss;
  int ranks = 1;
  std::int64_t batch = 1; ///< samples a rank
  NamedTensor input, target;
  std::optional<NamedTensor> output; ///< of the graph, in the arena, whole after the forward phase
  std::vector<PlanTensor> tensors;
  std::vector<PlanBucket> buckets;
  SpaceSizes sizes;
  double predictedStep = 0;
  bool hasSkeleton = false; ///< there is a model.onnx

  std::string file(const std::string &name) const { return folder + "/" + name; }
  SampleFormat sampleFormat() const;
};

/// Only the number of ranks, unchecked; for the launcher, whose children read the rest.
Result<int> readRankCount(const std::string &folder);

/// Reads plan.json and compares the hash of every file that it lists. Errors: badInput, naming the
/// file: missing or malformed, another schema, a changed byte, a plan that cannot run.
Result<Plan> loadPlan(const std::string &folder);

} // namespace syncline
