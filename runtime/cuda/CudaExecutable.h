// The CUDA backend's Executable.
#pragma once

#include "runtime/core/Backend.h"
#include "runtime/core/PreparedExecutable.h"
#include "runtime/cuda/CudaBuilder.h"
#include "runtime/cuda/DeviceArithmetic.h"
#include "runtime/cuda/Event.h"
#include "runtime/cuda/GradientNorm.h"
#include "runtime/cuda/HostWait.h"
#include "runtime/cuda/LambUpdate.h"
#include "runtime/cuda/LaunchThrottle.h"
#include "runtime/cuda/Program.h"
#include "runtime/cuda/SampleFeed.h"
#include "runtime/cuda/StepGraph.h"
#include "runtime/cuda/StepOutcomes.h"
#include "runtime/cuda/StepRates.h"

#include <array>
#include <optional>
#include <vector>

namespace syncline::cuda {

class NcclLinks;

/// Runs operations in order on one stream; run() enqueues and returns. The channels' watches can
/// end a wait of the host. Creation throws Failure.
class CudaExecutable final : public core::PreparedExecutable<Program, CudaBuilder> {
public:
  explicit CudaExecutable(const core::ExecutableOptions &options);

  Status finish() override;

  core::Interval space(Space space) override {
    return {program.space(space).data(), program.space(space).bytes()};
  }
  Status read(int tensor, std::span<std::byte> dense) override;
  Status write(int tensor, std::span<const std::byte> dense) override;
  Status feed(int tensor, std::span<const std::byte> dense) override;
  Status readState(const core::StateInterval &interval, std::span<std::byte> raw) override;
  Status writeState(const core::StateInterval &interval, std::span<const std::byte> raw) override;

  Status setOptimizer(const core::OptimizerOptions &options) override;
  void setStepRate(double rate) override { rates.set(rate); }
  Status setRules(const std::map<int, core::ParameterRule> &rules) override;
  Status setUpdates(std::int64_t made) override;
  Status takeShard(int bucket, std::int64_t begin, std::int64_t bytes) override;
  /// On one rank, and where the step adds up squares, enqueues the update after the step's
  /// operations. On several ranks it otherwise returns when the update is done, for channels that
  /// have no streams.
  Status updateShard(int bucket, const core::SumOverRanks &sum) override;

  void beginStep(std::int64_t step) override;
  /// The step keeps its start and its turn.
  void beginMicroBatch(std::int64_t microBatch) override;
  Status run(int operation) override;
  Status synchronize() override;
  Status mark(int place) override;
  Result<std::vector<double>> marks() override;

  bool canRunAhead() const override { return !carries(); }
  void runAhead() override { isAhead = true; }
  Status endStep() override;
  Result<core::StepOutcome> outcome(std::int64_t step) override;

  bool canCapture() const override { return true; }
  void choosePart(core::StepPart chosen) override { part = static_cast<std::size_t>(chosen); }
  bool isCaptured() const override { return graphs[turn][part].isReady(); }
  Status beginCapture() override;
  Status endCapture() override;
  Status replay() override;
  double loss() override;
  Status addSquares(int bucket) override;
  Result<double *> shardSquares() override;
  double gradientNorm() override;
  Status setLossScale(double scale) override;
  bool metNonFinite() override;
  std::string layout(int tensor) const override {
    return describe(program.placements[static_cast<std::size_t>(tensor)].layout);
  }
  std::string layoutFingerprint() const override;
  core::WeightArithmetic &weights() override { return arithmetic; }
  std::int64_t extraBytes() const override {
    return program.scratch.bytes() + program.workspace.bytes() + optimizer.bytes() + lamb.bytes() +
           (samples ? samples->bytes() : 0);
  }

  /// Implements Backend::chooseKernels(): the engines of convolutions.
  Result<core::KernelChoice> chooseEngines(const std::string &table, bool times);

  // For this backend's channels, on the thread that runs operations.

  /// The device, whose stream `compute` runs the operations.
  const Device &device() const { return program.device; }
  const core::ExecutableOptions &options() const { return program.options; }
  /// The host's waits for the device, to which channels add watches.
  HostWait &hostWait() { return waits; }
  /// Returns when `event` has been reached, or a watch's error.
  Status waitFor(const Event &event);
  /// The start of the step, from which marks and the channels' timings count. Its use is `time`;
  /// replays record it again. The start of the step before stays readable during this step, because
  /// messages of that step may still be under way.
  const Event &stepStart() const { return starts[turn]; }
  /// As updateShard(), on the caller's stream.
  Status enqueueShardUpdate(int bucket, cudaStream_t stream, const core::SumOverRanks &sum = {});
  bool isCapturing() const { return graphs[turn][part].isCapturing(); }
  /// Drops what was captured, which must not outlive its channels.
  void dropCapture() {
    for (auto &parts : graphs)
      for (StepGraph &graph : parts)
        graph.drop();
  }
  /// Whether messages may end later than their step.
  bool carries() const { return program.table.carries(); }
  /// Whether a step may begin before the step before it is complete, because messages are carried
  /// or steps run ahead. What belongs to one step (events, a captured step) is then there twice,
  /// and steps use it in turn.
  bool takesTurns() const { return carries() || isAhead; }
  /// Whether the last outcome() was that of the step before the one that was begun last.
  bool looksBack() const { return isAhead && seen < present; }
  /// The turn of the step that was begun last, 0 or 1.
  std::size_t stepTurn() const { return turn; }
  /// The number of the part that choosePart() has chosen.
  std::size_t stepPart() const { return part; }
  /// Captures the stream by itself. Precondition: isCapturing().
  void captureApart(cudaStream_t stream) { graphs[turn][part].captureApart(stream); }
  /// The links of the channels, which own them.
  std::weak_ptr<NcclLinks> links;

private:
  /// `rate` is UpdateOperands::rate.
  void update(int bucket, std::span<const core::Optimizer::Update> updates, cudaStream_t stream,
              const double *rate, const core::SumOverRanks &sum = {});
  /// Updates this rank's part of the bucket.
  Status updatePart(int bucket, cudaStream_t stream, const double *rate,
                    const core::SumOverRanks &sum);
  /// Where the replays of an update find their rate, if a step of this turn has computed the
  /// gradients. Null while steps are told, which have the rate as it is then.
  const double *replayedRate(std::size_t ofTurn) const {
    return isCapturing() ? rates.of(ofTurn) : nullptr;
  }
  UpdateClock *clockOf(int bucket) const;
  void carryOut(int operation);
  Status transfer(int tensor, std::byte *data, std::byte *host, std::size_t bytes,
                  bool toHost) override;
  /// Copies between host memory and the optimizer's state, and waits for the copy.
  Status transferState(const core::StateInterval &interval, std::byte *host, std::size_t bytes,
                       bool toHost);
  std::byte *allocateState(std::int64_t bytes);
  /// The optimizer's error, with the message of the allocation that failed.
  Status withReason(const Status &ofOptimizer) const;

  Status begun; ///< the error of beginStep()
  std::size_t turn = 0, part = 0;
  bool isAhead = false;                                         ///< runAhead()
  std::int64_t present = -1;                                    ///< the step that was begun last
  std::int64_t seen = -1;                                       ///< the last one with an outcome()
  std::array<std::array<StepGraph, core::stepParts>, 2> graphs; ///< by turn and part
  HostWait waits;
  LaunchThrottle throttle;
  std::array<Event, 2> starts{Event(EventUse::time), Event(EventUse::time)}; ///< by turn
  std::vector<Event> marked; ///< the marks behind place 0
  std::vector<DeviceMemory> state;
  Status ofState;      ///< the error of state's last allocation
  DeviceMemory clocks; ///< an UpdateClock for each bucket
  StepRates rates{program};
  GradientNorm norm{program};
  std::optional<StepOutcomes> outcomes; ///< none before the first endStep()
  std::optional<SampleFeed> samples;    ///< none before the first feed()
  LambUpdate lamb{program, optimizer};
  DeviceArithmetic arithmetic{program};
};

} // namespace syncline::cuda
