// Scaling images, first each row, then each column.
#include "runtime/data/Image.h"

#include <algorithm>
#include <cmath>

namespace syncline::data {
namespace {

/// The weights by which one element of the result is made of elements [first, first + count).
struct Mean {
  std::int64_t first = 0;
  std::vector<float> weights;
};

std::vector<Mean> meansFor(std::int64_t size, double begin, double end, std::int64_t results) {
  const double scale = (end - begin) / static_cast<double>(results);
  const double radius = std::max(scale, 1.0); // half the triangle's width
  std::vector<Mean> means(static_cast<std::size_t>(results));
  for (std::int64_t i = 0; i < results; ++i) {
    Mean &mean = means[static_cast<std::size_t>(i)];
    const double center = begin + (static_cast<double>(i) + 0.5) * scale;
    mean.first = std::max<std::int64_t>(static_cast<std::int64_t>(center - radius + 0.5), 0);
    const auto last = std::min(static_cast<std::int64_t>(center + radius + 0.5), size);
    std::vector<double> weights;
    double sum = 0;
    for (std::int64_t j = mean.first; j < last; ++j) {
      const double distance = std::abs(static_cast<double>(j) + 0.5 - center) / radius;
      weights.push_back(std::max(1 - distance, 0.0));
      sum += weights.back();
    }
    for (const double weight : weights)
      mean.weights.push_back(static_cast<float>(weight / sum));
  }
  return means;
}

} // namespace

Image scaled(const Image &from, const Box &box, std::int64_t height, std::int64_t width) {
  const std::vector<Mean> columns = meansFor(from.width, box.left, box.right, width);
  const std::vector<Mean> rows = meansFor(from.height, box.top, box.bottom, height);
  const std::int64_t firstRow = rows.front().first;
  const std::int64_t lastRow =
      rows.back().first + static_cast<std::int64_t>(rows.back().weights.size());
  Image narrow, result; // `narrow` has the rows that the result needs
  narrow.resize(1, lastRow - firstRow, width);
  result.resize(from.channels, height, width);
  for (std::int64_t c = 0; c < from.channels; ++c) {
    const float *plane = from.values.data() + c * from.height * from.width;
    for (std::int64_t y = firstRow; y < lastRow; ++y)
      for (std::int64_t x = 0; x < width; ++x) {
        const Mean &mean = columns[static_cast<std::size_t>(x)];
        const float *pixel = plane + y * from.width + mean.first;
        float sum = 0;
        for (const float weight : mean.weights)
          sum += weight * *pixel++;
        narrow.values[static_cast<std::size_t>((y - firstRow) * width + x)] = sum;
      }
    float *to = result.values.data() + c * height * width;
    for (std::int64_t y = 0; y < height; ++y, to += width) {
      const Mean &mean = rows[static_cast<std::size_t>(y)];
      const float *row = narrow.values.data() + (mean.first - firstRow) * width;
      for (const float weight : mean.weights) {
        for (std::int64_t x = 0; x < width; ++x)
          to[x] += weight * row[x];
        row += width;
      }
    }
  }
  return result;
}

} // namespace syncline::data
