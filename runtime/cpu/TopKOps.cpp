// The largest or smallest elements of rows.
#include "runtime/core/TopOrder.h"
#include "runtime/cpu/CpuBuilder.h"

#include <algorithm>
#include <numeric>
#include <omp.h>
#include <vector>

namespace syncline::cpu {

namespace {

/// `order` has room for the places of a row.
void sortRow(const float *x, std::int64_t size, std::int64_t count, bool largest,
             std::int64_t *order, float *values, float *indices) {
  std::iota(order, order + size, std::int64_t{0});
  std::partial_sort(order, order + count, order + size, [=](std::int64_t i, std::int64_t j) {
    return core::comesBefore(x[i], i, x[j], j, largest);
  });
  for (std::int64_t i = 0; i < count; ++i) {
    values[i] = x[order[i]];
    indices[i] = static_cast<float>(order[i]);
  }
}

} // namespace

void CpuBuilder::topK(std::string_view layer, Tensor x, Tensor values, Tensor indices,
                      bool largest) {
  prepare("topK", layer, [&](Preparation &p) {
    core::checkTopK(p, x, values, indices);
    const std::int64_t size = p.shape(x).back(), count = p.shape(values).back();
    p.call("partial sort", [size, count, largest, rows = p.count(x) / size, x = p.plainInput(x),
                            values = p.plainOutput(values), indices = p.plainOutput(indices)] {
      // No exception may leave a parallel region, so memory is allocated in front of it.
      const bool isParallel = rows * size >= 1 << 15;
      const auto threads = static_cast<std::size_t>(isParallel ? omp_get_max_threads() : 1);
      std::vector<std::int64_t> orders(static_cast<std::size_t>(size) * threads);
#pragma omp parallel for if (isParallel)
      for (std::int64_t row = 0; row < rows; ++row)
        sortRow(pointer<float>(x) + row * size, size, count, largest,
                &orders[static_cast<std::size_t>(size * omp_get_thread_num())],
                pointer<float>(values) + row * count, pointer<float>(indices) + row * count);
    });
  });
}

} // namespace syncline::cpu
