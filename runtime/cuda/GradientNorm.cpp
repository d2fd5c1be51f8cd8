// Enqueues the sums of squares and what follows from them.
#include "runtime/cuda/GradientNorm.h"

namespace syncline::cuda {

void GradientNorm::allocate() {
  void *host = nullptr;
  SYNCLINE_CHECK(cudaMallocHost(&host, sizeof(double)));
  norm.reset(static_cast<double *>(host));
  const std::size_t bytes = (2 * buckets() + squareBlocks + 2) * sizeof(double);
  sums = DeviceMemory(static_cast<std::int64_t>(bytes));
  SYNCLINE_CHECK(cudaMemsetAsync(sums.data(), 0, bytes, program.device.compute));
}

void GradientNorm::add(const core::Bucket &bucket, std::int64_t begin, std::int64_t bytes,
                       bool isPart) {
  if (!isUsed())
    allocate();
  const auto place = static_cast<std::size_t>(&bucket - program.table.buckets.data());
  const std::byte *const gradients = program.space(Space::gradients).data() + begin;
  SYNCLINE_CHECK(sumSquares(program.device.compute, reinterpret_cast<const float *>(gradients),
                            bytes / static_cast<std::int64_t>(sizeof(float)), scratch(),
                            at(isPart ? buckets() + place : place)));
  isDue = true;
}

double *GradientNorm::sumParts() {
  if (!isUsed())
    allocate();
  SYNCLINE_CHECK(sumTerms(program.device.compute, at(buckets()),
                          static_cast<std::uint32_t>(buckets()), ofParts()));
  isDue = true;
  return ofParts();
}

const double *GradientNorm::factor() {
  if (!isUsed())
    return nullptr;
  double *const found = ofParts() + 1;
  if (isDue)
    SYNCLINE_CHECK(findFactor(program.device.compute, at(0), static_cast<std::uint32_t>(buckets()),
                              ofParts(), mean, norm.get(), found));
  isDue = false;
  return found;
}

} // namespace syncline::cuda
