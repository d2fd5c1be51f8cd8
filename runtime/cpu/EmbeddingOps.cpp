// Rows of a table by their numbers, and the sums of what returns to them.
#include "runtime/core/Embedding.h"
#include "runtime/cpu/CpuBuilder.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <omp.h>
#include <vector>

namespace syncline::cpu {

namespace {

/// Some rows of a table, by number.
struct TableRows {
  std::int64_t count; ///< of ids
  std::int64_t rows;  ///< of the table
  std::int64_t width; ///< elements of a row
};

TableRows tableRows(const Preparation &p, Tensor ids, Tensor table) {
  const std::int64_t rows = p.shape(table)[0];
  return {core::elementCount(p.shape(ids)), rows, core::elementCount(p.shape(table)) / rows};
}

void takeRows(const TableRows &of, const std::int64_t *ids, const float *table, float *y) {
#pragma omp parallel for if (of.count * of.width >= 1 << 15)
  for (std::int64_t i = 0; i < of.count; ++i) {
    const std::int64_t row = core::embeddingRow(ids[i], of.rows);
    if (row < 0)
      std::fill_n(y + i * of.width, of.width, NAN);
    else
      std::copy_n(table + row * of.width, of.width, y + i * of.width);
  }
}

/// The places in `ids` of known rows, in the order of the rows and then of the places.
std::vector<std::pair<std::int64_t, std::int64_t>> byRow(const TableRows &of,
                                                         const std::int64_t *ids) {
  std::vector<std::pair<std::int64_t, std::int64_t>> places;
  for (std::int64_t i = 0; i < of.count; ++i)
    if (const std::int64_t row = core::embeddingRow(ids[i], of.rows); row >= 0)
      places.emplace_back(row, i);
  std::sort(places.begin(), places.end());
  return places;
}

/// Makes dtable what the rows are added onto: `onto`, zeroes where that is null, or as it is where
/// they are one.
void prepareTable(const TableRows &of, const float *onto, float *dtable) {
  if (onto == dtable)
    return;
  const std::int64_t elements = of.rows * of.width;
  constexpr std::int64_t block = 1 << 18;
#pragma omp parallel for if (elements >= 2 * block)
  for (std::int64_t begin = 0; begin < elements; begin += block) {
    const auto bytes = static_cast<std::size_t>(std::min(block, elements - begin)) * sizeof(float);
    if (onto)
      std::memcpy(dtable + begin, onto + begin, bytes);
    else
      std::memset(dtable + begin, 0, bytes);
  }
}

/// Sums in double, which are rounded once: a frequent word's row is a sum over thousands of places.
void addRows(const TableRows &of, const std::int64_t *ids, const float *dy, const float *onto,
             float *dtable) {
  const auto places = byRow(of, ids);
  std::vector<std::size_t> begins; // of each row's places, and the end
  for (std::size_t i = 0; i < places.size(); ++i)
    if (i == 0 || places[i].first != places[i - 1].first)
      begins.push_back(i);
  const std::size_t runs = begins.size();
  begins.push_back(places.size());
  prepareTable(of, onto, dtable);
  // No exception may leave a parallel region, so memory is allocated in front of it.
  const bool isParallel = of.count * of.width >= 1 << 15;
  const auto width = static_cast<std::size_t>(of.width);
  std::vector<double> sums(width *
                           static_cast<std::size_t>(isParallel ? omp_get_max_threads() : 1));
#pragma omp parallel for schedule(dynamic, 16) if (isParallel)
  for (std::size_t run = 0; run < runs; ++run) {
    float *const row = dtable + places[begins[run]].first * of.width;
    double *const sum = &sums[width * static_cast<std::size_t>(omp_get_thread_num())];
    std::copy(row, row + width, sum);
    for (std::size_t i = begins[run]; i < begins[run + 1]; ++i)
      for (std::size_t k = 0; k < width; ++k)
        sum[k] += dy[static_cast<std::size_t>(places[i].second) * width + k];
    std::transform(sum, sum + width, row, [](double value) { return static_cast<float>(value); });
  }
}

} // namespace

void CpuBuilder::embedding(std::string_view layer, Tensor ids, Tensor table, Tensor y) {
  prepare("embedding", layer, [&](Preparation &p) {
    core::checkEmbedding(p, ids, table, y);
    p.call("copies", [of = tableRows(p, ids, table), ids = p.plainInput(ids),
                      table = p.plainInput(table), y = p.plainOutput(y)] {
      takeRows(of, pointer<std::int64_t>(ids), pointer<float>(table), pointer<float>(y));
    });
  });
}

void CpuBuilder::embeddingBackward(std::string_view layer, Tensor ids, Tensor dy, Tensor onto,
                                   Tensor dtable) {
  prepare("embeddingBackward", layer, [&](Preparation &p) {
    core::checkEmbeddingBackward(p, ids, dy, onto, dtable);
    const TableRows of = tableRows(p, ids, dtable);
    const dnnl::memory below = onto.isValid() ? p.plainInput(onto) : dnnl::memory();
    p.call("sums in double", [of, below, hasBelow = onto.isValid(), ids = p.plainInput(ids),
                              dy = p.plainInput(dy), dtable = p.plainOutput(dtable)] {
      addRows(of, pointer<std::int64_t>(ids), pointer<float>(dy),
              hasBelow ? pointer<float>(below) : nullptr, pointer<float>(dtable));
    });
  });
}

} // namespace syncline::cpu
