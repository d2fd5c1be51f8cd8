// The inner loops of BlockedConvolution for one kind of vectors: tiles of some pixels and of one or
// two blocks of outputs, whose sums stay in registers. A function's target cannot depend on a
// template's argument. So there is no #pragma once: BlockedConvolution.cpp includes this file once
// for each kind, inside a namespace that defines
//
//   SYNCLINE_TILE   the attribute of functions for processors with such vectors
//   lanes           floats of a vector, which are the channels of a block
//   tilePixels      pixels of a tile: 4·tilePixels sums and three more vectors fit the registers

typedef float Vector __attribute__((vector_size(4 * lanes)));
/// A vector in an array of floats. `auto` would drop these attributes.
typedef float Stored __attribute__((vector_size(4 * lanes), may_alias, aligned(4)));
static_assert(alignof(Stored) == alignof(float));

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

/// One tile of `pixels` pixels, `most` at most, or none.
template <int outs, int most>
SYNCLINE_TILE void addRest(const float *x, const float *w, const float *bias, float *y,
                           std::int64_t pixels, std::int64_t blocks, const Strides &strides) {
  if (pixels == most)
    addTile<outs, most>(x, w, bias, y, blocks, strides);
  else if constexpr (most > 1)
    addRest<outs, most - 1>(x, w, bias, y, pixels, blocks, strides);
}

/// The tiles of `pixels` pixels.
template <int outs>
SYNCLINE_TILE void addTiles(const float *x, const float *w, const float *bias, float *y,
                            std::int64_t pixels, std::int64_t blocks, const Strides &strides) {
  constexpr std::int64_t step = tilePixels * lanes;
  for (; pixels >= tilePixels; pixels -= tilePixels, x += step, y += step)
    addTile<outs, tilePixels>(x, w, bias, y, blocks, strides);
  addRest<outs, tilePixels - 1>(x, w, bias, y, pixels, blocks, strides);
}
