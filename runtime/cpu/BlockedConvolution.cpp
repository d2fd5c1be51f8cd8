// Tiles of 7 pixels and 32 outputs, whose sums stay in registers.
#include "runtime/cpu/BlockedConvolution.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define SYNCLINE_HAS_VECTORS
#endif

namespace syncline::cpu {

namespace {

using Tag = dnnl::memory::format_tag;

constexpr std::int64_t lanes = 16;

/// Layouts of activations and weights by the number of spatial dimensions less one.
constexpr std::pair<Tag, Tag> blockedTags[] = {{Tag::nCw16c, Tag::OIw16i16o},
                                               {Tag::nChw16c, Tag::OIhw16i16o},
                                               {Tag::nCdhw16c, Tag::OIdhw16i16o}};

bool hasVectors() {
#ifdef SYNCLINE_HAS_VECTORS
  return __builtin_cpu_supports("x86-64-v4");
#else
  return false;
#endif
}

#ifdef SYNCLINE_HAS_VECTORS

#define SYNCLINE_TILE __attribute__((target("arch=x86-64-v4")))

typedef float Vector __attribute__((vector_size(4 * lanes)));
/// A vector in an array of floats. `auto` would drop these attributes.
typedef float Stored __attribute__((vector_size(4 * lanes), may_alias, aligned(4)));
static_assert(alignof(Stored) == alignof(float));

/// Strides of a layer's operands, in elements.
struct Strides {
  std::int64_t block;   ///< from a block of channels to the next, in x and y
  std::int64_t weights; ///< from the weights of a block of outputs to the next
};

/// Adds `blocks` blocks of input channels to a tile of y, or writes their sum plus bias there if
/// the tile has a bias.
template <int outs, int pixels>
SYNCLINE_TILE void addTile(const float *x, const float *w, const float *bias, float *y,
                           std::int64_t blocks, const Strides &strides) {
  Vector sums[2][outs][pixels] = {}; // of even and of odd channels
  for (std::int64_t block = 0; block < blocks; ++block, x += strides.block, w += lanes * lanes)
    for (std::int64_t in = 0; in < lanes; in += 2)
#pragma GCC unroll 2
      for (int odd = 0; odd < 2; ++odd) {
        Vector weights[outs];
#pragma GCC unroll 2
        for (int o = 0; o < outs; ++o)
          weights[o] =
              *reinterpret_cast<const Stored *>(w + o * strides.weights + (in + odd) * lanes);
#pragma GCC unroll 8
        for (int p = 0; p < pixels; ++p) {
          const Vector value = x[p * lanes + in + odd] - Vector{};
#pragma GCC unroll 2
          for (int o = 0; o < outs; ++o)
            sums[odd][o][p] += value * weights[o];
        }
      }
#pragma GCC unroll 2
  for (int o = 0; o < outs; ++o)
#pragma GCC unroll 8
    for (int p = 0; p < pixels; ++p) {
      Stored *to = reinterpret_cast<Stored *>(y + o * strides.block + p * lanes);
      const Vector before = bias ? *reinterpret_cast<const Stored *>(bias + o * lanes) : *to;
      *to = before + (sums[0][o][p] + sums[1][o][p]);
    }
}

/// The tiles of `pixels` pixels, seven at a time.
template <int outs>
SYNCLINE_TILE void addTiles(const float *x, const float *w, const float *bias, float *y,
                            std::int64_t pixels, std::int64_t blocks, const Strides &strides) {
  for (; pixels >= 7; pixels -= 7, x += 7 * lanes, y += 7 * lanes)
    addTile<outs, 7>(x, w, bias, y, blocks, strides);
  switch (pixels) {
  case 6:
    return addTile<outs, 6>(x, w, bias, y, blocks, strides);
  case 5:
    return addTile<outs, 5>(x, w, bias, y, blocks, strides);
  case 4:
    return addTile<outs, 4>(x, w, bias, y, blocks, strides);
  case 3:
    return addTile<outs, 3>(x, w, bias, y, blocks, strides);
  case 2:
    return addTile<outs, 2>(x, w, bias, y, blocks, strides);
  case 1:
    return addTile<outs, 1>(x, w, bias, y, blocks, strides);
  }
}

#else

struct Strides {
  std::int64_t block, weights;
};

/// Not called, since BlockedConvolution::of() gives nothing.
template <int outs>
void addTiles(const float *, const float *, const float *, float *, std::int64_t, std::int64_t,
              const Strides &) {}

#endif

} // namespace

std::optional<BlockedConvolution> BlockedConvolution::of(const Layout &x, const Layout &w,
                                                         const Layout &y) {
  const Shape from = x.dims(), to = y.dims();
  const std::size_t spatial = from.size() - 2;
  if (!hasVectors() || spatial < 1 || spatial > std::size(blockedTags))
    return std::nullopt;
  const auto [images, weights] = blockedTags[spatial - 1];
  const auto isBlocked = [](const Layout &layout, Tag tag) {
    return layout == Layout(layout.dims(), DataType::f32, tag);
  };
  if (w.dims().size() != from.size() || !isBlocked(x, images) || !isBlocked(w, weights) ||
      !isBlocked(y, images))
    return std::nullopt;
  BlockedConvolution found;
  found.samples = from[0];
  found.pixels = std::accumulate(from.begin() + 2, from.end(), std::int64_t{1}, std::multiplies());
  found.outputs = to[1];
  found.inBlocks = (from[1] + lanes - 1) / lanes;
  found.outBlocks = (to[1] + lanes - 1) / lanes;
  return found;
}

void BlockedConvolution::run(const float *x, const float *w, const float *bias, float *y) const {
  // A part of the pixels stays in the first-level cache with its results, and its inputs in the
  // second while all outputs are computed.
  constexpr std::int64_t most = 112, least = 28, inputs = 1 << 17;
  const std::int64_t length = std::clamp(inputs / (inBlocks * lanes) / 7 * 7, least, most);
  const std::int64_t parts = (pixels + length - 1) / length, pairs = (outBlocks + 1) / 2;
  std::vector<float> first(static_cast<std::size_t>(outBlocks * lanes));
  if (bias)
    std::copy_n(bias, outputs, first.begin());
  const Strides strides{pixels * lanes, inBlocks * lanes * lanes};
#pragma omp parallel for schedule(static) if (samples * parts * pairs > 1)
  for (std::int64_t i = 0; i < samples * parts * pairs; ++i) {
    const std::int64_t pair = i % pairs, part = i / pairs % parts, sample = i / pairs / parts;
    const std::int64_t begin = part * length, out = 2 * pair;
    const std::int64_t count = std::min(length, pixels - begin);
    const float *from = x + (sample * inBlocks * pixels + begin) * lanes;
    const float *weights = w + out * strides.weights;
    float *to = y + ((sample * outBlocks + out) * pixels + begin) * lanes;
    for (std::int64_t block = 0; block < inBlocks; block += 2) {
      const auto add = out + 1 < outBlocks ? addTiles<2> : addTiles<1>;
      add(from + block * strides.block, weights + block * lanes * lanes,
          block == 0 ? first.data() + out * lanes : nullptr, to, count,
          std::min<std::int64_t>(2, inBlocks - block), strides);
    }
  }
}

} // namespace syncline::cpu
