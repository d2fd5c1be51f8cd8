// Rows of a table by their numbers, by the backend's kernels.
#include "runtime/cuda/CudaBuilder.h"
#include "runtime/cuda/kernels/EmbeddingKernels.h"

namespace syncline::cuda {

namespace {

EmbeddingShape embeddingShape(const Preparation &p, Tensor ids, Tensor table) {
  const std::int64_t rows = p.shape(table)[0];
  return {p.count(ids), rows, p.count(table) / rows};
}

} // namespace

void CudaBuilder::embedding(std::string_view layer, Tensor ids, Tensor table, Tensor y) {
  prepare("embedding", layer, [&](Preparation &p) {
    core::checkEmbedding(p, ids, table, y);
    p.call("copies", [&program = program, shape = embeddingShape(p, ids, table),
                      ids = p.input<std::int64_t>(ids), table = p.input(table), y = p.output(y)] {
      SYNCLINE_CHECK(cuda::embedding(program.device.compute, shape, ids, table, y));
    });
  });
}

void CudaBuilder::embeddingBackward(std::string_view layer, Tensor ids, Tensor dy, Tensor onto,
                                    Tensor dtable) {
  prepare("embeddingBackward", layer, [&](Preparation &p) {
    core::checkEmbeddingBackward(p, ids, dy, onto, dtable);
    const auto below = onto.isValid() ? p.input(onto) : Place<const float>();
    p.call("rows", [&program = program, shape = embeddingShape(p, ids, dtable), below,
                    ids = p.input<std::int64_t>(ids), dy = p.input(dy), to = p.output(dtable)] {
      SYNCLINE_CHECK(cuda::embeddingBackward(program.device.compute, shape, ids, dy, below, to));
    });
  });
}

} // namespace syncline::cuda
