// A reader of comma-separated values in one pass.
#include "frontend/files/Csv.h"

namespace syncline::files {
namespace {

class Reader {
public:
  Reader(std::string_view text, std::string_view fileName) : text(text), fileName(fileName) {}

  Result<std::vector<CsvRow>> rows() {
    std::vector<CsvRow> result;
    while (at < text.size()) {
      CsvRow row{line, {}};
      bool quoted = false;
      do {
        SYNCLINE_TRY_GET(cell, peek() == '"' ? quotedCell() : Result<std::string>(plainCell()));
        quoted |= lastQuoted;
        row.cells.push_back(std::move(*cell));
      } while (take(','));
      endLine();
      if (quoted || row.cells.size() > 1 || !row.cells[0].empty())
        result.push_back(std::move(row));
    }
    return result;
  }

private:
  /// The next character after spaces, which it skips; NUL at the end (checkText refuses NUL).
  char peek() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t'))
      ++at;
    return at < text.size() ? text[at] : '\0';
  }

  bool take(char wanted) {
    if (peek() != wanted)
      return false;
    ++at;
    return true;
  }

  bool atLineEnd() const {
    return at >= text.size() || text[at] == '\n' || text.substr(at, 2) == "\r\n" ||
           (text[at] == '\r' && at + 1 == text.size());
  }

  void endLine() {
    if (at < text.size() && text[at] == '\r')
      ++at;
    if (at < text.size() && text[at] == '\n') {
      ++at;
      ++line;
    }
  }

  std::string plainCell() {
    lastQuoted = false;
    const std::size_t begin = at;
    while (!atLineEnd() && text[at] != ',')
      ++at;
    std::string_view cell = text.substr(begin, at - begin);
    while (cell.ends_with(' ') || cell.ends_with('\t'))
      cell.remove_suffix(1);
    return std::string(cell);
  }

  Result<std::string> quotedCell() {
    lastQuoted = true;
    const std::size_t opened = line;
    std::string cell;
    for (++at; at < text.size(); ++at) {
      if (text[at] == '"') {
        if (at + 1 >= text.size() || text[at + 1] != '"')
          break;
        ++at;
      }
      line += text[at] == '\n';
      cell += text[at];
    }
    if (at >= text.size())
      return error(opened, "expected a closing quote, got the end of the file");
    ++at;
    if (peek() != ',' && !atLineEnd())
      return error(line, "expected a comma or the end of the line after a closing quote");
    return cell;
  }

  Status error(std::size_t where, std::string_view message) const {
    return Status::badInput(std::string(fileName) + ":" + std::to_string(where) + ": " +
                            std::string(message));
  }

  std::string_view text;
  std::string_view fileName;
  std::size_t at = 0;
  std::size_t line = 1;
  bool lastQuoted = false;
};

} // namespace

Result<std::vector<CsvRow>> parseCsv(std::string_view text, std::string_view fileName) {
  return Reader(text, fileName).rows();
}

std::string csvQuoted(std::string_view text) {
  std::string cell = "\"";
  for (char c : text)
    cell += c == '"' ? "\"\"" : std::string(1, c);
  return cell + "\"";
}

} // namespace syncline::files
