// Reads names and shapes, one parameter a line.
#include "frontend/onnx/ParameterList.h"

#include "frontend/onnx/TensorData.h"

#include "llvm/ADT/StringSet.h"

#include <optional>

using namespace syncline;
using namespace syncline::frontend;

/// The numbers of "(10, 64)", "(64,)", "()", "torch.Size([10, 64])" or "torch.Size([])".
static std::optional<nn::Dims> readShape(llvm::StringRef text) {
  const bool isSize = text.consume_front("torch.Size([");
  if (isSize ? !text.consume_back("])") : !text.consume_front("(") || !text.consume_back(")"))
    return std::nullopt;
  nn::Dims dims;
  text = text.trim(' ');
  while (!text.empty()) {
    std::int64_t size = 0;
    if (text.consumeInteger(10, size))
      return std::nullopt;
    dims.push_back(size);
    text = text.ltrim(' ');
    if (!text.empty() && !text.consume_front(","))
      return std::nullopt;
    text = text.ltrim(' ');
  }
  return isSaneShape(dims) ? std::optional(dims) : std::nullopt;
}

Result<ParameterList> frontend::parseParameterList(llvm::StringRef text) {
  ParameterList list;
  llvm::StringSet<> names;
  for (int number = 1; !text.empty(); ++number) {
    const auto [whole, rest] = text.split('\n');
    text = rest;
    const llvm::StringRef line = whole.trim();
    if (line.empty())
      continue;
    const auto [name, shape] = line.split(' ');
    std::optional<nn::Dims> dims = readShape(shape.ltrim());
    const std::string where = "line " + std::to_string(number) + ": ";
    if (!dims)
      return Status::badInput(where + "expected a name and a shape such as 'fc.weight (10, 64)', " +
                              "got '" + line.take_front(80).str() + "'");
    if (!names.insert(name).second)
      return Status::badInput(where + "'" + name.str() + "' is listed twice");
    list.push_back({name.str(), std::move(*dims)});
  }
  if (list.empty())
    return Status::badInput("expected names and shapes of parameters, got an empty file");
  return list;
}

std::string frontend::describe(const ListedParameter &parameter) {
  std::string text = "'" + parameter.name + "' (";
  for (std::size_t i = 0; i < parameter.dims.size(); ++i)
    text += (i ? ", " : "") + std::to_string(parameter.dims[i]);
  return text + ")";
}
