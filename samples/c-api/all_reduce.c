/* Sums the messages of a plan over the ranks of a group, and checks the sums.
 *
 *     all_reduce PLAN RANK RANKS [PORT]
 *
 * README.md says how to build and start it. */
#include <syncline.h>

#include <stdio.h>
#include <stdlib.h>

enum { steps = 3 };

static syncline_error error;

static int fail(void) {
  fprintf(stderr, "all_reduce: %s\n", error.text);
  return 1;
}

/* What a rank adds to element i in a step. The sums are small whole numbers. */
static float part(int rank, int step, int64_t i) {
  return (float)((rank + 1) * (1 + (i + step) % 5));
}

/* The first element that is not the sum of all parts, or -1. */
static int64_t firstWrong(const float *values, int64_t count, int ranks, int step) {
  int64_t i;
  for (i = 0; i < count; ++i) {
    float sum = 0;
    int rank;
    for (rank = 0; rank < ranks; ++rank)
      sum += part(rank, step, i);
    if (values[i] != sum)
      return i;
  }
  return -1;
}

/* Hands all messages over, then waits for each. A program computes between the two. */
static int runStep(syncline_group *group, const syncline_message_info *messages, float **values,
                   uint64_t *tickets, int count, int rank, int ranks, int step) {
  int m;
  for (m = 0; m < count; ++m) {
    int64_t i;
    int code;
    for (i = 0; i < messages[m].count; ++i)
      values[m][i] = part(rank, step, i);
    code = messages[m].is_carried
               ? syncline_issue(group, m, values[m], messages[m].count, SYNCLINE_F32, SYNCLINE_SUM,
                                &tickets[m], &error)
               : syncline_all_reduce(group, values[m], messages[m].count, SYNCLINE_F32,
                                     SYNCLINE_SUM, &tickets[m], &error);
    if (code != SYNCLINE_OK)
      return fail();
  }
  for (m = 0; m < count; ++m) {
    int64_t wrong;
    if (syncline_wait(group, tickets[m], -1, &error) != SYNCLINE_OK)
      return fail();
    wrong = firstWrong(values[m], messages[m].count, ranks, step);
    if (wrong >= 0) {
      fprintf(stderr, "all_reduce: message %d, element %ld is no sum\n", m, (long)wrong);
      return 1;
    }
  }
  return syncline_step(group, &error) == SYNCLINE_OK ? 0 : fail();
}

/* When the last step's messages travelled. */
static int printTimes(syncline_group *group) {
  syncline_message_time times[64];
  int64_t count = 0, i;
  if (syncline_group_trace(group, times, 64, &count, &error) != SYNCLINE_OK)
    return fail();
  for (i = 0; i < count && i < 64; ++i)
    if (times[i].step == steps - 1)
      printf("message %d: %ld bytes by %s, %.0f us\n", times[i].message, (long)times[i].bytes,
             times[i].scheme, 1e6 * (times[i].finished - times[i].started));
  return 0;
}

int main(int argc, char **argv) {
  syncline_plan *plan = NULL;
  syncline_group *group = NULL;
  syncline_plan_info about = {0};
  syncline_group_options options = {0};
  syncline_message_info *messages;
  float **values;
  uint64_t *tickets;
  int m, step, result = 0;
  if (argc < 4) {
    fprintf(stderr, "usage: all_reduce PLAN RANK RANKS [PORT]\n");
    return 2;
  }
  about.size = sizeof about;
  if (syncline_plan_open(argv[1], &plan, &error) != SYNCLINE_OK ||
      syncline_plan_about(plan, &about, &error) != SYNCLINE_OK)
    return fail();
  messages = calloc((size_t)about.messages, sizeof *messages);
  values = calloc((size_t)about.messages, sizeof *values);
  tickets = calloc((size_t)about.messages, sizeof *tickets);
  for (m = 0; m < about.messages; ++m) {
    messages[m].size = sizeof *messages;
    if (syncline_plan_message(plan, m, &messages[m], &error) != SYNCLINE_OK)
      return fail();
    values[m] = malloc((size_t)messages[m].bytes);
  }
  options.size = sizeof options;
  options.rank = atoi(argv[2]);
  options.ranks = atoi(argv[3]);
  options.port = argc > 4 ? atoi(argv[4]) : 0;
  if (syncline_group_join(plan, &options, &group, &error) != SYNCLINE_OK)
    return fail();
  for (step = 0; step < steps && result == 0; ++step)
    result = runStep(group, messages, values, tickets, about.messages, options.rank, options.ranks,
                     step);
  if (result == 0 && options.rank == 0)
    result = printTimes(group);
  if (syncline_group_close(group, 10, &error) != SYNCLINE_OK && result == 0)
    result = fail();
  syncline_plan_close(plan);
  for (m = 0; m < about.messages; ++m)
    free(values[m]);
  free(tickets);
  free(values);
  free(messages);
  return result;
}
