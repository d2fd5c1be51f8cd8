// The engines of convolutions that were chosen by time, as text, so that later runs and other ranks
// take the same ones and compute the same bits.
//
// The table has a comment, a line with the columns' names, and a line for each convolution:
//
//     device  cudnn  precision  operation  layer  geometry  layout  engine  milliseconds
//
// with tabs between them. All columns before `engine` are its key. Lines of other devices,
// versions, precisions and models stay as they are, so that one file serves several of them.
#pragma once

#include "syncline/Status.h"

#include <map>
#include <optional>
#include <string>

namespace syncline::cuda {

struct ChosenEngine {
  std::string name;
  double seconds = 0; ///< when it was timed
};

class EngineTable {
public:
  /// Reads a table; the empty text is an empty one. Errors: badInput, with the line.
  static Result<EngineTable> parse(const std::string &text);

  /// A key of these columns. Tabs and line ends in them become spaces.
  static std::string key(std::initializer_list<std::string> columns);

  std::optional<ChosenEngine> find(const std::string &key) const;
  void set(const std::string &key, const ChosenEngine &engine) { engines[key] = engine; }
  std::string text() const;

private:
  std::map<std::string, ChosenEngine> engines; ///< by key
};

} // namespace syncline::cuda
