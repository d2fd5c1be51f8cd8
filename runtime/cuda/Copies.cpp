// Copies as kernels of ours.
#include "runtime/cuda/Copies.h"

#include "runtime/cuda/Kernels.h"

namespace syncline::cuda {

void PreparedCopy::run(cudaStream_t stream, void *toData, const void *fromData) const {
  if (wordBytes > 0)
    check(copyWords(stream, toData, fromData, map, wordBytes), "copyWords");
  else if (to == ElementType::bf16)
    check(convertElements(stream, static_cast<BFloat16 *>(toData),
                          static_cast<const float *>(fromData), map),
          "convertElements");
  else
    check(convertElements(stream, static_cast<float *>(toData),
                          static_cast<const BFloat16 *>(fromData), map),
          "convertElements");
}

static CopyMap mapOf(const Preparation &p, const std::vector<CopyLoop> &loops) {
  const std::optional<CopyMap> map = copyMap(loops);
  if (!map)
    p.fail("expected at most " + std::to_string(maxLoops) + " dimensions that are walked apart");
  return *map;
}

PreparedCopy prepareCopy(const Preparation &p, const Shape &shape, const Shape &toStrides,
                         const Shape &fromStrides, std::int64_t elementBytes,
                         std::uint64_t alignment) {
  std::vector<CopyLoop> loops = mergedLoops(shape, toStrides, fromStrides);
  const int wordBytes = widen(loops, static_cast<int>(elementBytes), alignment);
  return {mapOf(p, loops), wordBytes};
}

PreparedCopy prepareConversion(const Preparation &p, const Shape &shape, const Layout &to,
                               const Layout &from, std::uint64_t alignment) {
  const Shape toStrides = stridesOf(to, shape), fromStrides = stridesOf(from, shape);
  if (to.type == from.type)
    return prepareCopy(p, shape, toStrides, fromStrides, elementBytes(to.type), alignment);
  return {mapOf(p, mergedLoops(shape, toStrides, fromStrides)), 0, to.type, from.type};
}

} // namespace syncline::cuda
