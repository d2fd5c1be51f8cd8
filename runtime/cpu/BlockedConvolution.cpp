// Which layouts are computed by which vectors, and the loop over tiles of pixels and outputs.
#include "runtime/cpu/BlockedConvolution.h"

#include "syncline/CpuIsa.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define SYNCLINE_HAS_VECTORS
#endif

namespace syncline::cpu {

namespace {

using Tag = dnnl::memory::format_tag;

/// Channels of two sums, the even and the odd ones, before these are added to y.
constexpr std::int64_t channelsAtOnce = 32;

/// Strides of a layer's operands, in elements.
struct Strides {
  std::int64_t block;   ///< from a block of channels to the next, in x and y
  std::int64_t weights; ///< from the weights of a block of outputs to the next
};

#ifdef SYNCLINE_HAS_VECTORS

namespace avx2 { // 16 registers
#define SYNCLINE_TILE __attribute__((target("arch=x86-64-v3")))
constexpr std::int64_t lanes = 8, tilePixels = 3;
#include "runtime/cpu/BlockedTiles.h"
#undef SYNCLINE_TILE
} // namespace avx2

namespace avx512 { // 32 registers
#define SYNCLINE_TILE __attribute__((target("arch=x86-64-v4")))
constexpr std::int64_t lanes = 16, tilePixels = 7;
#include "runtime/cpu/BlockedTiles.h"
#undef SYNCLINE_TILE
} // namespace avx512

#define SYNCLINE_TILES(OF) OF::lanes, OF::tilePixels, OF::addTiles<1>, OF::addTiles<2>

#else // nothing to run, since hasVectors() is false

#define SYNCLINE_TILES(OF) 1, 1, nullptr, nullptr

#endif

/// Adds `blocks` blocks of input channels to `pixels` pixels of y, or writes their sum plus bias
/// there if there is a bias.
using AddTiles = void (*)(const float *x, const float *w, const float *bias, float *y,
                          std::int64_t pixels, std::int64_t blocks, const Strides &strides);

/// What is particular to one kind of vectors.
struct Form {
  std::int64_t lanes, tilePixels;
  AddTiles addOne, addTwo;   ///< for one block of outputs and for two
  std::int64_t inputs;       ///< so many elements of x stay in the second-level cache
  Tag images[3], weights[3]; ///< by the number of spatial dimensions less one
};

const Form &formOf(Vectors vectors) {
  static const Form narrow{SYNCLINE_TILES(avx2),
                           1 << 16,
                           {Tag::nCw8c, Tag::nChw8c, Tag::nCdhw8c},
                           {Tag::OIw8i8o, Tag::OIhw8i8o, Tag::OIdhw8i8o}};
  static const Form wide{SYNCLINE_TILES(avx512),
                         1 << 17,
                         {Tag::nCw16c, Tag::nChw16c, Tag::nCdhw16c},
                         {Tag::OIw16i16o, Tag::OIhw16i16o, Tag::OIdhw16i16o}};
  return vectors == Vectors::avx2 ? narrow : wide;
}

} // namespace

bool hasVectors([[maybe_unused]] Vectors vectors) {
#ifdef SYNCLINE_HAS_VECTORS
  return loopIsa() >= (vectors == Vectors::avx2 ? CpuIsa::avx2 : CpuIsa::avx512);
#else
  return false;
#endif
}

std::optional<BlockedConvolution> BlockedConvolution::of(Vectors vectors, const Layout &x,
                                                         const Layout &w, const Layout &y) {
  const Shape from = x.dims(), to = y.dims();
  const std::size_t spatial = from.size() - 2;
  const Form &form = formOf(vectors);
  if (!hasVectors(vectors) || spatial < 1 || spatial > std::size(form.images))
    return std::nullopt;
  const auto isBlocked = [](const Layout &layout, Tag tag) {
    return layout == Layout(layout.dims(), DataType::f32, tag);
  };
  const Tag images = form.images[spatial - 1];
  if (w.dims().size() != from.size() || !isBlocked(x, images) ||
      !isBlocked(w, form.weights[spatial - 1]) || !isBlocked(y, images))
    return std::nullopt;
  BlockedConvolution found;
  found.vectors = vectors;
  found.samples = from[0];
  found.pixels = std::accumulate(from.begin() + 2, from.end(), std::int64_t{1}, std::multiplies());
  found.outputs = to[1];
  found.inBlocks = (from[1] + form.lanes - 1) / form.lanes;
  found.outBlocks = (to[1] + form.lanes - 1) / form.lanes;
  return found;
}

std::optional<BlockedConvolution> BlockedConvolution::of(const Layout &x, const Layout &w,
                                                         const Layout &y) {
  return of(vectorLanes() == 8 ? Vectors::avx2 : Vectors::avx512, x, w, y);
}

void BlockedConvolution::run(const float *x, const float *w, const float *bias, float *y) const {
  const Form &form = formOf(vectors);
  const std::int64_t lanes = form.lanes, tile = form.tilePixels;
  // A part of the pixels stays in the first-level cache with its results, and its inputs in the
  // second while all outputs are computed.
  constexpr std::int64_t most = 112, least = 28;
  const std::int64_t length =
      std::clamp(form.inputs / (inBlocks * lanes), least, most) / tile * tile;
  const std::int64_t parts = (pixels + length - 1) / length, pairs = (outBlocks + 1) / 2;
  std::vector<float> first(static_cast<std::size_t>(outBlocks * lanes));
  if (bias)
    std::copy_n(bias, outputs, first.begin());
  const Strides strides{pixels * lanes, inBlocks * lanes * lanes};
  const std::int64_t blocksAtOnce = channelsAtOnce / lanes;
#pragma omp parallel for schedule(static) if (samples * parts * pairs > 1)
  for (std::int64_t i = 0; i < samples * parts * pairs; ++i) {
    const std::int64_t pair = i % pairs, part = i / pairs % parts, sample = i / pairs / parts;
    const std::int64_t begin = part * length, out = 2 * pair;
    const std::int64_t count = std::min(length, pixels - begin);
    const float *from = x + (sample * inBlocks * pixels + begin) * lanes;
    const float *weights = w + out * strides.weights;
    float *to = y + ((sample * outBlocks + out) * pixels + begin) * lanes;
    const AddTiles add = out + 1 < outBlocks ? form.addTwo : form.addOne;
    for (std::int64_t block = 0; block < inBlocks; block += blocksAtOnce)
      add(from + block * strides.block, weights + block * lanes * lanes,
          block == 0 ? first.data() + out * lanes : nullptr, to, count,
          std::min(blocksAtOnce, inBlocks - block), strides);
  }
}

} // namespace syncline::cpu
