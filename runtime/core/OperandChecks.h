// Checks, for every backend, that the operands of an operation fit each other. An operation that
// passes can be computed without reading or writing outside a tensor.
//
// All functions throw PreparationError (badInput). They check shapes and the types that must agree,
// and f32 where no backend takes another type; otherwise each backend checks which types its
// kernels take. An invalid handle stands for an operand that is absent, where syncline/Step.h
// allows it. Negative axes count from the end.
#pragma once

#include "runtime/core/Operands.h"

#include <span>

namespace syncline::core {

void checkConv(const Operands &, Tensor x, Tensor w, Tensor bias, Tensor y, const Window &);
/// Serves forward and backward: pass dy for y and dx for x, which have the same shapes.
void checkPool(const Operands &, Tensor x, Tensor y, const Window &);
/// A u8 workspace allows windows of at most 255 positions.
void checkPoolWorkspace(const Operands &, Tensor y, Tensor workspace, const Window &);
void checkMatmul(const Operands &, Tensor a, bool transposeA, Tensor b, bool transposeB,
                 Tensor bias, Tensor y);
/// `channels` are tensors with one value for each channel of x. Invalid handles are skipped.
void checkChannels(const Operands &, Tensor x, std::initializer_list<Tensor> channels);
/// Checks that x is f32 and the others have its shape and type.
void checkAlike(const Operands &, Tensor x, std::initializer_list<Tensor> others);
/// Checks that `learned` have the shape of x's last dimensions. Invalid handles are skipped.
void checkLayerNorm(const Operands &, Tensor x, std::initializer_list<Tensor> learned);
/// Checks the workspace of a batch normalization. Without an activation the workspace is not used
/// and not checked.
void checkMask(const Operands &, Tensor y, Tensor workspace, Activation);
void checkCrossEntropy(const Operands &, Tensor logits, Tensor target, Tensor weights, Tensor loss,
                       Tensor dlogits);
void checkMeanSquaredError(const Operands &, Tensor y, Tensor target, Tensor loss, Tensor dy);
void checkEmbedding(const Operands &, Tensor ids, Tensor table, Tensor y);
void checkEmbeddingBackward(const Operands &, Tensor ids, Tensor dy, Tensor onto, Tensor dtable);
/// `whole` is x of gatherRows or the result of scatterRows, `rows` the other.
void checkIndexedRows(const Operands &, Tensor whole, Tensor indices, Tensor rows,
                      std::int64_t axis, std::int64_t shared);
void checkScatteredRows(const Operands &, Tensor updates, Tensor indices, Tensor onto, Tensor y,
                        std::int64_t axis, std::int64_t shared, std::int64_t kind);
void checkTopK(const Operands &, Tensor x, Tensor values, Tensor indices);
/// The operands that a recurrent layer and its gradients have in common: x may be dx.
struct RecurrentTensors {
  Tensor x, r, bias, initial, lengths, y, last, saved;
};
/// `bias` is not checked where it is not valid.
void checkRecurrent(const Operands &, const RecurrentTensors &, std::int64_t cell, bool reverse);
void checkConcat(const Operands &, std::span<const Tensor> xs, Tensor y, std::int64_t axis);
/// `whole` is x of slice or dx of sliceBackward.
void checkSlice(const Operands &, Tensor whole, Tensor part, const Shape &starts,
                const Shape &steps);
void checkPad(const Operands &, Tensor x, Tensor y, const Shape &begins);
void checkTranspose(const Operands &, Tensor x, Tensor y, const Shape &permutation);
void checkReshape(const Operands &, Tensor x, Tensor y);
void checkReduce(const Operands &, Tensor x, Tensor y, const Shape &axes);
void checkPointwise(const Operands &, std::span<const Tensor> ins, std::span<const Tensor> outs,
                    const PointwiseInfo &);
void checkDropout(const Operands &, Tensor x, Tensor y, Tensor mask);
void checkNoise(const Operands &, Tensor y, std::int64_t distribution);
/// Checks that `out` has room for every rank's `in`, one behind the other along dimension 0.
void checkGathered(const Operands &, Tensor in, Tensor out, int ranks);

} // namespace syncline::core
