// Whether the operands of each operation fit each other, for every backend: what passes can be
// computed without reading or writing outside a tensor.
//
// All functions throw PreparationError (badInput) and look at shapes and at the types that must
// agree; which types a kernel takes at all is the backend's to say. Invalid handles stand for
// operands that are absent where syncline/Step.h allows it. Negative axes count from the end.
#pragma once

#include "runtime/core/Operands.h"

#include <span>

namespace syncline {

void checkConv(const Operands &, Tensor x, Tensor w, Tensor bias, Tensor y, const Window &);
/// y and dy, x and dx alike: forward and backward have one geometry.
void checkPool(const Operands &, Tensor x, Tensor y, const Window &);
/// Also of u8: its window has at most 255 positions.
void checkPoolWorkspace(const Operands &, Tensor y, Tensor workspace, const Window &);
void checkMatmul(const Operands &, Tensor a, bool transposeA, Tensor b, bool transposeB,
                 Tensor bias, Tensor y);
/// `channels`: tensors of one value a channel of x; invalid ones are skipped.
void checkChannels(const Operands &, Tensor x, std::initializer_list<Tensor> channels);
/// The workspace of a batch normalization; looked at with an activation only.
void checkMask(const Operands &, Tensor y, Tensor workspace, Activation);
void checkCrossEntropy(const Operands &, Tensor logits, Tensor target, Tensor loss, Tensor dlogits);
void checkMeanSquaredError(const Operands &, Tensor y, Tensor target, Tensor loss, Tensor dy);
void checkConcat(const Operands &, std::span<const Tensor> xs, Tensor y, std::int64_t axis);
/// `whole`: x of slice, dx of sliceBackward.
void checkSlice(const Operands &, Tensor whole, Tensor part, const Shape &starts,
                const Shape &steps);
void checkPad(const Operands &, Tensor x, Tensor y, const Shape &begins);
void checkTranspose(const Operands &, Tensor x, Tensor y, const Shape &permutation);
void checkReshape(const Operands &, Tensor x, Tensor y);
void checkReduce(const Operands &, Tensor x, Tensor y, const Shape &axes);
void checkPointwise(const Operands &, std::span<const Tensor> ins, std::span<const Tensor> outs,
                    const PointwiseInfo &);
void checkDropout(const Operands &, Tensor x, Tensor y, Tensor mask);
/// `out` is the ranks' `in`, one behind the other along dimension 0.
void checkGathered(const Operands &, Tensor in, Tensor out, int ranks);

} // namespace syncline
