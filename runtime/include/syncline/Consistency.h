// Consistency: who waits for whom, where gradients stay on their rank. One row a form; compiler,
// simulator and runtime share it. ir/sync/SPEC.md ("Forms") has the meaning of the forms.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

namespace syncline {

/// The most steps between the bounds of DSSP. Its controller tries every lead between the two, 2 ns
/// each, before it grants one, while all workers wait for the server: 2 % of a step of 1 ms.
inline constexpr std::int64_t mostStepsApart = 10'000;

/// In all but bsp, where gradients travel in every step, ranks exchange weights or changes of them.
enum class ConsistencyForm { bsp, ssp, asp, dssp, easgd, local, diloco };

/// Where EASGD's centre lies, and who waits. The first four use servers, the others all-reduces.
enum class EasgdVariant { original, async, momentum, hogwild, sync1, sync2, sync3 };

/// A form: what `compile --consistency` takes, how many of its numbers may not be left out, and
/// whether its weights travel by servers (easgd: by its first variants).
struct ConsistencyRow {
  ConsistencyForm form;
  std::string_view usage;
  std::size_t required;
  bool isServed;

  constexpr std::string_view name() const { return usage.substr(0, usage.find(':')); }
};

inline constexpr ConsistencyRow consistencyRows[] = {
    {ConsistencyForm::bsp, "bsp", 0, false},
    {ConsistencyForm::ssp, "ssp:S", 1, true},
    {ConsistencyForm::asp, "asp", 0, true},
    {ConsistencyForm::dssp, "dssp:L,U", 2, true},
    {ConsistencyForm::easgd, "easgd:VARIANT,RHO[,TAU]", 2, true},
    {ConsistencyForm::local, "local:H", 1, false},
    {ConsistencyForm::diloco, "diloco:H,Q,TAU,ALPHA[,RATE,MOMENTUM]", 4, false},
};

inline constexpr std::array<std::string_view, 7> variantNames{
    "original", "async", "momentum", "hogwild", "sync1", "sync2", "sync3"};

inline constexpr auto formNames = [] {
  std::array<std::string_view, std::size(consistencyRows)> names;
  for (std::size_t i = 0; i < names.size(); ++i)
    names[i] = consistencyRows[i].name();
  return names;
}();

constexpr const ConsistencyRow &consistencyRow(ConsistencyForm form) {
  return consistencyRows[static_cast<std::size_t>(form)];
}

/// "ssp"
constexpr std::string_view formName(ConsistencyForm form) { return consistencyRow(form).name(); }
/// "sync3"
constexpr std::string_view variantName(EasgdVariant variant) {
  return variantNames[static_cast<std::size_t>(variant)];
}

/// The enumerator at the place of `name` in `names`; nothing where it is none of them. `names` are
/// formNames or variantNames.
template <typename Enum, std::size_t count>
constexpr std::optional<Enum> enumNamed(const std::array<std::string_view, count> &names,
                                        std::string_view name) {
  for (std::size_t i = 0; i < count; ++i)
    if (names[i] == name)
      return static_cast<Enum>(i);
  return std::nullopt;
}

/// Whether the form's weights travel by servers; else by all-reduces. `variant` counts for easgd.
constexpr bool isServed(ConsistencyForm form, EasgdVariant variant) {
  return consistencyRow(form).isServed &&
         (form != ConsistencyForm::easgd || variant < EasgdVariant::sync1);
}

static_assert(
    [] {
      for (const ConsistencyRow &row : consistencyRows)
        if (&consistencyRow(row.form) != &row)
          return false;
      return consistencyRow(ConsistencyForm::diloco).name() == "diloco" &&
             variantName(EasgdVariant::sync3) == "sync3";
    }(),
    "expected rows and names in the order of the enumerators");

} // namespace syncline
