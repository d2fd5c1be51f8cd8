// Resizing a tensor in its own layout, in parts that need nothing of each other: channels, or
// blocks of channels.
#pragma once

#include "runtime/cpu/Layout.h"
#include "runtime/cpu/ResamplePass.h"

#include <cstdint>
#include <vector>

namespace syncline::cpu {

/// How a layout is cut into parts: `outer` times rows of `stride` elements, which are cut into
/// `lanes` each. A row is a position of the dimensions `extents`.
struct Parts {
  std::int64_t outer = 1, stride = 1, lanes = 1;
  Shape extents;
};

/// One resized dimension; `dimension` counts from that of the parts' first extent.
struct ResampleStep {
  std::size_t dimension;
  ResamplePass pass;
};

/// Whether resizing these axes works on the layout as it is: it is plain, blocked or channels last,
/// and the axes are positions of images.
bool keepsLayout(const Layout &layout, const Shape &axes);

/// One dimension after the other, within each part, so that what lies between two of them stays in
/// the cache. Not changed by run().
class Resizing {
public:
  /// The operand's layout is plain, or keepsLayout() allows it.
  Resizing(const Layout &operand, const Shape &axes, std::vector<ResamplePass> passes);

  /// On the calling thread's OpenMP threads. The result has likeLayout() the operand's, or is plain
  /// where that is. Elements are float, or std::uint16_t for bf16, of which copies in f32 are made.
  template <typename From, typename To> void run(const From *x, To *y) const;

private:
  /// Resizes one part in f32; `buffers` have room for what lies between two steps.
  void apply(Rows<const float> x, Rows<float> y, std::int64_t lanes,
             std::vector<float> *buffers) const;
  template <typename From, typename To>
  void part(Rows<const From> x, Rows<To> y, std::int64_t lanes, std::vector<float> *buffers) const;

  Parts parts; ///< of the operand
  std::vector<ResampleStep> steps;
  std::int64_t rows = 1, resultRows = 1, mostBetween = 0; ///< of a part; between two steps
};

} // namespace syncline::cpu
