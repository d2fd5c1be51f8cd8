// Resizing of dimensions by the backend's kernel, in the operand's layout.
#include "runtime/core/Resample.h"
#include "runtime/cuda/CudaBuilder.h"
#include "runtime/cuda/kernels/ResampleKernels.h"

#include <algorithm>
#include <bit>

namespace syncline::cuda {

namespace {

/// The matrices of the resized dimensions, in device memory.
struct Tables {
  DeviceMemory memory;
  std::vector<ResampleAxis> axes;
};

std::shared_ptr<const Tables> upload(const Preparation &p, const std::vector<core::Bands> &all) {
  std::vector<std::int32_t> words;
  std::vector<std::size_t> begins;
  for (const core::Bands &each : all) {
    begins.push_back(words.size());
    words.insert(words.end(), each.firsts.begin(), each.firsts.end());
    for (const std::int64_t begin : each.begins)
      words.push_back(static_cast<std::int32_t>(begin));
    for (const float weight : each.weights)
      words.push_back(std::bit_cast<std::int32_t>(weight));
  }
  auto tables = std::make_shared<Tables>();
  const std::size_t bytes = words.size() * sizeof(std::int32_t);
  tables->memory = DeviceMemory(static_cast<std::int64_t>(bytes));
  p.program.device.copy(tables->memory.data(), words.data(), bytes, cudaMemcpyHostToDevice);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto *const firsts =
        reinterpret_cast<const std::int32_t *>(tables->memory.data()) + begins[i];
    const std::int32_t *const rows = firsts + all[i].rows();
    tables->axes.push_back(
        {firsts, rows, reinterpret_cast<const float *>(rows + all[i].rows() + 1)});
  }
  return tables;
}

/// The matrix of a dimension that stays.
core::Bands identityOfOne() {
  core::Bands one;
  one.columns = 1;
  one.firsts = {0};
  one.begins = {0, 1};
  one.weights = {1};
  return one;
}

/// The dimensions' numbers in memory's order.
Shape memoryOrder(std::int64_t rank, bool isChannelsLast) {
  Shape order;
  for (std::int64_t d = 0; d < rank; ++d)
    if (d != 1 || !isChannelsLast)
      order.push_back(d);
  if (isChannelsLast)
    order.push_back(1);
  return order;
}

/// Fills in the map's extents. `axes` are the resized dimensions, in memory's order.
void setExtents(ResampleMap &map, const Shape &from, const Shape &to, const Shape &order,
                const Shape &axes) {
  std::uint32_t beside[3] = {1, 1, 1};
  std::size_t d = 3 - axes.size(); // of the map, the next resized one
  for (const std::int64_t dimension : order) {
    const auto i = static_cast<std::size_t>(dimension);
    if (std::ranges::find(axes, dimension) != axes.end()) {
      map.from[d] = static_cast<std::uint32_t>(from[i]);
      map.to[d++] = Divisor(static_cast<std::uint32_t>(to[i]));
    } else if (d > 3 - axes.size()) // others lie before all that is resized
      beside[d - 1] *= static_cast<std::uint32_t>(to[i]);
  }
  for (d = 0; d < 3; ++d)
    map.beside[d] = Divisor(beside[d]);
}

/// `from` and `to` are x and y forward, dy and dx backward.
void appendResample(Preparation &p, const core::Resampling &r, Tensor from, Tensor to,
                    bool isBackward) {
  core::checkResample(p, isBackward ? to : from, isBackward ? from : to, r);
  p.expectCountable(from);
  p.expectCountable(to);
  const Layout layout = p.imageLayout(from);
  const Shape order = memoryOrder(p.rank(from), layout.isChannelsLast);
  std::vector<core::Bands> matrices(3 - r.axes.size(), identityOfOne());
  Shape axes;
  for (const std::int64_t dimension : order) {
    const auto found = std::ranges::find(r.axes, dimension);
    if (found == r.axes.end())
      continue;
    const auto number = static_cast<std::size_t>(found - r.axes.begin());
    const auto i = static_cast<std::size_t>(dimension);
    const std::int64_t before = p.shape(from)[i], after = p.shape(to)[i];
    matrices.push_back(isBackward ? core::transposed(core::bandsOf(r, number, after, before))
                                  : core::bandsOf(r, number, before, after));
    axes.push_back(dimension);
  }
  const auto tables = upload(p, matrices);
  ResampleMap map;
  setExtents(map, p.shape(from), p.shape(to), order, axes);
  std::ranges::copy(tables->axes, map.axes);
  withElement(layout.type, [&]<typename T> {
    p.call("sums", [&program = p.program, map, tables, x = p.input<T>(from, layout),
                    y = p.output<T>(to, layout), n = static_cast<std::uint32_t>(p.count(to))] {
      SYNCLINE_CHECK(cuda::resample<T>(program.device.compute, map, x, y, n));
    });
  });
}

} // namespace

void CudaBuilder::resample(std::string_view layer, Tensor x, Tensor y, const Shape &axes,
                           const Shape &coordinates, std::int64_t filter, double cubicCoefficient,
                           bool excludeOutside, bool antialias) {
  prepare("resample", layer, [&](Preparation &p) {
    appendResample(p,
                   {axes, coordinates, static_cast<ResampleFilter>(filter), cubicCoefficient,
                    excludeOutside, antialias},
                   x, y, /*isBackward=*/false);
  });
}

void CudaBuilder::resampleBackward(std::string_view layer, Tensor dy, Tensor dx, const Shape &axes,
                                   const Shape &coordinates, std::int64_t filter,
                                   double cubicCoefficient, bool excludeOutside, bool antialias) {
  prepare("resampleBackward", layer, [&](Preparation &p) {
    appendResample(p,
                   {axes, coordinates, static_cast<ResampleFilter>(filter), cubicCoefficient,
                    excludeOutside, antialias},
                   dy, dx, /*isBackward=*/true);
  });
}

} // namespace syncline::cuda
