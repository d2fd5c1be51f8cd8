// Entries of a dimension by their numbers, taken and put back.
#include "runtime/core/IndexedRows.h"
#include "runtime/cpu/CpuBuilder.h"

#include <algorithm>
#include <cmath>
#include <omp.h>
#include <utility>
#include <vector>

namespace syncline::cpu {

namespace {

using core::IndexedRows;

constexpr std::int64_t parallelElements = 1 << 15;

/// The entry that each index names, or -1.
template <typename Index>
void nameRows(const IndexedRows &of, const Index *indices, std::int64_t *rows) {
  for (std::int64_t i = 0; i < of.shared * of.count; ++i)
    rows[i] = core::namedRow(indices[i], of.rows);
}

std::vector<std::int64_t> namedRows(const IndexedRows &of, const dnnl::memory &indices,
                                    bool areWhole) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(of.shared * of.count));
  if (areWhole)
    nameRows(of, pointer<std::int64_t>(indices), rows.data());
  else
    nameRows(of, pointer<float>(indices), rows.data());
  return rows;
}

void takeRows(const IndexedRows &of, const std::vector<std::int64_t> &rows, const float *x,
              float *y) {
  const std::int64_t all = of.shared * of.free * of.count;
#pragma omp parallel for if (of.entries() >= parallelElements)
  for (std::int64_t at = 0; at < all; ++at) {
    const std::int64_t block = at / of.count, i = at % of.count;
    const std::int64_t row = rows[static_cast<std::size_t>(block / of.free * of.count + i)];
    if (row < 0)
      std::fill_n(y + at * of.width, of.width, NAN);
    else
      std::copy_n(x + (block * of.rows + row) * of.width, of.width, y + at * of.width);
  }
}

/// Updates that go to one entry.
struct Run {
  std::int64_t shared, row;
  std::size_t begin, end;
};

/// Which updates go where: `places` are their numbers, those of each run in their order.
struct Runs {
  std::vector<std::int64_t> places;
  std::vector<Run> runs;
  std::vector<std::int64_t> spoilt; ///< the leading dimensions with an index that names no entry
};

Runs runsOf(const IndexedRows &of, const std::vector<std::int64_t> &rows) {
  std::vector<std::pair<std::int64_t, std::int64_t>> sorted; // entry and update
  Runs all;
  for (std::int64_t s = 0; s < of.shared; ++s) {
    bool isSpoilt = false;
    for (std::int64_t i = 0; i < of.count; ++i) {
      const std::int64_t row = rows[static_cast<std::size_t>(s * of.count + i)];
      isSpoilt |= row < 0;
      if (row >= 0)
        sorted.emplace_back(s * of.rows + row, i);
    }
    if (isSpoilt)
      all.spoilt.push_back(s);
  }
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i == 0 || sorted[i].first != sorted[i - 1].first)
      all.runs.push_back({sorted[i].first / of.rows, sorted[i].first % of.rows, i, i});
    all.runs.back().end = i + 1;
    all.places.push_back(sorted[i].second);
  }
  return all;
}

/// Combines all updates of one entry in double, which is rounded once.
void updateRow(const IndexedRows &of, const Runs &all, const Run &run, ScatterKind kind,
               const float *updates, double *wide, float *y) {
  for (std::int64_t f = 0; f < of.free; ++f) {
    const std::int64_t block = run.shared * of.free + f;
    float *const row = y + (block * of.rows + run.row) * of.width;
    std::copy_n(row, of.width, wide);
    for (std::size_t i = run.begin; i < run.end; ++i) {
      const float *const from = updates + (block * of.count + all.places[i]) * of.width;
      for (std::int64_t k = 0; k < of.width; ++k)
        wide[k] = core::scattered(kind, wide[k], from[k]);
    }
    std::transform(wide, wide + of.width, row, [](double v) { return static_cast<float>(v); });
  }
}

void putRows(const IndexedRows &of, const std::vector<std::int64_t> &rows, ScatterKind kind,
             const float *updates, const float *onto, float *y) {
  if (!onto)
    std::fill_n(y, of.elements(), 0.0f);
  else if (onto != y)
    std::copy_n(onto, of.elements(), y);
  const Runs all = runsOf(of, rows);
  // No exception may leave a parallel region, so memory is allocated in front of it.
  const bool isParallel = of.entries() >= parallelElements;
  const auto threads = static_cast<std::size_t>(isParallel ? omp_get_max_threads() : 1);
  std::vector<double> wide(static_cast<std::size_t>(of.width) * threads);
#pragma omp parallel for schedule(dynamic, 16) if (isParallel)
  for (std::size_t i = 0; i < all.runs.size(); ++i)
    updateRow(of, all, all.runs[i], kind, updates, &wide[of.width * omp_get_thread_num()], y);
  const std::int64_t block = of.free * of.rows * of.width;
  for (const std::int64_t s : all.spoilt)
    std::fill_n(y + s * block, block, NAN);
}

} // namespace

void CpuBuilder::gatherRows(std::string_view layer, Tensor x, Tensor indices, Tensor y,
                            std::int64_t axis, std::int64_t shared) {
  prepare("gatherRows", layer, [&](Preparation &p) {
    core::checkIndexedRows(p, x, indices, y, axis, shared);
    p.call("copies", [of = core::indexedRows(p, x, indices, axis, shared),
                      areWhole = p.info(indices).type == ElementType::i64,
                      indices = p.plainInput(indices), x = p.plainInput(x), y = p.plainOutput(y)] {
      takeRows(of, namedRows(of, indices, areWhole), pointer<float>(x), pointer<float>(y));
    });
  });
}

void CpuBuilder::scatterRows(std::string_view layer, Tensor updates, Tensor indices, Tensor onto,
                             Tensor y, std::int64_t axis, std::int64_t shared, std::int64_t kind) {
  prepare("scatterRows", layer, [&](Preparation &p) {
    core::checkScatteredRows(p, updates, indices, onto, y, axis, shared, kind);
    const dnnl::memory below = onto.isValid() ? p.plainInput(onto) : dnnl::memory();
    p.call("by entry",
           [of = core::indexedRows(p, y, indices, axis, shared), below, hasBelow = onto.isValid(),
            kind = static_cast<ScatterKind>(kind),
            areWhole = p.info(indices).type == ElementType::i64, indices = p.plainInput(indices),
            updates = p.plainInput(updates), y = p.plainOutput(y)] {
             putRows(of, namedRows(of, indices, areWhole), kind, pointer<float>(updates),
                     hasBelow ? pointer<float>(below) : nullptr, pointer<float>(y));
           });
  });
}

} // namespace syncline::cpu
