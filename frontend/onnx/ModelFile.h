// Reading an ONNX file into memory, and what holds for the file as a whole.
#pragma once

#include "frontend/onnx/ExternalData.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace onnx {
class ModelProto;
class TensorProto;
} // namespace onnx

namespace syncline::frontend {

/// Operator sets of the default domain that the importer knows.
inline constexpr std::int64_t oldestOpset = 7, newestOpset = 24;

struct ModelFile {
  ModelFile();
  ModelFile(ModelFile &&);
  ~ModelFile();

  std::string path;
  DataFolders folders; ///< where external data is looked for
  std::string stem;    ///< the file's name without folder and extension
  std::int64_t opset;  ///< of the default domain
  /// Without initialisers: those are moved to `initializers`, so that each can be handed on alone.
  std::unique_ptr<onnx::ModelProto> model;
  std::vector<std::unique_ptr<onnx::TensorProto>> initializers; ///< in the file's order

  // Nodes of functions, branches and loops are copied behind the file's own; see Inline.h.
  int ownNodes = 0;
  std::vector<bool> isCall;         ///< of the file's own nodes: copies stand for it
  std::vector<std::int64_t> orders; ///< node → the place in the file of what it stands for
  llvm::StringSet<> names;          ///< of nodes and values, once a copy needs a new one
  llvm::StringMap<int> repeated;    ///< name → how many new names begin with it
  std::uint64_t copiedBytes = 0;    ///< in attributes of copies
};

/// Whether operators of the domain are ONNX's own.
bool isDefaultDomain(const std::string &domain);

/// Reads and parses `path`. The installed ONNX library's checker is not asked: it refuses files
/// with a newer IR version. Messages name the file.
Result<ModelFile> readModelFile(const std::string &path);

/// Calls `visit` for each initialiser and each tensor of an attribute. Subgraphs and functions are
/// part of the model.
void forEachTensor(onnx::ModelProto &model, llvm::function_ref<void(onnx::TensorProto &)> visit);

} // namespace syncline::frontend
