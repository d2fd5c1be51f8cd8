// Resizing of dimensions, one after the other within each channel, or each block of channels, so
// that what lies between two of them stays in the cache.
#include "runtime/cpu/Channels.h"
#include "runtime/cpu/CpuBuilder.h"
#include "runtime/cpu/ResamplePass.h"

#include <algorithm>
#include <numeric>

namespace syncline::cpu {

namespace {

/// How a layout is cut into parts that are resized independently: `outer` parts of rows whose
/// `stride` elements are cut into `lanes` each. A row is a position of the dimensions `extents`.
struct Parts {
  std::int64_t outer = 1, stride = 1, lanes = 1;
  Shape extents;
};

/// One resized dimension of the parts.
struct Step {
  std::size_t dimension;
  ResamplePass pass;
};

/// Whether resizing these axes works on the layout as it is.
bool keepsLayout(const Layout &layout, const Shape &axes) {
  return axes.front() >= 2 && likeLayout(layout, layout.dims());
}

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
void sortSteps(std::vector<Step> &steps) {
  const auto growth = [](const Step &step) {
    const core::Bands &m = step.pass.matrix();
    return static_cast<double>(m.rows()) / static_cast<double>(m.columns);
  };
  std::ranges::stable_sort(steps, [&](const Step &a, const Step &b) {
    if (growth(a) != growth(b))
      return growth(a) < growth(b);
    return growth(a) > 1 ? a.dimension > b.dimension : a.dimension < b.dimension;
  });
}

/// All that a part's computation needs besides its place.
struct Resize {
  Parts parts; ///< of the operand
  std::vector<Step> steps;
  std::int64_t rows = 1, resultRows = 1, mostBetween = 0; ///< of a part; between two steps

  Resize(Parts cut, std::vector<Step> unsorted)
      : parts(std::move(cut)), steps(std::move(unsorted)) {
    sortSteps(steps);
    rows = core::elementCount(parts.extents);
    Shape extents = parts.extents;
    for (const Step &step : steps) {
      extents[step.dimension] = step.pass.matrix().rows();
      resultRows = core::elementCount(extents);
      if (&step != &steps.back())
        mostBetween = std::max(mostBetween, resultRows);
    }
  }

  /// Resizes one part; `buffers` have room for what lies between two steps.
  void apply(Rows<const float> x, Rows<float> y, std::int64_t lanes,
             std::vector<float> *buffers) const {
    Shape extents = parts.extents;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const auto at = static_cast<std::ptrdiff_t>(steps[i].dimension);
      const Rows<float> to = i + 1 == steps.size() ? y : Rows<float>{buffers[i % 2].data(), lanes};
      const auto product = [](auto begin, auto end) {
        return std::accumulate(begin, end, std::int64_t{1}, std::multiplies<>());
      };
      steps[i].pass.apply(x, to, product(extents.begin(), extents.begin() + at),
                          product(extents.begin() + at + 1, extents.end()), lanes);
      extents[steps[i].dimension] = steps[i].pass.matrix().rows();
      x = {to.data, to.stride};
    }
  }
};

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

/// A part whose operand, result or both are stored as bf16 is computed on copies in f32.
template <typename From, typename To>
void resizePart(const Resize &resize, Rows<const From> x, Rows<To> y, std::int64_t lanes,
                std::vector<float> *buffers) {
  Rows<const float> source{nullptr, lanes};
  Rows<float> target{nullptr, lanes};
  if constexpr (std::is_same_v<From, float>)
    source = x;
  else {
    toFloat(x, buffers[2].data(), resize.rows, lanes);
    source.data = buffers[2].data();
  }
  if constexpr (std::is_same_v<To, float>)
    target = y;
  else
    target.data = buffers[3].data();
  resize.apply(source, target, lanes, buffers);
  if constexpr (!std::is_same_v<To, float>)
    toBf16(target.data, y, resize.resultRows, lanes);
}

template <typename From, typename To> void resizeAll(const Resize &resize, const From *x, To *y) {
  const Parts &parts = resize.parts;
  const std::int64_t cuts = (parts.stride + parts.lanes - 1) / parts.lanes;
#pragma omp parallel if (parts.outer * cuts > 1)
  {
    std::vector<float> buffers[4];
    const auto grow = [&](int i, std::int64_t rows) {
      buffers[i].resize(static_cast<std::size_t>(rows * parts.lanes));
    };
    grow(0, resize.mostBetween);
    if (resize.steps.size() > 2)
      grow(1, resize.mostBetween);
    if constexpr (!std::is_same_v<From, float>)
      grow(2, resize.rows);
    if constexpr (!std::is_same_v<To, float>)
      grow(3, resize.resultRows);
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < parts.outer * cuts; ++i) {
      const std::int64_t outer = i / cuts, lane = i % cuts * parts.lanes;
      resizePart<From, To>(resize, {x + outer * resize.rows * parts.stride + lane, parts.stride},
                           {y + outer * resize.resultRows * parts.stride + lane, parts.stride},
                           std::min(parts.lanes, parts.stride - lane), buffers);
    }
  }
}

/// `from` and `to` are x and y forward, dy and dx backward.
void appendResize(Preparation &p, const core::Resampling &r, Tensor from, Tensor to,
                  bool isBackward) {
  core::checkResample(p, isBackward ? to : from, isBackward ? from : to, r);
  const Layout stored = p.layout(from);
  const bool isKept = keepsLayout(stored, r.axes);
  const Layout source = isKept ? stored : p.plain(from);
  const Layout target = isKept ? *likeLayout(stored, p.shape(to)) : p.plain(to);
  const auto first = static_cast<std::size_t>(r.axes.front());
  const Parts parts = partsOf(source, first, static_cast<std::size_t>(r.axes.back()));
  std::vector<Step> steps;
  for (std::size_t i = 0; i < r.axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(r.axes[i]);
    const std::int64_t before = p.shape(from)[axis], after = p.shape(to)[axis];
    const core::Bands matrix = isBackward ? core::transposed(core::bandsOf(r, i, after, before))
                                          : core::bandsOf(r, i, before, after);
    steps.push_back({axis - (isPlain(source) ? first : 2), ResamplePass(matrix)});
  }
  withElement(source, [&]<typename From>(From) {
    withElement(target, [&]<typename To>(To) {
      p.call("passes", [x = p.input(from, source), y = p.output(to, target),
                        resize = Resize(parts, std::move(steps))] {
        resizeAll(resize, pointer<const From>(x), pointer<To>(y));
      });
    });
  });
}

} // namespace

void CpuBuilder::resample(std::string_view layer, Tensor x, Tensor y, const Shape &axes,
                          const Shape &coordinates, std::int64_t filter, double cubicCoefficient,
                          bool excludeOutside, bool antialias) {
  prepare("resample", layer, [&](Preparation &p) {
    appendResize(p,
                 {axes, coordinates, static_cast<ResampleFilter>(filter), cubicCoefficient,
                  excludeOutside, antialias},
                 x, y, /*isBackward=*/false);
  });
}

void CpuBuilder::resampleBackward(std::string_view layer, Tensor dy, Tensor dx, const Shape &axes,
                                  const Shape &coordinates, std::int64_t filter,
                                  double cubicCoefficient, bool excludeOutside, bool antialias) {
  prepare("resampleBackward", layer, [&](Preparation &p) {
    appendResize(p,
                 {axes, coordinates, static_cast<ResampleFilter>(filter), cubicCoefficient,
                  excludeOutside, antialias},
                 dy, dx, /*isBackward=*/true);
  });
}

} // namespace syncline::cpu
