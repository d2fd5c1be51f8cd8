/* The C interface of Syncline: the messages of a plan between the processes of any program.
 *
 * A program opens a plan, joins a group of ranks, and hands over the address of each message. The
 * message is summed over the ranks by the plan's scheme, in place, while the program computes.
 *
 *     syncline_error error;
 *     syncline_plan *plan = NULL;
 *     syncline_group *group = NULL;
 *     uint64_t ticket = 0;
 *     syncline_group_options options = {0};
 *     options.size = sizeof options;
 *     options.rank = rank;
 *     options.ranks = ranks;
 *     if (syncline_plan_open("my.plan", &plan, &error) != SYNCLINE_OK ||
 *         syncline_group_join(plan, &options, &group, &error) != SYNCLINE_OK ||
 *         syncline_issue(group, 0, data, count, SYNCLINE_F32, SYNCLINE_MEAN, &ticket, &error) !=
 *             SYNCLINE_OK ||
 *         syncline_wait(group, ticket, -1, &error) != SYNCLINE_OK)
 *       fprintf(stderr, "%s\n", error.text);
 *
 * Errors. A function returns a syncline_code. Where that is not SYNCLINE_OK, it has also filled the
 * error that the caller gave, which may be NULL. No exception leaves the library, and no mistake of
 * a caller that it can see ends the process. It sees NULL, and a plan or group that is closed
 * unless a new one has its address, but no other pointer that is not valid.
 *
 * The rank at fault. In a group that was joined it is the one that ended, got stuck, failed, aborted,
 * or closed the group with messages under way; all ranks name the same one, and it names itself. A
 * rank whose own part of a message fails, as where another rank's message differs, has -1 and the
 * reason; the others name it and repeat the reason. Where a call alone is wrong, in
 * syncline_group_join(), and where ranks do not come to syncline_group_close() in time, it is -1.
 *
 * Threads. A plan does not change: any threads may use it at the same time. Of a group
 *   - syncline_issue, syncline_gather, syncline_reduce_scatter, syncline_all_gather,
 *     syncline_all_reduce and syncline_step may be called from any thread, one behind the other:
 *     their order is that of the messages, and all ranks must keep it, with equal types and
 *     operations. A rank that differs in a message's bytes, type or operation is named.
 *   - syncline_wait, syncline_shard, syncline_group_check, syncline_group_trace and
 *     syncline_group_abort may be called from any thread at any time, also while another thread
 *     issues or waits.
 *   - syncline_group_close is the last call. No other call on the group may be under way.
 *   - A group has a thread for each channel of the plan, and a few for links, in the library. They
 *     call nothing of the program but `done` of the options.
 * A process may have any number of groups. A child made by fork() must not use those of its parent.
 *
 * Memory. Data belong to the library from the call that takes them until its ticket has ended: with
 * success, or with an error other than SYNCLINE_TIMED_OUT of syncline_wait. Texts that a plan hands
 * out live as long as the plan. A group needs its plan no longer once it has joined.
 *
 * Versions. A program made for one version of this header works with every library of the same
 * SONAME that is not older. Structs that may grow begin with `size`, which the caller sets to their
 * sizeof; what the caller's struct has not is not written, and counts as 0 where it is read.
 */
#ifndef SYNCLINE_H
#define SYNCLINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SYNCLINE_API __attribute__((visibility("default")))
#else
#define SYNCLINE_API
#endif

/* The number of this interface. It rises by one with each addition. */
#define SYNCLINE_API_NUMBER 3

typedef enum syncline_code {
  SYNCLINE_OK = 0,
  SYNCLINE_BAD_INPUT = 1, /* a file, a value or the environment is wrong */
  SYNCLINE_BAD_USAGE = 2, /* a call that may not be made now, or a wrong argument */
  SYNCLINE_PEER_LOST = 3, /* another rank died, got stuck or disagrees: the group is at its end */
  SYNCLINE_TIMED_OUT = 4, /* syncline_wait: the message is still under way */
  SYNCLINE_INTERNAL = 5   /* a defect of Syncline */
} syncline_code;

/* Why a call failed. All fields are always written. */
typedef struct syncline_error {
  int32_t code;    /* a syncline_code */
  int32_t rank;    /* the rank at fault, see above; -1 for none */
  int32_t message; /* the plan's message, by its place in the plan; -1 for none */
  int32_t unused;
  int64_t step;    /* the step of that message; -1 for none */
  char text[2024]; /* one sentence, cut where it is longer; empty for SYNCLINE_OK */
} syncline_error;

/* The library's version, such as "0.1.0", and its SYNCLINE_API_NUMBER. */
SYNCLINE_API const char *syncline_version(void);
SYNCLINE_API int32_t syncline_api_number(void);

/* Plans ---------------------------------------------------------------------------------------- */

typedef enum syncline_type {
  SYNCLINE_F32 = 0,
  SYNCLINE_F64 = 1,
  SYNCLINE_F16 = 2,
  SYNCLINE_BF16 = 3,
  SYNCLINE_I64 = 4,
  SYNCLINE_I32 = 5
} syncline_type;

typedef struct syncline_plan syncline_plan;

typedef struct syncline_plan_info {
  uint32_t size;
  int32_t ranks;
  int32_t servers;        /* dedicated parameter servers, which groups refuse */
  int32_t ranks_per_node; /* of the plan's cluster; 0 where the plan does not say */
  int32_t messages;       /* of a step */
  int32_t micro_batches;  /* whose gradients a step adds up before they travel */
  int32_t overlaps_steps; /* 1 where a message may arrive in the next step, else 0 */
  int32_t unused;
  double step;             /* predicted seconds of a step */
  const char *name;        /* the model's */
  const char *hash;        /* of the plan, in hexadecimal */
  const char *model_hash;  /* SHA-256 of the model file; empty where the plan does not say */
  const char *wire;        /* in which values of f32 travel: "fp32", "bf16", "fp16" */
  const char *consistency; /* "bsp" where gradients travel. With "local:H" and "diloco:.." weights
                                 do, which the caller sends by syncline_all_reduce(), and no
                                 message is carried; groups refuse others */
} syncline_plan_info;

/* A message of the plan: a bucket of gradients, one behind the other without gaps. */
typedef struct syncline_message_info {
  uint32_t size;
  int32_t id;          /* the bucket's number in reports of the plan */
  int32_t channel;     /* messages of one channel follow each other */
  int32_t type;        /* a syncline_type: that of the members */
  int32_t members;     /* gradients in the message */
  int32_t is_carried;  /* 0 where syncline_issue() refuses it */
  int64_t bytes;       /* of all members */
  int64_t count;       /* elements of all members */
  double ready;        /* predicted seconds from the beginning of the last micro-batch: when the */
  double start;        /* last rank has the gradients, when the message starts, and when it is */
  double end;          /* over */
  const char *scheme;  /* such as "ring" */
  const char *why_not; /* why the message is not carried; empty where it is */
  int32_t is_gathered; /* 1 where syncline_gather() carries it, else 0; from number 2 on */
  int32_t is_sharded;  /* 1 where syncline_reduce_scatter() and syncline_all_gather() carry it, else
                                 0; from number 3 on */
} syncline_message_info;

/* A gradient in a message, or the part of it that is not cut off. */
typedef struct syncline_member_info {
  uint32_t size;
  int32_t unused;
  int64_t offset;   /* bytes before it in the message */
  int64_t bytes;    /* in the message */
  int64_t skipped;  /* bytes of the gradient before this part, which another message carries */
  int64_t whole;    /* bytes of the whole gradient */
  const char *name; /* the parameter's, or the layer's of a trace */
} syncline_member_info;

/* Opens the plan in a folder that `syncline compile` wrote. Plans of layer traces and those of
 * --plan-only will do. Checks the hash of plan.json, but not of the folder's other files. */
SYNCLINE_API int syncline_plan_open(const char *folder, syncline_plan **plan,
                                    syncline_error *error);
/* Does nothing for NULL, and for a plan that is closed. */
SYNCLINE_API void syncline_plan_close(syncline_plan *plan);

SYNCLINE_API int syncline_plan_about(const syncline_plan *plan, syncline_plan_info *info,
                                     syncline_error *error);
/* `message` is its place in the order of the plan, from 0. */
SYNCLINE_API int syncline_plan_message(const syncline_plan *plan, int32_t message,
                                       syncline_message_info *info, syncline_error *error);
SYNCLINE_API int syncline_plan_member(const syncline_plan *plan, int32_t message, int32_t member,
                                      syncline_member_info *info, syncline_error *error);

/* The scheme by which syncline_all_reduce() sums so many bytes, and its predicted seconds. It is
 * the all-reduce that costs least by the costs that the plan's cluster states. Where it states
 * none, formulas over the latency and the bandwidth of its slowest link give those of ring,
 * recursive-doubling, halving-doubling and tree. Without a network it is ring, at 0 seconds. */
SYNCLINE_API int syncline_plan_choose(const syncline_plan *plan, int64_t bytes, const char **scheme,
                                      double *seconds, syncline_error *error);

/* Groups --------------------------------------------------------------------------------------- */

/* A key-value store that all ranks of a group share, such as PyTorch's TCPStore. Ranks use it to
 * find rank 0, during syncline_group_join() and in its thread alone. */
typedef struct syncline_store {
  void *context; /* handed to both functions */
  /* Sets a key. Returns 0, or another number for a failure. */
  int (*set)(void *context, const char *key, const void *value, size_t bytes);
  /* Waits up to `seconds` until the key is set, and copies at most `capacity` bytes of its value.
   * Returns how many bytes the value has, or -1 where it was not set in time. */
  int64_t (*get)(void *context, const char *key, void *value, size_t capacity, double seconds);
} syncline_store;

/* `error->code` is SYNCLINE_OK for a message that has arrived. `error` lives as long as the call.
 * Called by a thread of the library, once for each ticket, before syncline_wait() returns for it.
 * May issue messages, but must not wait for any, and must not close the group. The thread carries
 * out the next message when the call returns. */
typedef void (*syncline_done)(void *context, uint64_t ticket, const syncline_error *error);

/* What is 0 or NULL has its default. */
typedef struct syncline_group_options {
  uint32_t size;
  int32_t rank;
  int32_t ranks;          /* must be the plan's */
  int32_t ranks_per_node; /* for 'hierarchical': ranks [i n, (i+1) n) share a node; default: the
                                 plan's */
  int32_t port;           /* on which rank 0 serves; default: 29400; unused with a store */
  int32_t traced_steps;   /* how many of the last steps the group records; default: 16 */
  const char *name;       /* of the group, equal on all ranks, and of no earlier group that used
                                 the same store; default: "syncline" */
  const char *address;    /* of rank 0's host, by which the others reach it: default 127.0.0.1 */
  const char *interface_name;  /* network interface for messages; default: that of the route to
                                 rank 0 */
  const char *secret;          /* that all ranks know and others do not; default: none, and with a
                                 store one that rank 0 draws */
  const syncline_store *store; /* default: none; ranks then meet at `address` and `port` */
  double start_seconds;        /* how long a rank waits for the others to join; default: 60 */
  double lost_seconds;         /* how long a message may make no progress before its group ends and
                                 the rank at fault is named; default: 30 */
  syncline_done done;          /* called at the end of each message; default: none */
  void *done_context;
} syncline_group_options;

typedef struct syncline_group syncline_group;

typedef enum syncline_operation { SYNCLINE_SUM = 0, SYNCLINE_MEAN = 1 } syncline_operation;

/* Waits until all ranks have joined, compares their plans and names, and opens the channels. All
 * ranks call it. An error names what the ranks differ in, or the ranks that did not come. */
SYNCLINE_API int syncline_group_join(const syncline_plan *plan,
                                     const syncline_group_options *options, syncline_group **group,
                                     syncline_error *error);

/* Hands over a message of the plan: `count` elements at `data`, aligned to their type. `type` is a
 * syncline_type, `operation` a syncline_operation. Returns at once. Values of f32 are rounded to
 * the plan's wire on their way. SYNCLINE_MEAN divides the sum by the number of ranks; whole
 * numbers have no mean. All ranks get equal bits.
 *
 * A step's messages come in the plan's order, each once at most; what one rank leaves out all must
 * leave out. A message must have ended before it is issued again. A message that travels in halves
 * by the plan travels as a whole. */
SYNCLINE_API int syncline_issue(syncline_group *group, int32_t message, void *data, int64_t count,
                                int32_t type, int32_t operation, uint64_t *ticket,
                                syncline_error *error);

/* Hands over a message of the plan that is_gathered: in place of a gradient, ranks exchange what
 * they compute it from, such as a layer's inputs and the gradients of its outputs. `data` has room
 * for `count` elements of each rank, by rank; this rank's own stand in their place. When the ticket
 * has ended, all ranks have all elements, those of f32 rounded to the plan's wire. All ranks pass
 * equal counts and types, which may differ from step to step. Otherwise as syncline_issue(). From
 * number 2 on. */
SYNCLINE_API int syncline_gather(syncline_group *group, int32_t message, void *data, int64_t count,
                                 int32_t type, uint64_t *ticket, syncline_error *error);

/* Which elements of a message of the plan that is_sharded this rank owns: `count` of them behind
 * `offset`, of the message's `count`. Shards lie one behind the other by rank; one may be empty.
 * From number 3 on. */
SYNCLINE_API int syncline_shard(syncline_group *group, int32_t message, int64_t *offset,
                                int64_t *count, syncline_error *error);

/* Hands over a message of the plan that is_sharded, of which each rank gets the sum or the mean of
 * its own shard, in place. The other elements are partial sums then, which differ between ranks.
 * Otherwise as syncline_issue(). From number 3 on. */
SYNCLINE_API int syncline_reduce_scatter(syncline_group *group, int32_t message, void *data,
                                         int64_t count, int32_t type, int32_t operation,
                                         uint64_t *ticket, syncline_error *error);

/* Sends this rank's shard of `count` elements at `data`, such as parameters that it has updated, to
 * all ranks, which have all shards when the ticket has ended. `count` and `type` are those of a
 * message of the plan that is_sharded, and it travels on that message's channel, unrounded. The
 * message must not be under way. At any time, but by all ranks at the same place among their calls.
 * From number 3 on. */
SYNCLINE_API int syncline_all_gather(syncline_group *group, int32_t message, void *data,
                                     int64_t count, int32_t type, uint64_t *ticket,
                                     syncline_error *error);

/* As syncline_issue(), for values that are no message of the plan, at any time. They travel on the
 * first channel behind what was issued there, unrounded, by the scheme of syncline_plan_choose().
 * All ranks call it with equal counts, types and operations at the same place among their calls.
 * SYNCLINE_I64 and SYNCLINE_I32 take SYNCLINE_SUM alone. */
SYNCLINE_API int syncline_all_reduce(syncline_group *group, void *data, int64_t count, int32_t type,
                                     int32_t operation, uint64_t *ticket, syncline_error *error);

/* Waits until a ticket has ended, up to `seconds`: 0 asks without waiting, and with a negative
 * number lost_seconds alone limits the wait. The error says whether it arrived. May be called again
 * for the same ticket, and need not be called at all. */
SYNCLINE_API int syncline_wait(syncline_group *group, uint64_t ticket, double seconds,
                               syncline_error *error);

/* Begins the next step: its messages count from the first one again. The first step, 0, begins as
 * the group is joined. Messages may be under way. */
SYNCLINE_API int syncline_step(syncline_group *group, syncline_error *error);

/* SYNCLINE_OK while no rank is known to be lost. Sends no message. Ranks learn of a process that
 * ended at once, of one that is stuck when a message waits for it: at most 3 s after lost_seconds.
 * All later calls on the group fail with this error. */
SYNCLINE_API int syncline_group_check(syncline_group *group, syncline_error *error);

/* Ends the group on all ranks, and all its messages under way, as if this rank had failed for the
 * reason that `why` gives: the others' errors have it. The group must still be closed. */
SYNCLINE_API int syncline_group_abort(syncline_group *group, const char *why,
                                      syncline_error *error);

/* When a message travelled, in seconds since the group was joined. */
typedef struct syncline_message_time {
  int32_t message; /* its place in the plan; -1 for one of syncline_all_reduce() */
  int32_t half;    /* 1 of syncline_reduce_scatter(), 2 of syncline_all_gather(), else 0; from
                      number 3 on */
  int64_t step;
  uint64_t ticket;
  int64_t bytes;      /* of one rank where ranks gather */
  const char *scheme; /* lives for ever */
  double issued, started, finished;
} syncline_message_time;

/* Copies the times of the messages that ended in the last `traced_steps` steps, in the order of
 * their ends, the last `capacity` of them. `count` becomes the number of all, at most 65,536. */
SYNCLINE_API int syncline_group_trace(syncline_group *group, syncline_message_time *times,
                                      int64_t capacity, int64_t *count, syncline_error *error);

/* Leaves the group and frees it, whatever the result. Waits up to `seconds` until this rank's
 * messages have ended and all ranks have called it. With messages still under way the group ends on
 * all ranks, which name this one; their data are the caller's when the call returns. In `done`,
 * and where `seconds` is not a number, it fails and does nothing. */
SYNCLINE_API int syncline_group_close(syncline_group *group, double seconds, syncline_error *error);

#ifdef __cplusplus
}
#endif

#endif
