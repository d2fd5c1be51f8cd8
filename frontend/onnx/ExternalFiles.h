// The files beside a model that hold its values.
#pragma once

#include "frontend/onnx/ModelFile.h"
#include "frontend/onnx/Notes.h"

#include <string>
#include <vector>

namespace syncline::frontend {

/// The files from which the model at `path` reads external data, links resolved, sorted. Leaves out
/// what readModelFile() and findExternal() refuse, so that a path that is no model has none.
std::vector<std::string> externalFilesOf(const std::string &path);

/// Compares files with the SHA-1 that tensors state of theirs as "checksum". A checksum that is no
/// SHA-1 is noted, and files that cannot be read are left to who needs them. Errors: badInput,
/// naming the tensor and the file whose SHA-1 is another one.
Status compareChecksums(const ModelFile &file, Notes &notes);

} // namespace syncline::frontend
