// A table of text with aligned columns, for the terminal.
#pragma once

#include <string>
#include <vector>

namespace syncline::report {

enum class Align { left, right };

class Table {
public:
  struct Column {
    std::string title;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns) : columns(std::move(columns)) {}

  /// Precondition: one cell a column. Cells are UTF-8 without line breaks.
  void addRow(std::vector<std::string> cells) { rows.push_back(std::move(cells)); }

  bool isEmpty() const { return rows.empty(); }

  /// Title line, then a line a row, columns two spaces apart, no trailing spaces.
  std::string toString() const;

private:
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
};

} // namespace syncline::report
