// Passes over a tensor channel by channel in its own layout, and sums over all but the channels.
#pragma once

#include "runtime/core/Clones.h"
#include "runtime/core/HalfFloat.h"
#include "runtime/cpu/Layout.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

namespace syncline::cpu {

/// Channels that lie side by side, and are passed over together.
struct ChannelBlock {
  std::int64_t channel; ///< the first one
  std::int64_t offset;  ///< of its first element from the sample's begin, in elements
  std::int64_t lanes;   ///< number of channels; a padded layout's may lie behind the last
};

/// Where the elements of each channel of a tensor N×C×... lie. Every sample has `rows` elements of
/// each channel, `rowStride` elements apart.
struct Channels {
  std::int64_t samples, sampleStride, rows, rowStride;
  std::vector<ChannelBlock> blocks;

  /// Nothing for a layout other than plain, blocks of 8 or 16 channels, or channels last.
  static std::optional<Channels> of(const Layout &layout);
  /// The end of the blocks' channels, with the padding's.
  std::size_t end() const {
    return static_cast<std::size_t>(blocks.back().channel + blocks.back().lanes);
  }
};

inline float loaded(float value) { return value; }
inline float loaded(std::uint16_t bf16) { return core::floatFromBf16(bf16); }
inline void store(float &to, float value) { to = value; }
inline void store(std::uint16_t &to, float value) { to = core::bf16FromFloat(value); }

/// The calls of forEachElement() for one block, whose sample begins at `at`. `lanes` is the block's
/// number of channels, known to the compiler where it is a vector's.
template <typename Lanes, typename Body>
SYNCLINE_CLONES void visitRows(const Channels &view, std::int64_t at, std::int64_t channel,
                               Lanes lanes, Body body) {
  for (std::int64_t row = 0; row < view.rows; ++row)
#pragma omp simd
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      body(at + row * view.rowStride + lane, channel + lane);
}

/// As visitRows() for a channel whose elements are neighbours.
template <typename Body>
SYNCLINE_CLONES void visitNeighbours(std::int64_t rows, std::int64_t at, std::int64_t channel,
                                     Body body) {
#pragma omp simd
  for (std::int64_t row = 0; row < rows; ++row)
    body(at + row, channel);
}

/// Calls with(lanes) for the block's number of channels.
template <typename With> void withLanes(const ChannelBlock &block, const With &with) {
  if (block.lanes == 16)
    with(std::integral_constant<std::int64_t, 16>());
  else if (block.lanes == 8)
    with(std::integral_constant<std::int64_t, 8>());
  else
    with(block.lanes);
}

/// Calls task(block, sample) for all of both on the calling thread's OpenMP threads.
template <typename Task> void forEachBlock(const Channels &view, const Task &task) {
  const auto blocks = static_cast<std::int64_t>(view.blocks.size());
#pragma omp parallel for schedule(static) if (view.samples * blocks > 1)
  for (std::int64_t i = 0; i < view.samples * blocks; ++i)
    task(view.blocks[static_cast<std::size_t>(i % blocks)], i / blocks);
}

/// Calls body(offset, channel) for every element on the calling thread's OpenMP threads. Calls do
/// not depend on each other.
template <typename Body> void forEachElement(const Channels &view, Body body) {
  forEachBlock(view, [&view, body](const ChannelBlock &block, std::int64_t sample) {
    const std::int64_t at = sample * view.sampleStride + block.offset;
    if (block.lanes == 1 && view.rowStride == 1)
      return visitNeighbours(view.rows, at, block.channel, body);
    withLanes(block, [&](auto lanes) { visitRows(view, at, block.channel, lanes, body); });
  });
}

/// The type in which the terms of an element stored as T are computed. A float holds the product of
/// two bf16 exactly, and a vector holds twice as many floats as doubles.
template <typename T>
using TermOf = std::conditional_t<std::is_same_v<T, std::uint16_t>, float, double>;

/// Two terms of an element, or two sums.
template <typename Number = double> struct Two {
  Number first = 0, second = 0;
};

/// Rows whose terms are added in their own type before the sum in double. Four floats take one
/// conversion, and rounding their sums costs at most 3·2^-24 of their magnitudes.
template <typename Number>
inline constexpr std::int64_t rowsTogether = std::is_same_v<Number, float> ? 4 : 1;

/// The sums of one channel's terms over `rows` rows from the offset `at` on.
template <std::int64_t rows, typename Term>
auto addedTerms(const Term &term, std::int64_t at, std::int64_t stride, std::int64_t channel) {
  auto sums = term(at, channel);
  for (std::int64_t row = 1; row < rows; ++row) {
    const auto terms = term(at + row * stride, channel);
    sums.first += terms.first;
    sums.second += terms.second;
  }
  return sums;
}

/// Adds the sums of one block of one sample.
template <typename Lanes, typename Term>
SYNCLINE_CLONES void addRows(const Channels &view, std::int64_t at, std::int64_t channel,
                             Lanes lanes, Term term, double *first, double *second) {
  constexpr std::int64_t together = rowsTogether<decltype(term(at, channel).first)>;
  std::int64_t row = 0;
  for (; row + together <= view.rows; row += together)
#pragma omp simd
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      const auto sums = addedTerms<together>(term, at + row * view.rowStride + lane, view.rowStride,
                                             channel + lane);
      first[lane] += sums.first;
      second[lane] += sums.second;
    }
  for (; row < view.rows; ++row)
#pragma omp simd
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      const auto terms = term(at + row * view.rowStride + lane, channel + lane);
      first[lane] += terms.first;
      second[lane] += terms.second;
    }
}

template <typename Term>
SYNCLINE_CLONES void addNeighbours(std::int64_t rows, std::int64_t at, std::int64_t channel,
                                   Term term, double *first, double *second) {
  double firsts = 0, seconds = 0;
#pragma omp simd reduction(+ : firsts, seconds)
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto terms = term(at + row, channel);
    firsts += terms.first;
    seconds += terms.second;
  }
  *first = firsts;
  *second = seconds;
}

/// The sums of term(offset, channel) over the elements of each channel, sample by sample: end()
/// first sums, then end() second ones. Their bits do not depend on the number of threads.
template <typename Term> std::vector<double> sampleSums(const Channels &view, Term term) {
  const std::size_t end = view.end();
  std::vector<double> parts(2 * end * static_cast<std::size_t>(view.samples));
  forEachBlock(view, [&, term](const ChannelBlock &block, std::int64_t sample) {
    const std::int64_t at = sample * view.sampleStride + block.offset;
    double *first = parts.data() + 2 * static_cast<std::size_t>(sample) * end + block.channel;
    double *second = first + end;
    if (block.lanes == 1 && view.rowStride == 1)
      return addNeighbours(view.rows, at, block.channel, term, first, second);
    withLanes(block, [&](auto lanes) {
      if constexpr (std::is_integral_v<decltype(lanes)>)
        return addRows(view, at, block.channel, lanes, term, first, second);
      else { // sums in registers
        std::array<double, lanes> firsts{}, seconds{};
        addRows(view, at, block.channel, lanes, term, firsts.data(), seconds.data());
        std::copy(firsts.begin(), firsts.end(), first);
        std::copy(seconds.begin(), seconds.end(), second);
      }
    });
  });
  return parts;
}

/// The sums over all samples, end() of them.
template <typename Term> std::vector<Two<>> channelSums(const Channels &view, Term term) {
  const std::vector<double> parts = sampleSums(view, term);
  const std::size_t end = view.end();
  std::vector<Two<>> sums(end);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Two<> &sum = sums[i % end];
    (i / end % 2 == 0 ? sum.first : sum.second) += parts[i];
  }
  return sums;
}

} // namespace syncline::cpu
