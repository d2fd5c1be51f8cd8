// Which loss is trained, as command lines and plans spell it, and its value for evaluation.
#pragma once

#include "syncline/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace syncline {

/// `modelOutput` is a loss that the model computes, labels being inputs of it; all others compare
/// one of its outputs with targets.
enum class LossKind { crossEntropy, mse, l1, smoothL1, bceWithLogits, modelOutput };

struct TrainedLoss {
  LossKind kind = LossKind::crossEntropy;
  double beta = 1;                 ///< of smoothL1: where |y - target| becomes linear
  bool takesProbabilities = false; ///< of crossEntropy: targets are not classes
  double smoothing = 0; ///< of crossEntropy: the part of the loss that all classes share alike
  /// Where a crossEntropy has the weights of classes, a file or, in a plan, `inPlan`; empty where
  /// all are 1.
  std::string weightsFrom;
  std::vector<double> classWeights; ///< what stands there; parse() does not read it
  std::string output = {};          ///< of modelOutput: its name in the model

  /// The key of plan.json's `options` with the weights of classes.
  static constexpr const char *inPlan = "class_weights";

  /// Reads KIND, KIND:KEY=VALUE,... or output:NAME. Errors: badInput, which names what is known.
  static Result<TrainedLoss> parse(const std::string &text);
  /// What parse() reads, without parameters that have their default.
  std::string text() const;

  /// Whether the step compares with targets.
  bool hasTargets() const { return kind != LossKind::modelOutput; }
  /// Weights of classes are numbers from 0 to the greatest float, one above 0. Errors: badInput.
  static Status checkWeights(const std::vector<double> &weights);
  double weightOf(std::int64_t c) const {
    return classWeights.empty() ? 1 : classWeights[static_cast<std::size_t>(c)];
  }

  /// Whether targets are the numbers of classes.
  bool hasClassTargets() const { return kind == LossKind::crossEntropy && !takesProbabilities; }
  /// Whether one kernel computes loss and gradient, instead of loops and a reduction.
  bool hasKernel() const { return hasClassTargets() || kind == LossKind::mse; }
  /// The loss of one element; not for a cross-entropy or the model's own.
  double ofElement(double y, double target) const;

  bool operator==(const TrainedLoss &) const = default;
};

} // namespace syncline
