// Enqueuing both passes, with the sum over the ranks between them.
#include "runtime/cuda/LambUpdate.h"

#include "runtime/cuda/Check.h"

namespace syncline::cuda {

double *LambUpdate::sumsOf(std::size_t parameter) const {
  return reinterpret_cast<double *>(memory.data()) + 2 * parameter;
}

double *LambUpdate::squaresOf(std::size_t parameter) const {
  return sumsOf(optimizer.parameterCount()) + 2 * maxLambBlocks * parameter;
}

UpdateOperands LambUpdate::operandsOf(const Job &job, const core::Optimizer::Update &what) const {
  const auto at = [](std::byte *data) { return reinterpret_cast<float *>(data); };
  return {at(program.space(Space::parameters).data() + what.begin),
          at(program.space(Space::gradients).data() + what.begin),
          {at(what.state[0]), at(what.state[1])},
          what.bytes / static_cast<std::int64_t>(sizeof(float)),
          job.factor,
          job.rate,
          what.rateFactor,
          program.weights.updated(what.begin, what.bytes)};
}

void LambUpdate::enqueue(const Job &job, std::span<const core::Optimizer::Update> updates,
                         const core::SumOverRanks &sum) {
  if (!memory.data())
    memory = DeviceMemory(static_cast<std::int64_t>(optimizer.parameterCount() * 2 *
                                                    (maxLambBlocks + 1) * sizeof(double)));
  const std::size_t first = optimizer.firstParameterOf(job.bucket);
  const auto blocksOf = [&](const core::Optimizer::Update &what) {
    return lambBlocks(operandsOf(job, what).n);
  };
  const auto updateWeights = [&](const core::Optimizer::Update &what, const double *squares,
                                 std::uint32_t blocks) {
    SYNCLINE_CHECK(lambWeights(job.stream, operandsOf(job, what), what.options, job.clock, squares,
                               blocks, program.keptFlag));
  };
  for (const core::Optimizer::Update &what : updates) {
    double *const squares = squaresOf(first + what.place);
    SYNCLINE_CHECK(lambMoments(job.stream, operandsOf(job, what), what.options, job.scale,
                               job.clock, squares));
    if (!sum) // while the parameter is in the device's caches
      updateWeights(what, squares, blocksOf(what));
  }
  if (!sum)
    return;
  const std::size_t count = 2 * optimizer.parametersOf(job.bucket);
  double *const sums = sumsOf(first);
  SYNCLINE_CHECK(cudaMemsetAsync(sums, 0, count * sizeof(double),
                                 job.stream)); // this rank may have no part of a parameter
  for (const core::Optimizer::Update &what : updates)
    SYNCLINE_CHECK(joinSquares(job.stream, squaresOf(first + what.place), blocksOf(what),
                               sums + 2 * what.place));
  check(sum({sums, count}));
  for (const core::Optimizer::Update &what : updates)
    updateWeights(what, sums + 2 * what.place, 1);
}

} // namespace syncline::cuda
