// Names and writes windows.
#include "codegen/step/Windows.h"

#include "codegen/step/Text.h"

using namespace mlir;

namespace syncline::codegen {

/// "3" when all are 3, "1x3" otherwise.
static std::string summary(llvm::ArrayRef<std::int64_t> values) {
  if (!values.empty() && llvm::all_equal(values))
    return std::to_string(values.front());
  std::string text;
  for (std::int64_t value : values)
    text += (text.empty() ? "" : "x") + std::to_string(value);
  return text;
}

std::string Windows::nameOf(plan::CallOp call) {
  const auto array = [&](StringRef name) {
    auto attribute = call->getAttrOfType<DenseI64ArrayAttr>(name);
    return attribute ? attribute.asArrayRef() : llvm::ArrayRef<std::int64_t>();
  };
  const auto kernel = array("kernel"), strides = array("strides"), dilations = array("dilations"),
             begin = array("pads_begin"), end = array("pads_end");
  auto groups = call->getAttrOfType<IntegerAttr>("groups");
  const bool countsPad = call->hasAttr("count_include_pad");

  std::string text = "{";
  if (!kernel.empty())
    text += ".kernel = " + braced(kernel) + ", ";
  text += ".strides = " + braced(strides) + ", .dilations = " + braced(dilations) +
          ", .padsBegin = " + braced(begin) + ", .padsEnd = " + braced(end);
  if (groups && groups.getInt() != 1)
    text += ", .groups = " + std::to_string(groups.getInt());
  if (countsPad)
    text += ", .countIncludePad = true";
  text += "}";

  auto [place, isNew] = known.try_emplace(text);
  if (!isNew)
    return place->second;
  std::string wanted = kernel.empty() ? "" : "k" + summary(kernel);
  wanted += "s" + summary(strides);
  if (llvm::any_of(dilations, [](auto d) { return d != 1; }))
    wanted += "d" + summary(dilations);
  wanted += "p" + summary(begin) + (begin == end ? "" : "to" + summary(end));
  if (groups && groups.getInt() != 1)
    wanted += "g" + std::to_string(groups.getInt());
  if (countsPad)
    wanted += "i";
  place->second = names.unique("", wanted);
  tableRows.push_back(text + ",");
  tableNames.push_back(place->second);
  return place->second;
}

} // namespace syncline::codegen
