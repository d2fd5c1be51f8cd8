/* The header in plain C: every struct, and calls that fail. */
#include "syncline.h"

#include <string.h>

int synclineInC(const char *folder, char *text, size_t room);

/* Opens a plan and returns the code; the error's text goes to `text`. */
int synclineInC(const char *folder, char *text, size_t room) {
  syncline_error error;
  syncline_plan *plan = NULL;
  syncline_plan_info about = {0};
  syncline_message_info message = {0};
  syncline_member_info member = {0};
  syncline_group_options options = {0};
  syncline_store store = {NULL, NULL, NULL};
  int code = syncline_plan_open(folder, &plan, &error);
  about.size = sizeof about;
  message.size = sizeof message;
  member.size = sizeof member;
  options.size = sizeof options;
  options.store = &store;
  if (code == SYNCLINE_OK)
    code = syncline_plan_about(plan, &about, &error);
  if (code == SYNCLINE_OK)
    code = syncline_plan_message(plan, 0, &message, &error);
  if (code == SYNCLINE_OK)
    code = syncline_plan_member(plan, 0, 0, &member, &error);
  syncline_plan_close(plan);
  strncpy(text, error.text, room - 1);
  text[room - 1] = '\0';
  return code;
}
