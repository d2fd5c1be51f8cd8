// A plan folder as the runtime reads it: the checked contents of plan.json.
#pragma once

#include "runtime/core/Executable.h"
#include "runtime/data/Dataset.h"
#include "runtime/launch/Identity.h"
#include "runtime/run/plan/PlanMessages.h"
#include "syncline/Status.h"
#include "syncline/TrainedLoss.h"

#include <optional>
#include <string>
#include <vector>

namespace syncline::run {

/// The initial values of a tensor that has none in weights.bin.
struct TensorInit {
  enum class Kind { constant, normal, uniform, values } kind = Kind::constant;
  double first = 0;           ///< value, mean or low
  double second = 0;          ///< deviation or high
  std::vector<double> values; ///< row-major, one for each element
};

/// A tensor with values before the first step.
struct PlanTensor {
  std::string name;
  enum class Kind {
    parameter, ///< trained
    state,     ///< in the model but not trained: running statistics, frozen parameters
    constant,  ///< introduced by the compiler; not in the model
  } kind = Kind::parameter;
  ElementType type = ElementType::f32;
  Shape shape;
  std::optional<std::int64_t> offset; ///< in weights.bin; none for a tensor with an init rule
  TensorInit init;                    ///< used when there is no offset
};

struct NamedTensor {
  std::string name;
  ElementType type = ElementType::f32;
  Shape shape;
};

/// One of the step's inputs.
struct PlanInput : NamedTensor {
  std::int64_t rowCount = 0;             ///< of the embedding that its values number; 0 for none
  std::vector<std::int64_t> elementRows; ///< of each element of a sample, where they differ
  std::string source;                    ///< the model's input whose values it holds
  bool isWhole = false;                  ///< they are integers, held as f32
};

struct Plan {
  std::string folder, name, planner, hash, backend;
  std::string modelHash; ///< of the model file; empty where the plan does not say
  int ranks = 1;         ///< workers
  int servers = 0;       ///< dedicated parameter servers, the ranks after the workers
  int ranksPerNode = 0;  ///< of the cluster that the plan is made for; 0 when the plan does not say
  TrainedLoss loss;
  OptimizerKind optimizer = OptimizerKind::sgd;
  /// That times are predicted and memory is laid out for.
  core::Precision precision = core::Precision::fp32;
  core::WirePrecision wire = core::WirePrecision::fp32; ///< that messages are predicted for
  int microBatches = 1; ///< batches whose gradients a step adds up, by the predictions below
  std::optional<double> clipNorm; ///< that predictions count; nothing: gradients are not clipped
  bool overlapsSteps = false;     ///< whether messages may reach over a step's end
  std::int64_t batch = 1;         ///< samples of one rank in a step
  std::vector<PlanInput> inputs;  ///< at least one
  std::vector<std::string> unneededInputs; ///< the model's inputs that the step does not read
  std::optional<NamedTensor> target;       ///< none where the model computes its loss
  /// The graph's output, in the arena, complete after the forward phase.
  std::optional<NamedTensor> output;
  std::vector<PlanTensor> tensors;
  std::vector<PlanBucket> buckets; ///< in issue order
  PlanConsistency consistency;
  core::SpaceSizes sizes;
  /// Compute threads of each rank for which times are predicted; nothing where nobody measured.
  std::optional<std::int64_t> threads;
  double predictedStep = 0;  ///< seconds of a step of `microBatches` micro-batches, in virtual time
  bool predictsMean = false; ///< of steps that scatter, which their median may be far from
  /// Seconds of a micro-batch that is not the last one of its step; nothing where the plan does not
  /// say it.
  std::optional<double> predictedMicroBatch;
  double plannedStep = 0;      ///< seconds, in the planner's model
  double predictedTraffic = 0; ///< bytes a node moves in a step, both directions
  bool hasSkeleton = false;    ///< the folder has a model.onnx

  /// The predicted seconds of a step of `count` micro-batches; nothing where the plan does not say.
  std::optional<double> stepOf(int count) const;
  /// The predicted bytes that a node moves in such a step. Factors and rows travel in
  /// each micro-batch.
  double trafficOf(int count) const;

  /// The default time limit for waiting between ranks, in seconds: 30, or 20 predicted steps of
  /// `count` micro-batches if that is more. With local updates it is 20 predicted windows.
  double usualTimeout(int count = 1) const;

  std::string file(const std::string &name) const { return folder + "/" + name; }
  data::SampleFormat sampleFormat() const;
  /// Whether training goes on without workers that are lost, but for rank 0.
  bool sparesWorkers() const { return servers > 0 && consistency.isAsynchronous(); }
  /// The number by which the sum of gradients is divided, so that it is a mean: all ranks where
  /// they are summed, else 1.
  int gradientRanks() const { return consistency.isLocal() ? 1 : ranks; }
};

/// Reads only the numbers of ranks and servers, without checking hashes. For the launcher, whose
/// child processes load the plan.
Result<launch::RunShape> readRunShape(const std::string &folder);

/// Reads plan.json and checks the hash of every file that it lists. Errors: badInput, naming the
/// file, for a missing or malformed file, another schema, a wrong hash, or a plan that cannot run.
Result<Plan> loadPlan(const std::string &folder);

} // namespace syncline::run
