// Copies as kernels of ours.
#include "runtime/cuda/Copies.h"

#include "runtime/cuda/Kernels.h"

namespace syncline::cuda {

void PreparedCopy::run(cudaStream_t stream, void *to, const void *from) const {
  check(copyWords(stream, to, from, map, wordBytes), "copyWords");
}

PreparedCopy prepareCopy(const Preparation &p, const Shape &shape, const Shape &toStrides,
                         const Shape &fromStrides, std::int64_t elementBytes,
                         std::uint64_t alignment) {
  std::vector<CopyLoop> loops = mergedLoops(shape, toStrides, fromStrides);
  const int wordBytes = widen(loops, static_cast<int>(elementBytes), alignment);
  const std::optional<CopyMap> map = copyMap(loops);
  if (!map)
    p.fail("expected at most " + std::to_string(maxLoops) + " dimensions that are walked apart");
  return {*map, wordBytes};
}

std::uint64_t commonAlignment(std::initializer_list<const void *> addresses) {
  std::uint64_t bits = 256;
  for (const void *address : addresses)
    bits |= reinterpret_cast<std::uintptr_t>(address);
  return bits & (~bits + 1);
}

} // namespace syncline::cuda
