// The functions of syncline.h.
#include "runtime/api/OpenPlan.h"
#include "runtime/api/PlanGroup.h"

#include <cmath>
#include <mutex>
#include <set>

using namespace syncline::api;

namespace {

/// The plans or groups that the program holds. Never destroyed, for threads may outlive main().
template <typename T> class Handles {
public:
  static Handles &all() {
    static Handles &only = *new Handles;
    return only;
  }
  T *add(std::unique_ptr<T> made) {
    std::lock_guard lock(mutex);
    held.insert(made.get());
    return made.release();
  }
  /// Gives the object back to the caller; null where it is not held.
  std::unique_ptr<T> take(T *object) {
    std::lock_guard lock(mutex);
    return std::unique_ptr<T>(held.erase(object) > 0 ? object : nullptr);
  }
  bool has(const T *object) {
    std::lock_guard lock(mutex);
    return held.contains(object);
  }

private:
  std::mutex mutex;
  std::set<const T *> held;
};

using Plans = Handles<syncline_plan>;
using Groups = Handles<syncline_group>;

/// Where an argument is null that must not be: which one.
Failure expect(const void *given, const char *what) {
  return given ? Failure() : Failure::badUsage(std::string("expected ") + what + ", got NULL");
}

Failure expectPlan(const syncline_plan *plan) {
  Failure failure = expect(plan, "a plan");
  if (failure.isOk() && !Plans::all().has(plan))
    return Failure::badUsage("expected an open plan, got one that is closed");
  return failure;
}

Failure expectGroup(const syncline_group *group) {
  Failure failure = expect(group, "a group");
  if (failure.isOk() && !Groups::all().has(group))
    return Failure::badUsage("expected a group that was joined, got one that is closed");
  return failure;
}

Failure expectSeconds(double seconds) {
  return std::isnan(seconds) ? Failure::badUsage("expected seconds, got nan") : Failure();
}

Failure expectAll(std::initializer_list<Failure> failures) {
  for (const Failure &each : failures)
    if (!each.isOk())
      return each;
  return {};
}

/// Calls `f` with the group's insides where `group` and `more` are there.
template <typename F>
int onGroup(syncline_group *group, Failure more, syncline_error *error, F &&f) {
  return answer(error, [&] {
    Failure failure = expectAll({expectGroup(group), more});
    return failure.isOk() ? f(*group->group) : failure;
  });
}

} // namespace

const char *syncline_version(void) { return SYNCLINE_VERSION; }

int32_t syncline_api_number(void) { return SYNCLINE_API_NUMBER; }

int syncline_plan_open(const char *folder, syncline_plan **plan, syncline_error *error) {
  return answer(error, [&]() -> Failure {
    Failure failure = expectAll({expect(folder, "a folder"), expect(plan, "a place for the plan")});
    if (!failure.isOk())
      return failure;
    *plan = nullptr;
    auto opened = OpenPlan::open(folder);
    if (!opened)
      return Failure::of(opened.status());
    *plan = Plans::all().add(std::make_unique<syncline_plan>(syncline_plan{std::move(*opened)}));
    return {};
  });
}

void syncline_plan_close(syncline_plan *plan) { Plans::all().take(plan); }

int syncline_plan_about(const syncline_plan *plan, syncline_plan_info *info,
                        syncline_error *error) {
  return answer(error, [&] {
    Failure failure = expectPlan(plan);
    return failure.isOk() ? copyTo(info, plan->open->about(), "syncline_plan_info") : failure;
  });
}

int syncline_plan_message(const syncline_plan *plan, int32_t message, syncline_message_info *info,
                          syncline_error *error) {
  return answer(error, [&] {
    Failure failure = expectPlan(plan);
    if (failure.isOk())
      failure = plan->open->checkMessage(message);
    return failure.isOk() ? copyTo(info, plan->open->messages[static_cast<std::size_t>(message)],
                                   "syncline_message_info")
                          : failure;
  });
}

int syncline_plan_member(const syncline_plan *plan, int32_t message, int32_t member,
                         syncline_member_info *info, syncline_error *error) {
  return answer(error, [&] {
    Failure failure = expectPlan(plan);
    if (failure.isOk())
      failure = plan->open->checkMessage(message);
    if (!failure.isOk())
      return failure;
    const auto &members = plan->open->members[static_cast<std::size_t>(message)];
    if (member < 0 || member >= std::ssize(members))
      return Failure::badUsage(
          "message " + std::to_string(message) + ": expected a member from 0 to " +
          std::to_string(std::ssize(members) - 1) + ", got " + std::to_string(member));
    return copyTo(info, members[static_cast<std::size_t>(member)], "syncline_member_info");
  });
}

int syncline_plan_choose(const syncline_plan *plan, int64_t bytes, const char **scheme,
                         double *seconds, syncline_error *error) {
  return answer(error, [&] {
    Failure failure = expectPlan(plan);
    if (!failure.isOk())
      return failure;
    if (bytes < 0)
      return Failure::badUsage("expected bytes from 0 on, got " + std::to_string(bytes));
    const SchemeChoice::Chosen chosen = plan->open->others.of(bytes);
    if (scheme)
      *scheme = schemeName(chosen.scheme).data(); // which ends with a zero
    if (seconds)
      *seconds = chosen.seconds;
    return failure;
  });
}

int syncline_group_join(const syncline_plan *plan, const syncline_group_options *options,
                        syncline_group **group, syncline_error *error) {
  return answer(error, [&]() -> Failure {
    Failure failure = expectAll({expectPlan(plan), expect(group, "a place for the group")});
    if (!failure.isOk())
      return failure;
    *group = nullptr;
    auto settings = GroupSettings::read(options);
    if (!settings)
      return Failure::of(settings.status());
    auto held = std::make_unique<syncline_group>();
    auto joined = PlanGroup::join(plan->open, *settings);
    if (!joined)
      return Failure::of(joined.status());
    held->group = std::move(*joined);
    *group = Groups::all().add(std::move(held));
    return {};
  });
}

int syncline_issue(syncline_group *group, int32_t message, void *data, int64_t count, int32_t type,
                   int32_t operation, uint64_t *ticket, syncline_error *error) {
  return onGroup(group, expect(ticket, "a place for the ticket"), error, [&](PlanGroup &on) {
    return on.issue(message, {data, count, type, operation}, *ticket);
  });
}

int syncline_gather(syncline_group *group, int32_t message, void *data, int64_t count, int32_t type,
                    uint64_t *ticket, syncline_error *error) {
  return onGroup(group, expect(ticket, "a place for the ticket"), error,
                 [&](PlanGroup &on) { return on.gather(message, {data, count, type}, *ticket); });
}

int syncline_shard(syncline_group *group, int32_t message, int64_t *offset, int64_t *count,
                   syncline_error *error) {
  const Failure places =
      expectAll({expect(offset, "a place for the offset"), expect(count, "a place for the count")});
  return onGroup(group, places, error,
                 [&](PlanGroup &on) { return on.shardOf(message, *offset, *count); });
}

int syncline_reduce_scatter(syncline_group *group, int32_t message, void *data, int64_t count,
                            int32_t type, int32_t operation, uint64_t *ticket,
                            syncline_error *error) {
  return onGroup(group, expect(ticket, "a place for the ticket"), error, [&](PlanGroup &on) {
    return on.reduceScatter(message, {data, count, type, operation}, *ticket);
  });
}

int syncline_all_gather(syncline_group *group, int32_t message, void *data, int64_t count,
                        int32_t type, uint64_t *ticket, syncline_error *error) {
  return onGroup(group, expect(ticket, "a place for the ticket"), error, [&](PlanGroup &on) {
    return on.allGather(message, {data, count, type}, *ticket);
  });
}

int syncline_all_reduce(syncline_group *group, void *data, int64_t count, int32_t type,
                        int32_t operation, uint64_t *ticket, syncline_error *error) {
  return onGroup(group, expect(ticket, "a place for the ticket"), error, [&](PlanGroup &on) {
    return on.allReduce({data, count, type, operation}, *ticket);
  });
}

int syncline_wait(syncline_group *group, uint64_t ticket, double seconds, syncline_error *error) {
  return onGroup(group, expectSeconds(seconds), error,
                 [&](PlanGroup &on) { return on.wait(ticket, seconds); });
}

int syncline_step(syncline_group *group, syncline_error *error) {
  return onGroup(group, {}, error, [&](PlanGroup &on) { return on.step(); });
}

int syncline_group_check(syncline_group *group, syncline_error *error) {
  return onGroup(group, {}, error, [&](PlanGroup &on) { return on.check(); });
}

int syncline_group_abort(syncline_group *group, const char *why, syncline_error *error) {
  return onGroup(group, expect(why, "a reason"), error,
                 [&](PlanGroup &on) { return on.abort(why); });
}

int syncline_group_trace(syncline_group *group, syncline_message_time *times, int64_t capacity,
                         int64_t *count, syncline_error *error) {
  return onGroup(group, expect(count, "a place for the count"), error,
                 [&](PlanGroup &on) { return on.trace(times, capacity, *count); });
}

int syncline_group_close(syncline_group *group, double seconds, syncline_error *error) {
  return onGroup(group, expectSeconds(seconds), error, [&](PlanGroup &on) {
    if (Failure failure = on.checkMayBlock("syncline_group_close()"); !failure.isOk())
      return failure;
    const std::unique_ptr<syncline_group> held = Groups::all().take(group);
    return held ? held->group->close(seconds) : expectGroup(group);
  });
}
