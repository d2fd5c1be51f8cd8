// Finds the tensors of a file that a list of parameters names.
#pragma once

#include "frontend/onnx/GraphIndex.h"
#include "frontend/onnx/Notes.h"
#include "frontend/onnx/ParameterList.h"

namespace syncline::frontend {

/// Fills index.listed with the tensors that the list calls parameters:
/// - initialisers, generators, and names that an Identity gives an initialiser;
/// - weights, and scales or biases of one dimension, that the exporter renamed: as many as listed
///   names with their shape, dimensions of 1 and transposition aside, are not in the file. A note
///   names these tensors. What the exporter computed of parameters, as 3·b, is none of them.
/// badInput where the file lacks a listed parameter, has another shape of it or holds integers
/// there, and where more tensors have its shape than names are left. With `mayLack`, and the
/// exporter's word on what nodes were made of, such parameters are index.folded instead.
Status findListed(const ModelFile &file, const ParameterList &list, bool mayLack, GraphIndex &index,
                  Notes &notes);

} // namespace syncline::frontend
