// Orders of one channel's messages as linear constraints over 0/1 variables and seconds.
#include "passes/z3/OrderJudge.h"

#include "passes/z3/Z3Terms.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

namespace syncline::z3judge {

namespace {

/// A message, and when it may travel.
struct Job {
  double ready = 0, seconds = 0;
  std::optional<std::size_t> first = {}; ///< for a second half: the first half
  bool isHalf = false;
};

/// A part of a layer, with the computation that follows its arrival.
struct Part {
  std::size_t message = 0;
  double fraction = 1;    ///< of the layer's update
  double reconstruct = 0; ///< seconds
};

/// The messages of a solution, and what the forward pass waits for. No code of the solver.
struct Jobs {
  std::vector<Job> messages;
  std::vector<std::vector<Part>> parts; ///< by layer

  Jobs(const OrderProblem &problem, const OrderSolution &solution)
      : parts(solution.choices.size()) {
    const std::vector<ClassLayout> layouts = layoutsOf(problem.sync, solution.choices);
    for (const OrderMessage &message : solution.messages)
      if (message.isFactors)
        addFactors(problem, message);
      else
        addRun(problem, layouts[message.index], message);
    for (std::size_t k = 0; k < solution.choices.size(); ++k)
      if (solution.choices[k].kind == Choice::Kind::piggyback)
        for (const Part &part : parts[*problem.sync.layers[k].carrier])
          parts[k].push_back({part.message, 1, 0});
  }

private:
  void addFactors(const OrderProblem &problem, const OrderMessage &message) {
    const Layer &layer = problem.sync.layers[message.index];
    const FactorOption &option = layer.factorOptions[message.option];
    parts[message.index].push_back({messages.size(), 1, option.reconstruct});
    messages.push_back({layer.ready, option.secondsOnClock()});
  }

  void addRun(const OrderProblem &problem, const ClassLayout &layout, const OrderMessage &message) {
    Job job{.isHalf = message.half != Half::whole};
    job.seconds = problem.sync.mergeClasses[message.index].options[message.option].secondsOnClock(
                      message.bytes()) /
                  (job.isHalf ? 2 : 1);
    if (message.half == Half::first)
      firsts[{message.index, message.begin}] = messages.size();
    if (message.half == Half::second)
      job.first = firsts.at({message.index, message.begin});
    for (std::size_t i = 0; i < layout.layers.size(); ++i) {
      const std::int64_t begin = std::max(message.begin, layout.begin[i]),
                         end = std::min(message.end, layout.begin[i + 1]);
      if (begin >= end)
        continue;
      const std::size_t k = layout.layers[i];
      job.ready = std::max(job.ready, problem.sync.layers[k].ready);
      if (message.half == Half::first)
        continue; // the second half brings the gradients
      parts[k].push_back({messages.size(), static_cast<double>(end - begin) /
                                               static_cast<double>(problem.sync.layers[k].bytes)});
    }
    messages.push_back(job);
  }

  /// First halves by merge class and first byte.
  std::map<std::pair<std::size_t, std::int64_t>, std::size_t> firsts;
};

class OrderModel {
public:
  OrderModel(const OrderProblem &problem, const Jobs &jobs, z3::solver &solver)
      : problem(problem), jobs(jobs), solver(solver), context(solver.ctx()) {}

  void state(double deadline) {
    addChannel();
    const z3::expr end = addForwardPass();
    solver.add(end <= exact(deadline));
    addEqualMessages();
  }

  /// The messages in the order of their ends.
  std::vector<std::size_t> order(const z3::model &model) const {
    std::vector<std::size_t> order(ends.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      return a != b && model.eval(isBefore(a, b), true).is_true();
    });
    return order;
  }

private:
  z3::expr exact(double value) const { return exactValue(context, value); }

  z3::expr isBefore(std::size_t a, std::size_t b) const {
    const std::string name =
        "before" + std::to_string(std::min(a, b)) + "_" + std::to_string(std::max(a, b));
    const z3::expr flag = context.bool_const(name.c_str());
    return a < b ? flag : !flag;
  }

  /// One message at a time, none before its gradients exist.
  void addChannel() {
    const std::size_t n = jobs.messages.size();
    for (std::size_t x = 0; x < n; ++x) {
      const Job &job = jobs.messages[x];
      ends.push_back(context.real_const(("end" + std::to_string(x)).c_str()));
      solver.add(ends[x] >= exact(job.ready) + exact(job.seconds));
      if (job.first)
        solver.add(isBefore(*job.first, x));
    }
    for (std::size_t x = 0; x < n; ++x)
      for (std::size_t y = 0; y < n; ++y)
        if (x != y)
          solver.add(
              z3::implies(isBefore(x, y), ends[y] >= ends[x] + exact(jobs.messages[y].seconds)));
    addBusyChannel();
    // An order has no circle. Times forbid it where messages take time.
    for (std::size_t x = 0; x < n; ++x)
      for (std::size_t y = 0; y < n; ++y)
        for (std::size_t z = 0; z < n; ++z)
          if (x < y && x < z && y != z)
            solver.add(!(isBefore(x, y) && isBefore(y, z) && isBefore(z, x)));
  }

  /// Rows that follow from the others, so that Z3 can reject a partial order early. What is ready
  /// no earlier than r and travels before x occupies the channel between r and x.
  void addBusyChannel() {
    const std::vector<Job> &all = jobs.messages;
    for (std::size_t x = 0; x < all.size(); ++x)
      for (std::size_t first = 0; first < all.size(); ++first) {
        const double ready = all[first].ready;
        if (ready > all[x].ready)
          continue;
        z3::expr least = exact(ready) + exact(all[x].seconds);
        for (std::size_t y = 0; y < all.size(); ++y)
          if (y != x && all[y].ready >= ready)
            least = least + z3::ite(isBefore(y, x), exact(all[y].seconds), numberOf(context, 0));
        solver.add(ends[x] >= least);
      }
  }

  /// Readers in order. Each waits for its layer's parts and updates what has arrived meanwhile. The
  /// end of the pass, where it does no more than that.
  z3::expr addForwardPass() {
    z3::expr now = exact(problem.sync.computeFree), left = exact(problem.forward);
    for (std::size_t k : readersOf(problem)) {
      const z3::expr update = exact(problem.updateOf(k)), tail = exact(problem.tail[k]);
      const std::vector<Part> &parts = jobs.parts[k];
      z3::expr work = parts.empty() ? update : numberOf(context, 0);
      for (const Part &part : parts)
        work = work + workOf(part, update);
      const z3::expr done = context.real_const(("done" + std::to_string(k)).c_str());
      solver.add(done >= now + left - tail - update + work);
      for (const Part &part : parts) {
        z3::expr after = ends[part.message] + workOf(part, update);
        for (const Part &other : parts)
          if (other.message != part.message)
            after = after + z3::ite(isBefore(part.message, other.message), workOf(other, update),
                                    numberOf(context, 0));
        solver.add(done >= after);
      }
      now = done;
      left = tail;
    }
    return now + left;
  }

  z3::expr workOf(const Part &part, const z3::expr &update) const {
    return exact(part.reconstruct) + exact(part.fraction) * update;
  }

  /// Fixes the order of messages that bring as much of one layer: they may change places.
  void addEqualMessages() {
    for (std::size_t x = 0; x < jobs.messages.size(); ++x)
      for (std::size_t y = x + 1; y < jobs.messages.size(); ++y)
        if (!jobs.messages[x].isHalf && !jobs.messages[y].isHalf &&
            jobs.messages[x].seconds == jobs.messages[y].seconds && bringTheSame(x, y))
          solver.add(isBefore(x, y));
  }

  bool bringTheSame(std::size_t x, std::size_t y) const {
    for (const std::vector<Part> &parts : jobs.parts) {
      const auto find = [&](std::size_t message) {
        return std::ranges::find(parts, message, &Part::message);
      };
      const auto one = find(x), other = find(y);
      if ((one == parts.end()) != (other == parts.end()))
        return false;
      if (one != parts.end() &&
          (one->fraction != other->fraction || one->reconstruct != other->reconstruct))
        return false;
    }
    return true;
  }

  const OrderProblem &problem;
  const Jobs &jobs;
  z3::solver &solver;
  z3::context &context;
  std::vector<z3::expr> ends; ///< of each message
};

Result<OrderAnswer> ask(const OrderProblem &problem, const Jobs &jobs, double deadline,
                        double seconds) {
  z3::context context;
  z3::solver solver = limitedSolver(context, seconds);
  OrderModel model(problem, jobs, solver);
  model.state(deadline);
  switch (solver.check()) {
  case z3::sat:
    return OrderAnswer{Verdict::possible, model.order(solver.get_model()), {}};
  case z3::unsat:
    return OrderAnswer{Verdict::impossible, {}, {}};
  case z3::unknown:
    return OrderAnswer{Verdict::noAnswer, {}, solver.reason_unknown()};
  }
  return Status::error(ErrorKind::internal, "Z3 judge: no result");
}

} // namespace

Result<OrderAnswer> findOrder(const OrderProblem &problem, const OrderSolution &solution,
                              double deadline, double seconds) {
  if (solution.messages.size() > maxAskedMessages)
    return Status::badInput("Z3 compares orders of at most " + std::to_string(maxAskedMessages) +
                            " messages, got " + std::to_string(solution.messages.size()));
  try {
    // What these messages take from computation they take in every order.
    return ask(problem, Jobs(problem, solution), deadline - lostSeconds(problem.sync, solution),
               seconds);
  } catch (const z3::exception &error) {
    const std::string reason = error.msg();
    if (reason.find("memory") != std::string::npos || reason.find("cancel") != std::string::npos)
      return OrderAnswer{Verdict::noAnswer, {}, reason};
    return Status::error(ErrorKind::internal, "Z3 judge: " + reason);
  }
}

} // namespace syncline::z3judge
