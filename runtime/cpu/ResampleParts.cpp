// Cuts a layout into parts and sorts the dimensions.
#include "runtime/cpu/ResampleParts.h"

#include "runtime/cpu/Channels.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <omp.h>

namespace syncline::cpu {

namespace {

/// `first` and `last` are the first and the last resized dimension.
Parts partsOf(const Layout &layout, std::size_t first, std::size_t last) {
  constexpr std::int64_t mostLanes = 64; // of channels last: parts for several threads
  const Shape dims = layout.dims();
  const auto product = [&](std::size_t begin, std::size_t end) {
    return std::accumulate(dims.begin() + static_cast<std::ptrdiff_t>(begin),
                           dims.begin() + static_cast<std::ptrdiff_t>(end), std::int64_t{1},
                           std::multiplies<>());
  };
  Parts parts;
  if (isPlain(layout)) {
    parts.outer = product(0, first);
    parts.stride = parts.lanes = product(last + 1, dims.size());
    parts.extents.assign(dims.begin() + static_cast<std::ptrdiff_t>(first),
                         dims.begin() + static_cast<std::ptrdiff_t>(last) + 1);
    return parts;
  }
  const auto &blocking = layout.data.format_desc.blocking;
  const bool isBlocked = blocking.inner_nblks == 1;
  parts.stride = isBlocked ? blocking.inner_blks[0] : dims[1];
  parts.lanes = std::min(parts.stride, mostLanes);
  parts.outer = isBlocked ? dims[0] * (layout.data.padded_dims[1] / parts.stride) : dims[0];
  parts.extents.assign(dims.begin() + 2, dims.end());
  return parts;
}

/// Dimensions that shrink come first, the outer ones before the inner ones; then those that grow,
/// the inner ones first, because the loop along an inner dimension is the slower one.
void sortSteps(std::vector<ResampleStep> &steps) {
  const auto growth = [](const ResampleStep &step) {
    const core::Bands &m = step.pass.matrix();
    return static_cast<double>(m.rows()) / static_cast<double>(m.columns);
  };
  std::ranges::stable_sort(steps, [&](const ResampleStep &a, const ResampleStep &b) {
    if (growth(a) != growth(b))
      return growth(a) < growth(b);
    return growth(a) > 1 ? a.dimension > b.dimension : a.dimension < b.dimension;
  });
}

SYNCLINE_CLONES void toFloat(const std::uint16_t *__restrict from, std::int64_t stride,
                             float *__restrict to, std::int64_t rows, std::int64_t lanes) {
  for (std::int64_t row = 0; row < rows; ++row)
#pragma omp simd
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      to[row * lanes + lane] = loaded(from[row * stride + lane]);
}

SYNCLINE_CLONES void toBf16(const float *__restrict from, std::uint16_t *__restrict to,
                            std::int64_t stride, std::int64_t rows, std::int64_t lanes) {
  for (std::int64_t row = 0; row < rows; ++row)
#pragma omp simd
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      store(to[row * stride + lane], from[row * lanes + lane]);
}

/// Copies of a part in f32. Rows without gaps are one row.
void toFloat(Rows<const std::uint16_t> from, float *to, std::int64_t rows, std::int64_t lanes) {
  const bool isDense = from.stride == lanes;
  toFloat(from.data, from.stride, to, isDense ? 1 : rows, isDense ? rows * lanes : lanes);
}

void toBf16(const float *from, Rows<std::uint16_t> to, std::int64_t rows, std::int64_t lanes) {
  const bool isDense = to.stride == lanes;
  toBf16(from, to.data, to.stride, isDense ? 1 : rows, isDense ? rows * lanes : lanes);
}

} // namespace

bool keepsLayout(const Layout &layout, const Shape &axes) {
  return axes.front() >= 2 && likeLayout(layout, layout.dims());
}

Resizing::Resizing(const Layout &operand, const Shape &axes, std::vector<ResamplePass> passes) {
  const auto first = static_cast<std::size_t>(axes.front());
  parts = partsOf(operand, first, static_cast<std::size_t>(axes.back()));
  const std::size_t origin = isPlain(operand) ? first : 2;
  for (std::size_t i = 0; i < axes.size(); ++i)
    steps.push_back({static_cast<std::size_t>(axes[i]) - origin, std::move(passes[i])});
  sortSteps(steps);
  rows = core::elementCount(parts.extents);
  Shape extents = parts.extents;
  for (const ResampleStep &step : steps) {
    extents[step.dimension] = step.pass.matrix().rows();
    resultRows = core::elementCount(extents);
    if (&step != &steps.back())
      mostBetween = std::max(mostBetween, resultRows);
  }
}

void Resizing::apply(Rows<const float> x, Rows<float> y, std::int64_t lanes,
                     std::vector<float> *buffers) const {
  Shape extents = parts.extents;
  const auto product = [](auto begin, auto end) {
    return std::accumulate(begin, end, std::int64_t{1}, std::multiplies<>());
  };
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto at = extents.begin() + static_cast<std::ptrdiff_t>(steps[i].dimension);
    const bool isLast = i + 1 == steps.size();
    const Rows<float> to = isLast ? y : Rows<float>{buffers[i % 2].data(), lanes};
    steps[i].pass.apply(x, to, product(extents.begin(), at), product(at + 1, extents.end()), lanes);
    *at = steps[i].pass.matrix().rows();
    x = {to.data, to.stride};
  }
}

template <typename From, typename To>
void Resizing::part(Rows<const From> x, Rows<To> y, std::int64_t lanes,
                    std::vector<float> *buffers) const {
  Rows<const float> source{nullptr, lanes};
  Rows<float> target{nullptr, lanes};
  if constexpr (std::is_same_v<From, float>)
    source = x;
  else {
    toFloat(x, buffers[2].data(), rows, lanes);
    source.data = buffers[2].data();
  }
  if constexpr (std::is_same_v<To, float>)
    target = y;
  else
    target.data = buffers[3].data();
  apply(source, target, lanes, buffers);
  if constexpr (!std::is_same_v<To, float>)
    toBf16(target.data, y, resultRows, lanes);
}

template <typename From, typename To> void Resizing::run(const From *x, To *y) const {
  const std::int64_t cuts = (parts.stride + parts.lanes - 1) / parts.lanes;
  const std::int64_t count = parts.outer * cuts;
  const auto threads = static_cast<int>(std::clamp<std::int64_t>(count, 1, omp_get_max_threads()));
  // In front of the parallel region, which no exception may leave.
  const std::array<std::int64_t, 4> sizes{mostBetween, steps.size() > 2 ? mostBetween : 0,
                                          std::is_same_v<From, float> ? 0 : rows,
                                          std::is_same_v<To, float> ? 0 : resultRows};
  std::vector<std::array<std::vector<float>, 4>> buffers(static_cast<std::size_t>(threads));
  for (auto &own : buffers)
    std::ranges::transform(sizes, own.begin(), [&](std::int64_t size) {
      return std::vector<float>(static_cast<std::size_t>(size * parts.lanes));
    });
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t outer = i / cuts, lane = i % cuts * parts.lanes;
    part<From, To>({x + outer * rows * parts.stride + lane, parts.stride},
                   {y + outer * resultRows * parts.stride + lane, parts.stride},
                   std::min(parts.lanes, parts.stride - lane),
                   buffers[static_cast<std::size_t>(omp_get_thread_num())].data());
  }
}

template void Resizing::run(const float *, float *) const;
template void Resizing::run(const std::uint16_t *, std::uint16_t *) const;
template void Resizing::run(const float *, std::uint16_t *) const;
template void Resizing::run(const std::uint16_t *, float *) const;

} // namespace syncline::cpu
