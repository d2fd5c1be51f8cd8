// Making maps from shapes, on the host.
#include "runtime/cuda/kernels/IndexMaps.h"

#include "runtime/core/StepTypes.h"

namespace syncline::cuda {

using core::CopyLoop;

std::optional<CopyMap> copyMap(const std::vector<CopyLoop> &loops) {
  if (loops.size() > maxLoops)
    return std::nullopt;
  CopyMap map;
  for (const CopyLoop &loop : loops) {
    map.extents[map.loops] = static_cast<std::uint32_t>(loop.extent);
    map.to[map.loops] = loop.to;
    map.from[map.loops] = loop.from;
    map.count *= map.extents[map.loops++];
  }
  return map;
}

int widen(std::vector<CopyLoop> &loops, int elementBytes, std::uint64_t alignment) {
  if (loops.empty() || loops.back().to != 1 || loops.back().from != 1)
    return elementBytes;
  auto fits = [&](std::int64_t factor) {
    if (loops.back().extent % factor != 0 || alignment % (elementBytes * factor) != 0)
      return false;
    for (std::size_t i = 0; i + 1 < loops.size(); ++i)
      if (loops[i].to % factor != 0 || loops[i].from % factor != 0)
        return false;
    return true;
  };
  std::int64_t factor = 1;
  while (elementBytes * factor * 2 <= 16 && fits(factor * 2))
    factor *= 2;
  loops.back().extent /= factor;
  for (std::size_t i = 0; i + 1 < loops.size(); ++i) {
    loops[i].to /= factor;
    loops[i].from /= factor;
  }
  return static_cast<int>(elementBytes * factor);
}

namespace {

/// The walk over some dimensions of a tensor.
std::optional<IndexWalk> walkOver(const Shape &extents, const Shape &strides) {
  const std::vector<CopyLoop> loops = core::mergedLoops(extents, strides, strides);
  if (loops.size() > maxLoops)
    return std::nullopt;
  IndexWalk walk;
  for (const CopyLoop &loop : loops) {
    walk.extents[walk.loops] = static_cast<std::uint32_t>(loop.extent);
    walk.strides[walk.loops++] = loop.from;
  }
  return walk;
}

} // namespace

std::optional<ReduceMap> reduceMap(const Shape &shape, const Shape &strides, const Shape &axes) {
  std::vector<bool> isReduced(shape.size());
  for (std::int64_t axis : axes)
    isReduced[static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(shape.size())
                                                : axis)] = true;
  Shape extents[2], steps[2]; // kept, reduced
  for (std::size_t i = 0; i < shape.size(); ++i) {
    extents[isReduced[i]].push_back(shape[i]);
    steps[isReduced[i]].push_back(strides[i]);
  }
  const auto kept = walkOver(extents[0], steps[0]), reduced = walkOver(extents[1], steps[1]);
  if (!kept || !reduced)
    return std::nullopt;
  ReduceMap map{static_cast<std::uint32_t>(core::elementCount(extents[0])),
                static_cast<std::uint32_t>(core::elementCount(extents[1])), *kept, *reduced};
  map.isAlongRows = reduced->loops > 0 && reduced->strides[reduced->loops - 1] == 1;
  return map;
}

} // namespace syncline::cuda
