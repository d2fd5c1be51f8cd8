// Two plans, decision by decision.
#include "frontend/report/PlanDiff.h"

#include "frontend/files/FormatUnits.h"
#include "frontend/report/ExchangeText.h"
#include "frontend/report/MemoryText.h"
#include "frontend/report/MicroBatchText.h"
#include "frontend/report/OrderDiff.h"
#include "frontend/report/OrderText.h"
#include "frontend/report/PlanReport.h"
#include "frontend/report/PlanText.h"
#include "frontend/report/Table.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>

namespace syncline::report {

namespace {

using nlohmann::json;

/// How one plan treats its gradients.
struct Decisions {
  std::vector<std::string> gradients; ///< in backward order
  std::vector<const json *> buckets;
  /// The numbers of each gradient's buckets; several where it is cut.
  std::unordered_map<std::string, std::vector<std::size_t>> bucketsOf;

  explicit Decisions(const json &plan) {
    for (const json &layer : plan.at("layers"))
      gradients.push_back(layer.at("name"));
    for (const json &bucket : plan.at("buckets")) {
      (void)memberSummary(bucket.at("members")); // has some
      for (const json &member : bucket.at("members"))
        bucketsOf[member.get<std::string>()].push_back(buckets.size());
      buckets.push_back(&bucket);
    }
    for (const std::string &name : gradients)
      if (!bucketsOf.contains(name))
        throw SchemaError{"no bucket has the gradient '" + printable(name) + "'"};
  }

  bool has(const std::string &gradient) const { return bucketsOf.contains(gradient); }
  /// The bucket that brings the gradient's first part.
  const json &bucket(const std::string &gradient) const {
    return *buckets[bucketsOf.at(gradient).front()];
  }
};

/// A bucket's members that the other plan has too, sorted.
std::vector<std::string> matesIn(const Decisions &other, const json &bucket) {
  std::vector<std::string> mates;
  for (const json &member : bucket.at("members"))
    if (auto name = member.get<std::string>(); other.has(name))
      mates.push_back(std::move(name));
  std::ranges::sort(mates);
  return mates;
}

/// Neighbouring gradients whose decisions differ alike.
struct Run {
  std::string first, last;
  std::size_t count = 0;
};

/// The decisions of two plans on the gradients that both have.
class Comparison {
public:
  Comparison(const json &left, const json &right) : sides{Decisions(left), Decisions(right)} {
    for (const std::string &gradient : sides[0].gradients)
      if (sides[1].has(gradient))
        add(gradient);
  }

  std::size_t common() const { return compared; }
  const std::vector<Run> &runs() const { return found; }

  /// "ring, alone", "ring, with fc.weight .. conv1.bias (6)".
  std::string describe(std::size_t side, const Run &run) const {
    const json &bucket = sides[side].bucket(run.first);
    std::string text = printable(bucket.at("scheme"));
    if (const std::size_t parts = sides[side].bucketsOf.at(run.first).size(); parts > 1)
      return text + ", cut into " + std::to_string(parts) + " messages";
    if (bucket.at("members").size() == 1)
      return text + (run.count > 1 ? ", each alone" : ", alone");
    return text + ", in " + memberSummary(bucket.at("members"));
  }

  /// Names that only this side has.
  std::vector<std::string> onlyIn(std::size_t side) const {
    std::vector<std::string> names;
    for (const std::string &gradient : sides[side].gradients)
      if (!sides[1 - side].has(gradient))
        names.push_back(gradient);
    return names;
  }

private:
  void add(const std::string &gradient) {
    ++compared;
    if (!differs(gradient)) {
      isOpen = false;
      return;
    }
    if (isOpen && alike(0, found.back().last, gradient) && alike(1, found.back().last, gradient)) {
      found.back().last = gradient;
      ++found.back().count;
      return;
    }
    found.push_back({gradient, gradient, 1});
    isOpen = true;
  }

  bool differs(const std::string &gradient) {
    return !std::ranges::equal(sides[0].bucketsOf.at(gradient), sides[1].bucketsOf.at(gradient),
                               [&](std::size_t a, std::size_t b) { return isSame(a, b); });
  }

  /// Whether a bucket of one plan carries by its scheme what a bucket of the other carries.
  bool isSame(std::size_t left, std::size_t right) {
    const json &a = *sides[0].buckets[left], &b = *sides[1].buckets[right];
    if (a.at("scheme") != b.at("scheme") || a.value("cut", json()) != b.value("cut", json()))
      return false;
    // Two buckets are compared once: all members of a bucket have the same answer.
    auto [same, isNew] = sameMates.try_emplace(std::pair(left, right), false);
    if (isNew)
      same->second = matesIn(sides[1], a) == matesIn(sides[0], b);
    return same->second;
  }

  /// Whether two gradients share their buckets, or each travels alone by the same scheme.
  bool alike(std::size_t side, const std::string &one, const std::string &other) const {
    const std::vector<std::size_t> &mine = sides[side].bucketsOf.at(one),
                                   &others = sides[side].bucketsOf.at(other);
    const json &a = sides[side].bucket(one), &b = sides[side].bucket(other);
    return mine == others ||
           (mine.size() == 1 && others.size() == 1 && a.at("members").size() == 1 &&
            b.at("members").size() == 1 && a.at("scheme") == b.at("scheme"));
  }

  std::array<Decisions, 2> sides;
  std::map<std::pair<std::size_t, std::size_t>, bool> sameMates;
  std::vector<Run> found;
  std::size_t compared = 0;
  bool isOpen = false;
};

std::string value(const json &entry) {
  if (entry.is_null())
    return "-";
  return entry.is_string() ? printable(entry) : entry.dump();
}

/// The requested schemes as text.
std::string requestedText(const json &plan) {
  std::string text;
  for (const json &entry : plan.at("requested"))
    text += (text.empty() ? "" : " and ") + printable(entry);
  return text.empty() ? "-" : text;
}

/// What the plans were made for, as far as it differs.
std::string headerText(const NamedPlan &left, const NamedPlan &right) {
  Table table({{""}, {left.name}, {right.name}});
  auto compare = [&](const std::string &title, const json &a, const json &b) {
    if (a != b)
      table.addRow({title, value(a), value(b)});
  };
  const json &a = left.plan, &b = right.plan;
  compare("model", a.at("name"), b.at("name"));
  compare("cluster", a.at("cluster").at("name"), b.at("cluster").at("name"));
  // Different files may have the same name.
  auto compareFiles = [&](const char *key, bool sameName) {
    const json &one = a.at("hashes").at(key), &other = b.at("hashes").at(key);
    if (sameName && one != other)
      table.addRow(
          {std::string(key) + " file", value(one).substr(0, 12), value(other).substr(0, 12)});
  };
  compareFiles("model", a.at("name") == b.at("name"));
  compareFiles("cluster", a.at("cluster").at("name") == b.at("cluster").at("name"));
  for (const char *key : {"planner", "ranks", "servers", "batch", "backend"})
    compare(key, a.at(key), b.at(key));
  compare("optimizer", a.value("optimizer", "sgd"), b.value("optimizer", "sgd"));
  compare("precision", a.value("precision", json()), b.value("precision", json()));
  compare("wire", a.value("wire", "fp32"), b.value("wire", "fp32"));
  compare("overlap", a.value("overlap", "backward"), b.value("overlap", "backward"));
  compare("accumulate", microBatchesOf(a), microBatchesOf(b));
  compare("clip-norm", a.value("clip_norm", json()), b.value("clip_norm", json()));
  auto consistency = [](const json &plan) { return json(consistencyOf(plan)); };
  compare("consistency", consistency(a), consistency(b));
  compare("requested", requestedText(a), requestedText(b));
  return table.isEmpty() ? "" : table.toString() + "\n";
}

/// What ranks need in all, and each kind of memory of which they need different amounts. Plans that
/// need the same have no such rows.
void addMemoryRows(Table &table, const json &left, const json &right) {
  auto add = [&](const std::string &title, std::int64_t a, std::int64_t b) {
    if (a != b)
      table.addRow({title, files::formatBytes(a), files::formatBytes(b),
                    ratio(static_cast<double>(a), static_cast<double>(b))});
  };
  if (memoryByKind(left).empty() || memoryByKind(right).empty())
    return; // a layer trace does not say
  add("memory of a rank", memoryBytes(left), memoryBytes(right));
  std::map<std::string, std::array<std::int64_t, 2>> kinds;
  for (const auto &[name, bytes] : memoryByKind(left))
    kinds[name][0] = bytes;
  for (const auto &[name, bytes] : memoryByKind(right))
    kinds[name][1] = bytes;
  for (const auto &[name, bytes] : kinds)
    add("memory: " + printable(name), bytes[0], bytes[1]);
}

std::string predictions(const NamedPlan &left, const NamedPlan &right) {
  Table table({{"predicted"},
               {left.name, Align::right},
               {right.name, Align::right},
               {"ratio", Align::right}});
  auto add = [&](const char *title, const char *key,
                 const std::function<std::string(double)> &print) {
    double a = left.plan.at("predicted").at(key), b = right.plan.at("predicted").at(key);
    table.addRow({title, print(a), print(b), ratio(a, b)});
  };
  auto seconds = [](double value) { return files::formatSeconds(value); };
  add("step", "step", seconds);
  if (microBatchesOf(left.plan) > 1 && microBatchesOf(right.plan) > 1)
    add("each micro-batch but the last", "micro_batch", seconds);
  add("communication ends", "communication_end", seconds);
  add("exposed", "exposed", seconds);
  add("traffic of a node", "traffic", formatTraffic);
  const std::size_t a = left.plan.at("buckets").size(), b = right.plan.at("buckets").size();
  table.addRow({"messages", std::to_string(a), std::to_string(b),
                ratio(static_cast<double>(a), static_cast<double>(b))});
  addMemoryRows(table, left.plan, right.plan);
  if (hasOrder(left.plan) || hasOrder(right.plan))
    addOrderRows(table, left.plan, right.plan);
  return table.toString() + "\n";
}

std::string decisions(const Comparison &comparison, const NamedPlan &left, const NamedPlan &right) {
  if (comparison.runs().empty())
    return "same decisions\n";
  Table table({{"gradients"}, {left.name}, {right.name}});
  std::size_t differing = 0;
  for (const Run &run : comparison.runs()) {
    table.addRow({rangeSummary(printable(run.first), printable(run.last), run.count),
                  comparison.describe(0, run), comparison.describe(1, run)});
    differing += run.count;
  }
  return table.toString() + "\n" + std::to_string(differing) + " of " +
         std::to_string(comparison.common()) + " gradients travel otherwise\n";
}

std::string only(const std::vector<std::string> &names, const std::string &where) {
  constexpr std::size_t most = 8;
  if (names.empty())
    return {};
  std::string text = "only in " + where + ":";
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i)
    text += (i ? ", " : " ") + printable(names[i]);
  if (names.size() > most)
    text += " and " + std::to_string(names.size() - most) + " more";
  return text + "\n";
}

/// Checks the fields of a plan that both reports need; an error names the faulty plan.
Status checkPlan(const NamedPlan &named) {
  Result<std::string> text = guarded([&] {
    (void)Decisions(named.plan);
    for (const char *key : {"model", "cluster"})
      (void)named.plan.at("hashes").at(key).get<std::string>();
    (void)named.plan.at("cluster").at("name").get<std::string>();
    return std::string();
  });
  if (text)
    text = planReport(named.plan, /*allMembers=*/false);
  if (text)
    return Status::ok();
  return Status::badInput("'" + named.name + "': " + text.status().message());
}

} // namespace

Result<std::string> planDiff(const NamedPlan &left, const NamedPlan &right) {
  for (const NamedPlan *plan : {&left, &right})
    SYNCLINE_TRY(checkPlan(*plan));
  bool nothingCommon = false;
  Result<std::string> text = guarded([&] {
    const Comparison comparison(left.plan, right.plan);
    nothingCommon = comparison.common() == 0 &&
                    !(left.plan.at("layers").empty() && right.plan.at("layers").empty());
    return headerText(left, right) + predictions(left, right) + decisions(comparison, left, right) +
           orderDiff(left, right) + only(comparison.onlyIn(0), left.name) +
           only(comparison.onlyIn(1), right.name);
  });
  if (text && nothingCommon)
    return Status::badInput("'" + left.name + "' and '" + right.name +
                            "' have no gradient in common");
  return text;
}

} // namespace syncline::report
