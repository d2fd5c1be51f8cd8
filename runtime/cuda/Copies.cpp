// Copies by the kernels of this backend.
#include "runtime/cuda/Copies.h"

namespace syncline::cuda {

void PreparedCopy::run(cudaStream_t stream, void *to, const void *from) const {
  SYNCLINE_CHECK(copyWords(stream, to, from, map, wordBytes));
}

static CopyMap mapOf(const Preparation &p, const std::vector<core::CopyLoop> &loops) {
  const std::optional<CopyMap> map = copyMap(loops);
  if (!map)
    p.fail("expected at most " + std::to_string(maxLoops) + " dimensions that are walked apart");
  return *map;
}

PreparedCopy prepareCopy(const Preparation &p, const Shape &shape, const Shape &toStrides,
                         const Shape &fromStrides, std::int64_t elementBytes,
                         std::uint64_t alignment) {
  std::vector<core::CopyLoop> loops = core::mergedLoops(shape, toStrides, fromStrides);
  const int wordBytes = widen(loops, static_cast<int>(elementBytes), alignment);
  return {mapOf(p, loops), wordBytes};
}

/// The matrices that a change of order transposes: channels by positions, or back.
static MatrixStack turnedStack(const Shape &shape, const Layout &to, const Layout &from) {
  constexpr std::uint32_t least = 16; // half a tile
  const auto channels = static_cast<std::uint32_t>(shape.size() > 1 ? shape[1] : 1);
  const auto count = static_cast<std::uint32_t>(shape.empty() ? 1 : shape[0]);
  const auto positions = static_cast<std::uint32_t>(core::elementCount(shape)) / (count * channels);
  const bool hasKernel = from.type == ElementType::f32 || from.type == ElementType::bf16 ||
                         from.type == ElementType::u8;
  if (to.isChannelsLast == from.isChannelsLast || !hasKernel || channels < least ||
      positions < least)
    return {};
  return from.isChannelsLast ? MatrixStack{count, positions, channels}
                             : MatrixStack{count, channels, positions};
}

Conversion::Conversion(const Preparation &p, const Shape &shape, const Layout &to,
                       const Layout &from, std::uint64_t alignment)
    : to(to), from(from), turned(turnedStack(shape, to, from)) {
  const Shape toStrides = stridesOf(to, shape), fromStrides = stridesOf(from, shape);
  if (to.type == from.type)
    copy = prepareCopy(p, shape, toStrides, fromStrides, core::elementBytes(to.type), alignment);
  else
    copy = {mapOf(p, core::mergedLoops(shape, toStrides, fromStrides)), 0};
}

template <typename To, typename From>
void Conversion::convert(cudaStream_t stream, void *toData, const void *fromData) const {
  auto *const result = static_cast<To *>(toData);
  const auto *const source = static_cast<const From *>(fromData);
  if (turned.count > 0)
    return SYNCLINE_CHECK(turnMatrices<To, From>(stream, result, source, turned));
  if constexpr (std::is_same_v<To, From>)
    copy.run(stream, toData, fromData);
  else
    SYNCLINE_CHECK(convertElements<To, From>(stream, result, source, copy.map));
}

void Conversion::run(cudaStream_t stream, void *toData, const void *fromData) const {
  if (to.type == ElementType::u8)
    return convert<std::uint8_t, std::uint8_t>(stream, toData, fromData);
  if (turned.count == 0 && to.type == from.type)
    return copy.run(stream, toData, fromData);
  withElement(to.type, [&]<typename To> {
    withElement(from.type, [&]<typename From> { convert<To, From>(stream, toData, fromData); });
  });
}

} // namespace syncline::cuda
