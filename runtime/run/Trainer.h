// One rank's training steps: runs operations in the plan's order and hands buckets to
// their channels.
#pragma once

#include "runtime/core/Channel.h"
#include "runtime/core/Exchanges.h"
#include "runtime/core/Executable.h"
#include "runtime/core/WirePrecision.h"
#include "runtime/run/LossExchange.h"
#include "runtime/run/LossScale.h"
#include "runtime/run/MicroBatchSums.h"
#include "runtime/run/plan/PlanConsistency.h"
#include "runtime/run/trace/StepRecord.h"
#include "runtime/run/weights/CarriedBuckets.h"
#include "runtime/transport/collectives/AllReduce.h"

#include <array>
#include <atomic>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace syncline::run {

/// The duration and traffic of one step on this rank, and its learning rate.
struct StepTimes {
  /// Without the recording of the step. Where steps run ahead, from the end of the step before.
  double seconds = 0;
  double exposed = 0; ///< seconds of them that computation waited for communication
  /// Seconds of them that the step waited for its samples; none where no file has them.
  std::optional<double> data;
  double rate = 0;
  /// Bytes of the step's messages: its buckets, and the loss of the step before. Where messages
  /// reach over the step's end, there is a number after a drain only, the mean of the steps since
  /// the last one; with local updates, after a period. None where nothing counts bytes.
  std::optional<transport::Traffic> moved;
  /// As core::StepRunner::gradientNorm().
  double gradientNorm = std::numeric_limits<double>::quiet_NaN();
  double lossScale = 1;   ///< of the step's gradients
  bool isSkipped = false; ///< no update was made, because gradients were not finite
};

/// How a step ends.
enum class StepEnd {
  open,           ///< messages that the next step waits for may be under way
  drained,        ///< no message is under way, and all parameters are updated
  wholeGradients, ///< drained, and every rank holds all summed gradients
};

/// The connections of a run on several ranks.
struct TrainerLinks {
  int servers = 0; ///< number of dedicated servers, which sum gradients only
  core::OpenChannel open;
  std::function<transport::Traffic()>
      traffic; ///< bytes of this rank so far; empty where they are not counted
};

/// Channels through the host's memory. The transport consists of the `ranks` workers and, after
/// them, the layout's servers. Servers open linkName(channel) + "/parameter-server" for every
/// channel with such buckets, in the channels' order. All arguments outlive the channels. Errors:
/// internal where the numbers do not add up to the transport's size. Gradients travel in `wire`.
Result<TrainerLinks> hostLinks(core::ShardedOptimizer &optimizer, transport::Transport &transport,
                               int ranks, const transport::RankLayout &layout,
                               core::WirePrecision wire = core::WirePrecision::fp32);

class Trainer {
public:
  /// Opens every channel with the schemes of its buckets. On several ranks all ranks call it
  /// together and `links` are needed. Errors: badInput for a bucket that cannot travel; peerLost.
  /// With `local` gradients stay on their rank and weights travel as it says; parameters then have
  /// their initial values. `rate` is the run's learning rate, for EASGD.
  static Result<std::unique_ptr<Trainer>> create(core::Executable &executable, int ranks,
                                                 const TrainerLinks &links = {},
                                                 const PlanConsistency &local = {},
                                                 double rate = 0);

  /// Lets weights travel by `chosen` in place of gradients, in a trainer of one rank. `bytes`
  /// counts the traffic so far.
  void exchangeBy(std::unique_ptr<core::Exchanges> chosen,
                  std::function<transport::Traffic()> bytes);

  /// The rate of the steps that begin from now on. A bucket that is carried over its step's end is
  /// updated with the rate of that step. Without a call, the rate is that of setOptimizer().
  void setRate(double learningRate) {
    rate = learningRate;
    executable.setStepRate(learningRate);
    for (const core::Bucket &bucket : executable.buckets())
      if (!carried.isUnderWay(bucket.id)) // else its update is the step's before
        takeRate(bucket.id);
  }

  /// Captures the second step and replays it from then on, where the executable can. Where buckets
  /// are carried over the step's end, these are the third and the fourth step, which take turns. A
  /// step with whole gradients runs without replay, as does the step after a drain.
  void captureSteps() { captures = executable.canCapture(); }

  /// Lets each step begin while the step before it still runs, where the executable can. Not where
  /// the host must know a step's end before the next one: where buckets are carried over it,
  /// weights are exchanged, gradients are scaled or added up over several micro-batches. Called
  /// behind these choices and before the first step.
  void runAhead();
  /// How many steps may be told and not complete when the next one is told. While steps are
  /// recorded, there is none.
  std::size_t ahead() const { return runsAhead && !isRecording ? 1 : 0; }

  /// Takes the executable's operations as they are now, where it has others than before. Between
  /// steps, in a run whose buckets are not carried.
  void takeOperations() { carried = CarriedBuckets(executable.operations()); }

  /// Clips gradients by their norm: each bucket's squares are added up in place of its update, and
  /// all updates follow the last operation. A bucket by "reduce-scatter" is then updated and
  /// gathered there too; ranks add up the squares of their parts in one more message.
  /// Preconditions: no bucket is carried; the executable can.
  void clipByNorm() { updatesLast = true; }

  /// Makes a step of `microBatches` forward and backward passes, whose mean gradients it applies.
  /// Sums travel in the last micro-batch; factors travel in each micro-batch. Input and target of a
  /// step's first micro-batch are in place when it begins; `next` puts those of micro-batch n in
  /// place, counted from 0 over all steps, whose random operations take n for the step's number.
  /// With captureSteps() the first micro-batch, those between and the last one are captured apart,
  /// and no bucket is gathered. Precondition: gradients are f32.
  void accumulate(int microBatches, std::function<Status(std::int64_t)> next);

  /// Multiplies the loss's gradient by this scale, and leaves out the updates of a step whose
  /// gradients are not finite on some rank, on all ranks alike. Updates are made as clipByNorm()
  /// says. Preconditions: gradients travel, and no bucket is carried. Errors: the backend's.
  Status scaleLoss(const LossScale &chosen);
  /// The loss's scale; none without scaleLoss().
  std::optional<LossScale> &lossScale() { return scale; }
  /// The loss's scale in the last step; its gradients contain it.
  double appliedScale() const { return applied; }

  /// Multiplies the loss of the next micro-batch, and its gradient, by this weight. Errors: those
  /// that StepRunner::weighLoss() has.
  Status weighLoss(double chosen) {
    weight = chosen;
    return executable.weighLoss(chosen);
  }

  /// Multiplies the step's gradients by `chosen` before they are summed, and its loss. For ranks of
  /// unequal batches: this rank's samples over the mean of the ranks. Preconditions: gradients are
  /// f32, and no bucket is gathered.
  void weighRank(double chosen) { rankWeight = chosen; }

  /// Whether messages may reach over a step's end.
  bool carries() const { return carried.any(); }

  /// Begins step `number` where weights travel in place of gradients; elsewhere this does nothing.
  /// What travels beside the step may start here, so that the caller's work before step() hides it
  /// too. step() calls it where the caller did not. Errors: as step().
  Status beginStep(std::int64_t number);
  /// Runs one step; input and target are in place. StepEnd::wholeGradients costs another all-gather
  /// for buckets by "reduce-scatter"; `end` must be equal on all ranks. `meanwhile` is called when
  /// all operations have been enqueued, so that it runs while a device computes. Errors: peerLost,
  /// or the backend's.
  Result<StepTimes> step(std::int64_t number, StepEnd end = StepEnd::open,
                         const std::function<void()> &meanwhile = {});
  /// The two parts of step(). tell() returns when a device has been told all operations; complete()
  /// waits for the first step that was told and is not complete. Between two calls of tell() all
  /// steps but ahead() become complete. `start` is when the step began for the caller.
  Status tell(std::int64_t number, StepEnd end = StepEnd::open,
              const std::function<void()> &meanwhile = {},
              core::Clock::time_point start = core::Clock::now());
  Result<StepTimes> complete();
  /// Completes all steps, waits for the messages that the last one left under way and for all
  /// losses, and updates the
  /// parameters. Returns on how many ranks such an update was not finite. All ranks call it after
  /// the same step. Errors: as step().
  Result<int> drain();
  /// Ends the exchanges of weights: all ranks then have equal ones. Elsewhere this does nothing.
  /// Precondition: drain(). All ranks call it. Errors: as step().
  Status finish();
  /// Whether the state after `completed` steps can be saved: with local updates, between periods.
  bool canBeSaved(std::int64_t completed) const {
    return !exchanges || exchanges->isStill(completed - 1);
  }
  /// What exchanges of weights hold beside the weights; see core::Exchanges::state().
  std::vector<core::ExchangeState> exchangeState() {
    return exchanges ? exchanges->state() : std::vector<core::ExchangeState>();
  }
  /// How far ranks drifted apart; nothing where they do not.
  core::DriftCounts drift() const { return exchanges ? exchanges->drift() : core::DriftCounts(); }
  /// The mean bytes of the steps since the last StepTimes with a number, and of finish(). None
  /// where there was no step since or nothing counts bytes. Precondition: no message is under way.
  std::optional<transport::Traffic> movedSince() const;
  /// Runs the operations of phase "forward" only.
  Status forward(std::int64_t number);

  /// Losses travel after the step's buckets and are read a step later; where steps run ahead, they
  /// travel after the next step's buckets and are read when that step is complete. With local
  /// updates they travel once a window, with EASGD once a period, beside a fragment. Call settle()
  /// to have those of all steps so far.
  LossExchange &losses() { return *lossExchange; }

  /// Sets the function that is called after each step and returns SIGINT, SIGTERM or 0.
  void askForSignal(std::function<int()> received) { signal = std::move(received); }

  /// Where this rank is, for a message: " in operation relu of layer 'r1' in step 5; last completed
  /// step 4". Any thread may call it at any time.
  std::string whereabouts() const;

  /// Keeps a record of every step from now on.
  void recordSteps() {
    isRecording = true;
    hasCaptured = {}; // captured steps have no marks
    if (exchanges)
      exchanges->recordRequests();
  }
  const std::vector<StepRecord> &records() const { return recorded; }
  /// Timings of the last step's buckets, over all channels.
  std::vector<core::BucketTiming> bucketTimings() const;

private:
  Trainer(core::Executable &executable, int ranks) : executable(executable), ranks(ranks) {}
  Status openChannels(const TrainerLinks &links, const PlanConsistency &weights);
  Status openLocal(const PlanConsistency &weights, double rate);
  /// Whether gradients travel.
  bool sums() const { return ranks > 1 && !exchanges; }
  Status findBuckets();
  struct BucketPlace {
    core::Channel *channel; ///< null in a run of one rank
    std::byte *gradients, *parameters;
    std::size_t bytes;
    ElementType type;
    Scheme scheme;
    bool isHalved = false; ///< an operation hands over its second half
  };
  Status takeShard(int bucket, const BucketPlace &place);
  Status runOperation(std::size_t index);
  Status runUpdate(std::size_t index);
  Status wait(int bucket);
  Status runEarlierMicroBatches(std::int64_t number, bool replays);
  core::StepPart part() const;
  void startChannels(std::int64_t number, bool replayed);
  bool isLastMicroBatch() const { return microBatch + 1 == microBatches; }
  /// Whether earlier micro-batches leave the operation out.
  bool isOfLastMicroBatch(const core::OperationInfo &operation) const;
  std::span<float> gradientsOf(int bucket) const {
    const BucketPlace &b = places.at(bucket);
    return {reinterpret_cast<float *>(b.gradients), b.bytes / sizeof(float)};
  }
  Status runOperations();
  Status runDue();
  /// Gives the present step's rate to the bucket, none of whose messages is under way.
  void takeRate(int bucket) {
    if (rate)
      executable.setRate(bucket, *rate);
  }
  Status capture(bool &isDone);
  Status replay(std::int64_t number);
  Status tellMicroBatch(std::int64_t number);
  bool hasShards() const;
  Status shareSquares();
  Status share(std::span<double> squares);
  Status updateShards();
  Status runUpdates();
  Status finishUpdates();
  Status runStep(std::int64_t number, const std::function<void()> &meanwhile);
  Status record(std::int64_t number);
  Status duringExchange(const Status &s, std::int64_t number) const;
  Status settled(const Status &s);
  Status issue(int bucket);
  Status issueSharded(int bucket, core::Half half);
  /// Hands over the second half of a bucket.
  Status allGather(int bucket);
  core::StepOutcome outcomeNow();
  void addLoss(std::int64_t number, const core::StepOutcome &outcome, double lossWeight);
  Status gather(std::size_t index);

  core::Executable &executable;
  const int ranks;
  std::function<transport::Traffic()> traffic;
  transport::Traffic counted;  ///< bytes in the steps so far
  std::int64_t uncounted = 0;  ///< steps since `counted` was read
  bool wholeGradients = false; ///< whether the present step gathers them
  bool drains = false;         ///< whether the present step leaves no message under way
  CarriedBuckets carried;
  std::map<int, std::unique_ptr<core::Channel>> channels;
  std::unique_ptr<core::Exchanges> exchanges; ///< null where gradients travel
  std::map<int, BucketPlace> places;          ///< by bucket id
  bool updatesLast = false;                   ///< updates wait for the norm of all gradients
  std::optional<double> rate;                 ///< of the present step
  int microBatches = 1;                       ///< of a step
  int microBatch = 0;                         ///< the present one; 0 between steps
  MicroBatchSums microBatchSums{1, executable.weights()};
  std::function<Status(std::int64_t)> nextSamples; ///< see accumulate()
  double earlierLosses = 0;                        ///< sum over the step's earlier micro-batches
  double weight = 1;                               ///< of the present micro-batch's loss
  double rankWeight = 1;                           ///< see weighRank()
  std::optional<LossScale> scale;                  ///< of the next step
  double applied = 1;                              ///< scale of the present step
  bool isSkipped = false;                          ///< whether the present step updates nothing
  bool captures = false;
  /// Whether a part is captured, by turn and part; turn 1 only where steps take turns.
  std::array<std::array<bool, core::stepParts>, 2> hasCaptured{};
  /// A step without an operation left out has run, so that libraries have connected and allocated
  /// their memory.
  bool isWarm = false;
  struct Told {
    std::int64_t number;
    core::Clock::time_point start;
    bool isRecorded; ///< the step has marks
    double weight;   ///< of its last micro-batch's loss
  };
  std::deque<Told> told;                 ///< steps that are not complete
  bool runsAhead = false;                ///< runAhead(), and the executable can
  core::Clock::time_point completedAt{}; ///< end of the last complete step
  bool isRecording = false;
  core::Clock::time_point begunAt; ///< start of the step that beginStep() began last
  std::int64_t begun = -1;         ///< its number
  double waitedBefore = 0;         ///< seconds that exchanges had waited then
  double beginning = 0;            ///< seconds that beginStep() took
  core::Clock::time_point began;   ///< start of the step's first operation
  std::vector<StepRecord> recorded;

  std::unique_ptr<LossExchange> lossExchange;
  bool hasWindows = false; ///< whether losses travel once a window, as `exchanges` sends them
  std::function<int()> signal;

  std::atomic<std::int64_t> presentStep{-1}; ///< that was begun last; -1 before the first one
  std::atomic<int> presentOperation{-1};     ///< that was begun last; -1 outside the operations
};

} // namespace syncline::run
