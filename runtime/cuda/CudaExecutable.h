// The CUDA backend's Executable.
#pragma once

#include "runtime/core/Optimizer.h"
#include "runtime/cuda/CudaBuilder.h"
#include "runtime/cuda/Event.h"
#include "runtime/cuda/HostWait.h"
#include "runtime/cuda/LaunchThrottle.h"
#include "runtime/cuda/Program.h"
#include "runtime/cuda/StepGraph.h"

#include <vector>

namespace syncline::cuda {

class NcclLinks;

/// Operations run in order on one stream; run() enqueues and returns. What the host waits for is
/// ended by the channels' watches, too. Creation throws Failure.
class CudaExecutable final : public Executable {
public:
  explicit CudaExecutable(const ExecutableOptions &options);

  StepBuilder &builder() override { return steps; }
  Status finish() override;

  std::span<const OperationInfo> operations() const override { return program.table.operations; }
  std::span<const Bucket> buckets() const override { return program.table.buckets; }
  std::span<const StepTensor> tensors() const override { return program.table.tensors; }
  int find(Space space, std::string_view name) const override {
    return program.table.find(space, name);
  }

  Interval space(Space space) override {
    return {program.space(space).data(), program.space(space).bytes()};
  }
  Status read(int tensor, std::span<std::byte> dense) override;
  Status write(int tensor, std::span<const std::byte> dense) override;
  Status readVelocity(int parameter, std::span<std::byte> dense) override;
  Status writeVelocity(int parameter, std::span<const std::byte> dense) override;

  Status setOptimizer(const SgdOptions &options) override;
  Status takeShard(int bucket, std::int64_t begin, std::int64_t bytes) override;
  /// On one rank enqueues behind the step's operations; on several returns when it is done, for
  /// channels that order by returning.
  Status updateShard(int bucket) override;

  void beginStep(std::int64_t step) override;
  Status run(int operation) override;
  Status synchronize() override;
  Status mark(int place) override;
  Result<std::vector<double>> marks() override;

  bool canCapture() const override { return true; }
  bool isCaptured() const override { return graph.isReady(); }
  Status beginCapture() override;
  Status endCapture() override;
  Status replay() override;
  double loss() override;
  bool metNonFinite() override;
  void skipDropout(bool skips) override { program.skipsDropout = skips; }

  std::string layoutFingerprint() const override;
  std::int64_t extraBytes() const override { return program.scratch.bytes() + optimizer.bytes(); }

  // For this backend's channels, on the thread that runs operations.

  /// With its stream `compute`.
  const Device &device() const { return program.device; }
  const ExecutableOptions &options() const { return program.options; }
  /// What else is asked while the host waits for the device; see HostWait.
  HostWait &hostWait() { return waits; }
  /// Returns when `event` has been reached, or a watch's error.
  Status waitFor(const Event &event);
  /// The step's start as its marks and the channels' timings count from; of use `time`. Replays
  /// record it again.
  const Event &stepStart() const { return marked.front(); }
  /// As updateShard(), on a stream of the caller's.
  Status enqueueShardUpdate(int bucket, cudaStream_t stream);
  bool isCapturing() const { return graph.isCapturing(); }
  /// A captured step does not outlive its channels.
  void dropCapture() { graph.drop(); }
  /// Of its channels, which own it.
  std::weak_ptr<NcclLinks> links;

private:
  void update(const Optimizer::Update &what, cudaStream_t stream);
  void carryOut(int operation);
  /// Copies between host memory and `data`, which holds the tensor; waits.
  Status transfer(int tensor, std::byte *data, std::byte *host, std::size_t bytes, bool toHost);
  Status transferVelocity(int parameter, std::byte *host, std::size_t bytes, bool toHost);
  std::byte *allocateVelocity(std::int64_t bytes);
  /// An error of the optimizer, in the words of the allocation that failed.
  Status withReason(const Status &ofOptimizer) const;

  Program program;
  CudaBuilder steps;
  Status begun; ///< what beginStep() met
  StepGraph graph;
  HostWait waits;
  LaunchThrottle throttle;
  std::vector<Event> marked; ///< by place; the first is the step's start
  std::vector<DeviceMemory> velocity;
  Status ofVelocity; ///< of its last allocation
  Optimizer optimizer;
};

} // namespace syncline::cuda
