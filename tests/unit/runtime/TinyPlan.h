// A plan folder written by hand: a linear classifier, its step compiled by the host's compiler.
#pragma once

#include "runtime/run/plan/Plan.h"
#include "tests/support/TemporaryFolder.h"

#include <nlohmann/json.hpp>
#include <string>

namespace syncline::testing {

using test::TemporaryFolder;

/// logits[K,3] = x[K,4] · w[4,3] + b[3], cross-entropy; w and b in buckets of their own, by
/// "factors" in one.
///
/// The buckets travel by `scheme`, over dedicated servers where there are `servers`. w and b have
/// initial values in weights.bin: w[i] = 0.1·(i mod 5) - 0.2, b[i] = 0.05·i.
class TinyPlan {
public:
  explicit TinyPlan(int ranks, int batch = 8, const std::string &model = "",
                    const std::string &scheme = "ring", int servers = 0);

  std::string folder() const { return files.path; }
  std::string file(const std::string &name) const { return files.file(name); }
  nlohmann::json json;
  /// Writes plan.json again with fresh hashes, after a change of `json` or of files.
  void seal();
  /// Compiles step.cpp anew with one text in it replaced, and seals.
  void editStep(const std::string &text, const std::string &replacement);
  /// Lets every forward phase say "forward" and its number on stderr, and take so many seconds. In
  /// each process the one of number `held`, from 0, lasts until letGo().
  void slowDown(double seconds, int held = -1);
  void letGo() const;

private:
  void replaceInStep(const std::string &text, const std::string &replacement) const;
  void compile() const;
  TemporaryFolder files;
};

void writeFile(const std::string &path, const std::string &bytes);
std::string readFile(const std::string &path);

} // namespace syncline::testing
