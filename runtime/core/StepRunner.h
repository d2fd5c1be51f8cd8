// Running the operations of a prepared step.
#pragma once

#include "runtime/core/StepTypes.h"
#include "syncline/Status.h"

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace syncline::core {

/// What the host learns of a step that is complete.
struct StepOutcome {
  double loss = std::numeric_limits<double>::quiet_NaN(); ///< over this rank's batch, if any
  bool isUpdateFinite = true; ///< as !ShardedOptimizer::metNonFinite(), which it replaces
  double gradientNorm = std::numeric_limits<double>::quiet_NaN(); ///< as StepRunner's
};

/// A part of a step that is captured by itself. A step of several micro-batches has up to three,
/// one for each kind of micro-batch; a step of one micro-batch is its own first part.
enum class StepPart { first, between, last };
inline constexpr std::size_t stepParts = 3;

/// The training loop runs operations 0..n-1 in order, once a step:
///
///     runner->beginStep(step);
///     for (i : operations()) switch (operations()[i].kind) {
///       compute, update: runner->run(i);
///       issue:           hand space(gradients)[bucket] to a channel;
///       gather:          runner->run(i), hand operations()[i].gathered to a channel;
///       allGather:       hand the second half of the bucket to its channel;
///       wait:            channel->wait(bucket);
///     }
///     runner->synchronize();
///
/// One thread runs the step from beginStep() to synchronize(). A device may have the step captured
/// once, between beginCapture() and endCapture(), and replayed.
class StepRunner {
public:
  virtual ~StepRunner() = default;

  /// All operations in issue order.
  virtual std::span<const OperationInfo> operations() const = 0;
  virtual std::span<const Bucket> buckets() const = 0;

  /// Begins step number `step`, counted from 0, which seeds random operations.
  virtual void beginStep(std::int64_t step) = 0;
  /// Begins a micro-batch of the step that was begun last, where a step has several. Random
  /// operations take `microBatch`, counted from 0 over all steps, for the step's number.
  virtual void beginMicroBatch(std::int64_t microBatch) { beginStep(microBatch); }
  /// Runs operation i (compute, gather or update), or enqueues it on a device. Does nothing for
  /// issue and wait.
  virtual Status run(int operation) = 0;
  /// Returns when all that was run so far has been computed, and the messages that channels of this
  /// backend carry for it are done. Errors: the device's, or peerLost where messages stand still.
  virtual Status synchronize() = 0;
  /// The step's loss over this rank's batch; waits for the device. NaN when the step has no loss.
  virtual double loss() = 0;

  /// Whether a step may begin while the step before it still runs.
  virtual bool canRunAhead() const { return false; }
  /// From the next step on, endStep() ends each step in place of synchronize(), and outcome()
  /// replaces loss(), metNonFinite() and gradientNorm() of these steps. At most two steps are told
  /// and not complete. Not where a bucket's message may end later than its step. Precondition:
  /// canRunAhead().
  virtual void runAhead() {}
  /// Ends the telling of the step that was begun last. Returns at once.
  virtual Status endStep();
  /// Waits for step `step`, which is the last one or the one before. Times of channels are then
  /// those of this step. Called once for each step, in order. Errors: as synchronize().
  virtual Result<StepOutcome> outcome(std::int64_t step);

  /// Adds up the squares of a bucket's gradients, which are sums over all ranks, or enqueues that.
  /// Of a bucket by "reduce-scatter" these are the gradients that this rank updates; call
  /// shardSquares() behind the last one of them.
  /// In a step that does so for every bucket that it updates, before its first update, all updates
  /// multiply the gradients by clipFactor() of their norm (OptimizerOptions::clipNorm). Errors:
  /// internal where the backend cannot.
  virtual Status addSquares(int bucket);
  /// Sums what addSquares() has found in this step in buckets by "reduce-scatter", or enqueues it.
  /// Returns the sum's address, which is one f64 in the buckets' memory. The sum over the ranks
  /// takes its place before gradientNorm() and before the first update, so that all ranks have one
  /// norm. Errors: internal where the backend cannot.
  virtual Result<double *> shardSquares();
  /// The norm of the gradients that the last step added up, of their mean over the ranks and before
  /// clipping; waits for the device. NaN where it has added up none.
  virtual double gradientNorm() { return std::numeric_limits<double>::quiet_NaN(); }

  /// From the next step on the gradient of the loss is multiplied by `scale`, above 0, and with it
  /// all gradients of parameters. Updates divide them by it, and gradientNorm() is that of
  /// gradients without it; clipping is by this norm. Before the first call the scale is 1. Errors:
  /// internal where the backend cannot.
  virtual Status setLossScale(double scale);

  /// From the next micro-batch that is run or enqueued on, the gradient of a cross-entropy is
  /// multiplied by `weight`, 0 or above; updates do not divide by it, and loss() does not contain
  /// it. The mean of a weighed micro-batch whose labels weigh nothing is its sum, which is 0
  /// without smoothing. Before the first call the weight is 1, and such a mean is NaN. A captured
  /// step keeps the weight with which it was captured. Errors: internal where the backend cannot.
  virtual Status weighLoss(double weight);

  /// Marks the moment at which all that was run so far is done, without waiting for it. Places are
  /// 0 to operations().size().
  virtual Status mark(int place) = 0;
  /// Seconds from the mark at place 0 to each place of this step. Call after synchronize().
  virtual Result<std::vector<double>> marks() = 0;

  /// Whether a step can be captured. The calls between beginCapture() and endCapture(), including
  /// those of this backend's channels, are recorded instead of carried out, and replay() carries
  /// them out, any number of times. Input, target, the step's number, its learning rate
  /// (ShardedOptimizer::setStepRate()) and the loss are those of each replay. Where a step cannot
  /// be captured, these calls are errors.
  ///
  /// Where a wait stands before its bucket's issue, and where steps run ahead, steps of even and of
  /// odd numbers are captured apart. The calls are then about steps like the one that was begun
  /// last, even or odd. Where a step has several micro-batches, the calls are about one part of it.
  virtual bool canCapture() const { return false; }
  /// Chooses the part that the calls are about. beginStep() chooses the first one.
  virtual void choosePart(StepPart) {}
  /// Whether replay() has something to replay: it was captured, and neither setOptimizer() nor
  /// takeShard() has been called since.
  virtual bool isCaptured() const { return false; }
  virtual Status beginCapture();
  /// Ends the capture, also after an error in between.
  virtual Status endCapture();
  virtual Status replay();

  /// With true, operations of the forward phase compute as in inference: dropout passes on all
  /// elements unchanged, and batch normalization uses its running statistics, if it has both, and
  /// leaves them as they are. Not while a step runs.
  virtual void setEvaluation(bool) {}
};

} // namespace syncline::core
