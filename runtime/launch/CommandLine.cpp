// Errors and help of command lines.
#include "runtime/launch/CommandLine.h"

#include "runtime/launch/CommandLineText.h"
#include "syncline/Suggestion.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <sys/ioctl.h>
#include <unistd.h>

namespace syncline::launch {
namespace {

constexpr const char *seeHelp = "; '--help' lists the options";

/// The options' names, such as "--cluster" and "-o", of `app` and of the given subcommand.
std::vector<std::string> optionNames(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::Option *option : app.get_options()) {
    for (const std::string &name : option->get_lnames())
      names.push_back("--" + name);
    for (const std::string &name : option->get_snames())
      names.push_back("-" + name);
  }
  for (const CLI::App *subcommand : app.get_subcommands())
    for (std::string &name : optionNames(*subcommand))
      names.push_back(std::move(name));
  return names;
}

std::string unknownOption(const CLI::App &app, const std::string &word) {
  const std::string name = word.substr(0, word.find('='));
  const std::vector<std::string> names = optionNames(app);
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string_view meant = nearestName(name, known);
  return "unknown option '" + name + "'" +
         (meant.empty() ? seeHelp : ", did you mean '" + std::string(meant) + "'?");
}

std::size_t helpWidth() {
  constexpr std::size_t narrowest = 60, usual = 100;
  if (const char *columns = std::getenv("COLUMNS"); columns && std::atoi(columns) > 0)
    return std::max<std::size_t>(narrowest, static_cast<std::size_t>(std::atoi(columns)));
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return std::max<std::size_t>(narrowest, size.ws_col);
  return usual;
}

class HelpFormatter final : public CLI::Formatter {
public:
  HelpFormatter() {
    label("REQUIRED", "(required)");
    label("Needs", "with");
    label("Excludes", "not with");
  }

  std::string make_option_desc(const CLI::Option *option) const override {
    return wrapped(option->get_description(), helpWidth() - get_column_width());
  }

  /// Prints no type for positional arguments; their names suffice.
  std::string make_option_opts(const CLI::Option *option) const override {
    if (option->get_positional() && !option->nonpositional())
      return option->get_required() ? " " + get_label("REQUIRED") : "";
    return Formatter::make_option_opts(option);
  }

  std::string make_subcommand(const CLI::App *subcommand) const override {
    std::stringstream out;
    CLI::detail::format_help(
        out, subcommand->get_name(),
        wrapped(subcommand->get_description(), helpWidth() - get_column_width()),
        get_column_width());
    return out.str();
  }
};

} // namespace

CLI::Validator oneOf(std::vector<std::string> names) {
  std::string all;
  for (const std::string &name : names)
    all += (all.empty() ? "" : ",") + name;
  return CLI::Validator(
      [names = std::move(names)](std::string &text) -> std::string {
        if (std::ranges::find(names, text) != names.end())
          return {};
        const std::vector<std::string_view> known(names.begin(), names.end());
        return "unknown value '" + text + "'" + suggestion(text, known);
      },
      "{" + all + "}");
}

std::string usageMessage(const CLI::App &app, const CLI::ParseError &error) {
  const std::vector<std::string> left = app.remaining(/*recurse=*/true);
  for (const std::string &word : left)
    if (word.size() > 1 && word.front() == '-' && word != "--")
      return unknownOption(app, word);
  if (dynamic_cast<const CLI::ExtrasError *>(&error) && !left.empty())
    return "unexpected argument '" + left.front() + "'" + seeHelp;
  // CLI11 says "--lr: At Most 1 required but received 2".
  std::string said = error.what();
  if (const std::size_t at = said.find(": At Most 1 required but received ");
      at != std::string::npos)
    said = said.substr(0, at) + ": expected once, got it " + said.substr(said.rfind(' ') + 1) +
           " times";
  return said.ends_with('?') ? said : said + seeHelp;
}

std::optional<int> parseWords(CLI::App &app, int argc, char **argv,
                              int (*complain)(const std::string &message)) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &e) {
    return app.exit(e); // prints help or version
  } catch (const CLI::ParseError &e) {
    return complain(usageMessage(app, e));
  }
  if (const std::string clash = outputClash(app); !clash.empty())
    return complain(clash);
  return std::nullopt;
}

std::shared_ptr<CLI::Formatter> helpFormatter() { return std::make_shared<HelpFormatter>(); }

} // namespace syncline::launch
