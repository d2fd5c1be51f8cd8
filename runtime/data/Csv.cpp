// Reading CSV tables of numbers.
#include "runtime/data/Csv.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <string_view>
#include <vector>

namespace syncline::data {

static std::string_view trimmed(std::string_view text) {
  std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

static Status parseLine(std::string_view line, std::vector<double> &values) {
  for (std::size_t column = 1;; ++column) {
    std::size_t comma = line.find(',');
    std::string_view cell = trimmed(line.substr(0, comma));
    double value = 0;
    auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (cell.empty() || error != std::errc() || end != cell.data() + cell.size() ||
        !std::isfinite(value))
      return Status::badInput("column " + std::to_string(column) + ": expected a number, got '" +
                              std::string(cell) + "'");
    values.push_back(value);
    if (comma == std::string_view::npos)
      return Status::ok();
    line.remove_prefix(comma + 1);
  }
}

Result<Array> readCsv(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return Status::badInput("'" + path + "': cannot open: " + std::strerror(errno));
  auto values = std::make_shared<std::vector<double>>();
  std::string line;
  std::int64_t rows = 0, columns = 0, number = 0;
  while (std::getline(in, line)) {
    ++number;
    if (trimmed(line).empty())
      continue;
    std::string where = "'" + path + "' line " + std::to_string(number) + ": ";
    std::size_t before = values->size();
    if (Status s = parseLine(line, *values); !s)
      return Status::badInput(where + s.message());
    std::int64_t here = static_cast<std::int64_t>(values->size() - before);
    if (rows > 0 && here != columns)
      return Status::badInput(where + "expected " + std::to_string(columns) + " columns, got " +
                              std::to_string(here));
    columns = here;
    ++rows;
  }
  if (rows == 0)
    return Status::badInput("'" + path + "': the file is empty");
  Array array;
  array.path = path;
  array.type = ElementType::f64;
  array.shape = {rows, columns};
  array.data = reinterpret_cast<const std::byte *>(values->data());
  array.owner = values;
  return array;
}

} // namespace syncline::data
