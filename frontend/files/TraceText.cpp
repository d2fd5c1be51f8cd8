// Scans brackets and quotation marks.
#include "frontend/files/TraceText.h"

namespace syncline::files {
namespace {

constexpr std::size_t mostBytes = std::size_t{64} << 20; ///< of one value
constexpr int ends = std::char_traits<char>::eof();

class Cutter {
public:
  Cutter(std::istream &in, const std::string &fileName, int maxLevels, const TraceParts &parts)
      : in(*in.rdbuf()), fileName(fileName), maxLevels(maxLevels), parts(parts) {}

  Status cut() {
    skipByteOrderMark();
    const int first = peek();
    if (first != '[' && first != '{')
      return noTrace();
    take();
    Status read = first == '[' ? events() : members();
    if (read && !hasEvents)
      return noTrace();
    if (read && peek() != ends)
      return bad("more follows the trace at byte " + std::to_string(position));
    return read;
  }

private:
  Status bad(const std::string &what) const { return Status::badInput(fileName + ": " + what); }
  Status noTrace() const { return bad("expected a trace with 'traceEvents', got none"); }
  Status isCut() const {
    return bad("not valid JSON, as a trace is: it ends at byte " + std::to_string(position) +
               (number > 0 ? ", within or behind event " + std::to_string(number) : "") +
               ", where more must follow");
  }
  Status unexpected(const std::string &what) {
    const int c = peek();
    if (c == ends)
      return isCut();
    return bad("not valid JSON, as a trace is: byte " + std::to_string(position) + ": expected " +
               what);
  }

  int take() {
    const int c = in.sbumpc();
    position += c != ends;
    return c;
  }

  /// The next character that is no white space, which stays.
  int peek() {
    int c = in.sgetc();
    while (c == ' ' || c == '\n' || c == '\r' || c == '\t') {
      take();
      c = in.sgetc();
    }
    return c;
  }

  void skipByteOrderMark() {
    for (const char mark : {'\xEF', '\xBB', '\xBF'})
      if (in.sgetc() == std::char_traits<char>::to_int_type(mark))
        take();
  }

  /// Takes a value. `isBroken` tells that a line ended within a text.
  Status value(std::string &text, bool &isBroken) {
    text.clear();
    isBroken = false;
    int depth = 0;
    bool inText = false;
    peek();
    for (;;) {
      const int c = in.sgetc();
      if (c == ends)
        return isCut();
      const bool isEnd = c == ',' || c == ']' || c == '}' || c == ' ' || c == '\n' || c == '\r' ||
                         c == '\t' || c == ':';
      if (depth == 0 && !inText && isEnd)
        return Status::ok(); // a number or a word
      text += static_cast<char>(take());
      if (text.size() > mostBytes)
        return bad("event " + std::to_string(number) + ": expected at most 64 MiB");
      if (inText && c == '\n') {
        isBroken = true;
        return Status::ok();
      }
      if (inText && c == '\\') {
        if (const int escaped = in.sgetc(); escaped != ends && escaped != '\n')
          text += static_cast<char>(take());
        continue;
      }
      if (c == '"')
        inText = !inText;
      else if (!inText && (c == '[' || c == '{') && ++depth > maxLevels - 1)
        return bad("expected at most " + std::to_string(maxLevels) + " levels");
      else if (!inText && (c == ']' || c == '}'))
        --depth;
      if (depth == 0 && !inText && (c == '"' || c == ']' || c == '}'))
        return Status::ok();
    }
  }

  /// Passes over what is left of a broken event, up to a line that opens another or ends the list.
  void toNextEvent() {
    for (;;) {
      int c = peek();
      if (c == ',') {
        take();
        c = peek();
      }
      if (c == '{' || c == ']' || c == ends)
        return;
      while (c != '\n' && c != ends)
        c = take();
    }
  }

  /// The list behind its bracket. The format allows a bare list to lack its end.
  Status events() {
    hasEvents = true;
    std::string text;
    for (;;) {
      const int c = peek();
      if (c == ']') {
        take();
        return Status::ok();
      }
      if (c == ends)
        return level == 0 && number > 0 ? Status::ok() : isCut();
      const EventPlace place{++number, position};
      bool isBroken = false;
      SYNCLINE_TRY(value(text, isBroken));
      SYNCLINE_TRY(parts.event(text, place));
      if (isBroken)
        toNextEvent();
      else if (const int next = peek(); next == ',')
        take();
      else if (next != ']' && next != ends)
        return unexpected("',' or ']' behind event " + std::to_string(number));
    }
  }

  /// The members of the object behind its brace.
  Status members() {
    level = 1;
    std::string key, text;
    bool isBroken = false;
    while (peek() != '}') {
      SYNCLINE_TRY(peek() == '"' ? value(key, isBroken) : unexpected("a name in '\"'"));
      if (peek() != ':')
        return unexpected("':'");
      take();
      const bool isList = key == "\"traceEvents\"";
      if (isList && peek() != '[')
        return noTrace();
      if (isList)
        take();
      SYNCLINE_TRY(isList ? events() : value(text, isBroken));
      if (key == "\"otherData\"")
        SYNCLINE_TRY(parts.otherData(text));
      if (peek() == ',')
        take();
      else if (peek() != '}')
        return unexpected("',' or '}'");
    }
    take();
    return Status::ok();
  }

  std::streambuf &in;
  const std::string &fileName;
  const int maxLevels;
  const TraceParts &parts;
  std::int64_t position = 0;
  std::size_t number = 0; ///< of the current event
  int level = 0;          ///< around the list
  bool hasEvents = false;
};

} // namespace

Status cutTrace(std::istream &in, const std::string &fileName, int maxLevels,
                const TraceParts &parts) {
  return Cutter(in, fileName, maxLevels, parts).cut();
}

} // namespace syncline::files
