// Gives every parameter its own tensor again, where PyTorch's optimizer made one of equal ones.
#pragma once

#include "frontend/onnx/ModelFile.h"

namespace syncline::frontend {

/// PyTorch's optimizer keeps one initialiser of those that begin with equal values, as freshly made
/// scales or copied layers do. The exporter says for each node of which parameters it was made, so
/// a node that stands for another parameter than the initialiser's first reader gets a copy. What
/// is one parameter for all its readers, as tied embeddings are, stays one. Files of other
/// exporters are left alone. badInput names merged tensors of which it is not known whose they are,
/// and two tensors that are one parameter; with `mayDoubt` they stay as they are.
Status partMerged(ModelFile &file, bool mayDoubt);

} // namespace syncline::frontend
