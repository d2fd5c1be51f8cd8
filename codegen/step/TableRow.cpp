// Divides arrays into rows of fixed size.
#include "codegen/step/TableRow.h"

#include "codegen/step/Text.h"
#include "syncline/StepTables.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

namespace syncline::codegen {

/// The part of a list that row number `row` holds, where each row holds at most `most` entries.
static llvm::ArrayRef<std::string> partOf(llvm::ArrayRef<std::string> list, size_t row,
                                          size_t most) {
  return list.drop_front(std::min(list.size(), row * most)).take_front(most);
}

static std::string rowText(const std::string &op, const std::string &layer,
                           std::vector<llvm::ArrayRef<std::string>> arrays) {
  while (!arrays.empty() && arrays.back().empty())
    arrays.pop_back();
  std::string text = "{Op::" + op + ", " + quoted(layer);
  for (llvm::ArrayRef<std::string> array : arrays)
    text += ", {" + llvm::join(array, ", ") + "}";
  return text + "},";
}

std::string TableRow::text() const {
  const llvm::ArrayRef<std::string> all(reals);
  std::string lines = rowText(
      op, layer, {partOf(operands, 0, Row::maxOperands), partOf(numbers, 0, Row::maxNumbers), all});
  for (size_t row = 1;
       row * Row::maxOperands < operands.size() || row * Row::maxNumbers < numbers.size(); ++row)
    lines += "\n    " + rowText("more", "",
                                {partOf(operands, row, Row::maxOperands),
                                 partOf(numbers, row, Row::maxNumbers)});
  return lines;
}

} // namespace syncline::codegen
