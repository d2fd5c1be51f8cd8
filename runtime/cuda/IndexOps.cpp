// Entries of a dimension by their numbers, and the largest elements of rows, by own kernels.
#include "runtime/cuda/CudaBuilder.h"
#include "runtime/cuda/kernels/IndexKernels.h"

namespace syncline::cuda {

namespace {

template <typename Index>
void appendGather(Preparation &p, Program &program, const core::IndexedRows &of, Tensor x,
                  Tensor indices, Tensor y) {
  p.call("copies",
         [&program, of, indices = p.input<Index>(indices), x = p.input(x), y = p.output(y)] {
           const Index *const numbers = indices;
           SYNCLINE_CHECK(cuda::gatherRows(program.device.compute, of, numbers, x, y));
         });
}

template <typename Index>
void appendScatter(Preparation &p, Program &program, const core::IndexedRows &of, ScatterKind kind,
                   Tensor updates, Tensor indices, Tensor onto, Tensor y) {
  const auto below = onto.isValid() ? p.input(onto) : Place<const float>();
  p.call("by entry", [&program, of, kind, below, indices = p.input<Index>(indices),
                      updates = p.input(updates), y = p.output(y)] {
    const Index *const numbers = indices;
    SYNCLINE_CHECK(cuda::scatterRows(program.device.compute, of, kind, numbers, updates, below, y));
  });
}

} // namespace

void CudaBuilder::gatherRows(std::string_view layer, Tensor x, Tensor indices, Tensor y,
                             std::int64_t axis, std::int64_t shared) {
  prepare("gatherRows", layer, [&](Preparation &p) {
    core::checkIndexedRows(p, x, indices, y, axis, shared);
    const auto of = core::indexedRows(p, x, indices, axis, shared);
    if (p.info(indices).type == ElementType::i64)
      appendGather<std::int64_t>(p, program, of, x, indices, y);
    else
      appendGather<float>(p, program, of, x, indices, y);
  });
}

void CudaBuilder::scatterRows(std::string_view layer, Tensor updates, Tensor indices, Tensor onto,
                              Tensor y, std::int64_t axis, std::int64_t shared, std::int64_t kind) {
  prepare("scatterRows", layer, [&](Preparation &p) {
    core::checkScatteredRows(p, updates, indices, onto, y, axis, shared, kind);
    const auto of = core::indexedRows(p, y, indices, axis, shared);
    const auto how = static_cast<ScatterKind>(kind);
    if (p.info(indices).type == ElementType::i64)
      appendScatter<std::int64_t>(p, program, of, how, updates, indices, onto, y);
    else
      appendScatter<float>(p, program, of, how, updates, indices, onto, y);
  });
}

void CudaBuilder::topK(std::string_view layer, Tensor x, Tensor values, Tensor indices,
                       bool largest) {
  prepare("topK", layer, [&](Preparation &p) {
    core::checkTopK(p, x, values, indices);
    const std::int64_t size = p.shape(x).back(), count = p.shape(values).back();
    p.call("rows", [&program = program, size, count, largest, rows = p.count(x) / size,
                    x = p.input(x), values = p.output(values), indices = p.output(indices)] {
      SYNCLINE_CHECK(
          cuda::topK(program.device.compute, rows, size, count, largest, x, values, indices));
    });
  });
}

} // namespace syncline::cuda
