// Which of a file's tensors a plan exchanges, and which it leaves out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace syncline::frontend {

class ImportGraph;
struct ModelFile;
struct ModelLayer;

/// Floating-point initialisers that are no parameters of the plan, for one reason.
struct LeftOut {
  std::string reason;
  std::vector<std::string> names; ///< in the file's order
  std::int64_t bytes = 0;
};

struct Inventory {
  std::int64_t parameters = 0, bytes = 0;
  std::vector<LeftOut> leftOut;

  void add(std::int64_t parameterBytes) {
    ++parameters;
    bytes += parameterBytes;
  }
};

/// Takes stock after an import. `planned` are the names of its parameters, of which `inventory`
/// knows number and bytes. Numbers of one element that the output needs are no tensors worth a
/// word. A note names parameters of PyTorch's files that may be none. The file's initialisers must
/// be in place.
void findLeftOut(const ModelFile &file, ImportGraph &graph, const std::vector<std::string> &planned,
                 Inventory &inventory);

} // namespace syncline::frontend
