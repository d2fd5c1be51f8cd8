// The optimizer's part of an executable: its settings, updates, and the norm of gradients.
#include "runtime/cuda/CudaExecutable.h"

#include "runtime/cuda/kernels/Kernels.h"

#include <atomic>
#include <limits>

namespace syncline::cuda {

Status CudaExecutable::setRules(const std::map<int, core::ParameterRule> &rules) {
  dropCapture();
  return optimizer.setRules(rules);
}

Status CudaExecutable::setUpdates(std::int64_t made) {
  return statusOf("the optimizer's state: ", [&] {
    if (program.table.buckets.empty())
      return;
    program.device.makeCurrent();
    UpdateClock clock;
    clock.made = made;
    const std::vector<UpdateClock> all(program.table.buckets.size(), clock);
    program.device.copy(clocks.data(), all.data(), all.size() * sizeof(UpdateClock),
                        cudaMemcpyHostToDevice);
  });
}

Status CudaExecutable::setOptimizer(const core::OptimizerOptions &options) {
  dropCapture();
  norm.setLimit(options.clipNorm);
  const Status written = statusOf("the learning rate: ", [&] {
    program.device.makeCurrent();
    rates.setAll(options.rate);
  });
  return written ? withReason(optimizer.setOptimizer(options)) : written;
}

Status CudaExecutable::takeShard(int bucket, std::int64_t begin, std::int64_t bytes) {
  dropCapture();
  return withReason(optimizer.takeShard(bucket, begin, bytes));
}

UpdateClock *CudaExecutable::clockOf(int bucket) const {
  const core::Bucket *found = program.table.findBucket(bucket);
  return reinterpret_cast<UpdateClock *>(clocks.data()) + (found - program.table.buckets.data());
}

void CudaExecutable::update(int bucket, std::span<const core::Optimizer::Update> updates,
                            cudaStream_t stream, const double *rate,
                            const core::SumOverRanks &sum) {
  auto at = [](std::byte *data) { return reinterpret_cast<float *>(data); };
  if (needsWholeParameters(optimizer.current().kind)) {
    const core::OptimizerOptions &all = optimizer.current();
    SYNCLINE_CHECK(countUpdate(stream, clockOf(bucket), all.beta1, all.beta2));
    return lamb.enqueue({stream, bucket, meanScale(), norm.factor(), rate, clockOf(bucket)},
                        updates, sum);
  }
  UpdateClock *clock = nullptr; // SGD needs none
  for (const core::Optimizer::Update &what : updates) {
    if (!clock && what.options.kind != OptimizerKind::sgd) {
      clock = clockOf(bucket);
      SYNCLINE_CHECK(countUpdate(stream, clock, what.options.beta1, what.options.beta2));
    }
    const UpdateOperands operands{at(program.space(Space::parameters).data() + what.begin),
                                  at(program.space(Space::gradients).data() + what.begin),
                                  {at(what.state[0]), at(what.state[1])},
                                  what.bytes / static_cast<std::int64_t>(sizeof(float)),
                                  norm.factor(),
                                  rate,
                                  what.rateFactor,
                                  program.weights.updated(what.begin, what.bytes)};
    SYNCLINE_CHECK(
        updateElements(stream, operands, what.options, meanScale(), clock, program.keptFlag));
  }
}

Status CudaExecutable::updateShard(int bucket, const core::SumOverRanks &sum) {
  SYNCLINE_TRY(statusOf("update: ", [&] { program.device.makeCurrent(); }));
  if (program.options.ranks == 1 || norm.isUsed())
    return enqueueShardUpdate(bucket, program.device.compute, sum);
  const cudaStream_t stream = program.device.channel;
  const auto sumOfStream = [&](std::span<double> numbers) {
    const Status there = statusOf("", [&] { SYNCLINE_CHECK(cudaStreamSynchronize(stream)); });
    return there ? sum(numbers) : there;
  };
  // A thread of a channel may be here, which knows neither captures nor the present turn.
  SYNCLINE_TRY(updatePart(bucket, stream, /*rate=*/nullptr,
                          sum ? core::SumOverRanks(sumOfStream) : core::SumOverRanks()));
  return statusOf("update: ",
                  [&] { SYNCLINE_CHECK(cudaStreamSynchronize(program.device.channel)); });
}

Status CudaExecutable::enqueueShardUpdate(int bucket, cudaStream_t stream,
                                          const core::SumOverRanks &sum) {
  return updatePart(bucket, stream, replayedRate(turn), sum);
}

Status CudaExecutable::updatePart(int bucket, cudaStream_t stream, const double *rate,
                                  const core::SumOverRanks &sum) {
  SYNCLINE_TRY_GET(own, optimizer.shardUpdates(bucket));
  SYNCLINE_TRY(sum ? Status::ok() : optimizer.expectWhole(bucket));
  return statusOf("update: ", [&] { update(bucket, *own, stream, rate, sum); });
}

Status CudaExecutable::addSquares(int bucket) {
  const core::Bucket &of = *program.table.findBucket(bucket);
  const bool isPart = of.scheme == Scheme::reduceScatter;
  std::int64_t begin = of.offset, bytes = of.extent;
  if (isPart) {
    SYNCLINE_TRY_GET(own, optimizer.shardUpdates(bucket));
    begin = own->empty() ? begin : own->front().begin;
    bytes = own->empty() ? 0 : own->back().begin + own->back().bytes - begin;
  }
  return statusOf("the gradients' squares: ", [&] {
    program.device.makeCurrent();
    norm.add(of, begin, bytes, isPart);
  });
}

Result<double *> CudaExecutable::shardSquares() {
  double *sum = nullptr;
  const Status s = statusOf("the gradients' squares: ", [&] {
    program.device.makeCurrent();
    sum = norm.sumParts();
  });
  return s ? Result<double *>(sum) : s;
}

double CudaExecutable::gradientNorm() {
  if (!norm.isUsed() || !statusOf("", [&] { norm.factor(); }) || !synchronize())
    return std::numeric_limits<double>::quiet_NaN();
  return norm.hostNorm();
}

Status CudaExecutable::setLossScale(double scale) {
  if (scale != program.lossScale)
    dropCapture();
  program.lossScale = scale;
  norm.setMeanScale(meanScale());
  return Status::ok();
}

/// The flag is reset only when it is set, because a message that is under way may set it meanwhile.
bool CudaExecutable::metNonFinite() {
  const std::atomic_ref flag(*program.keptFlag);
  return synchronize() && flag.load() != 0 && flag.exchange(0) != 0;
}

} // namespace syncline::cuda
