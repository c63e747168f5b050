/*
 * A program that computes several reductions in one pass holds an operation's file once for each of
 * their kinds, an operation on an element type. The names that those files share are told apart by
 * the kind, and a row's function by the number of the step: before each copy the host defines anew
 * KIND, REAL, KEYS and OPERANDS, and STEP.
 */
#define PASTE(name, suffix) name##suffix
#define OF(name, suffix) PASTE(name, suffix)
#define OF_KIND(name) OF(name##_, KIND)
#define OF_STEP(name) OF(name##_, STEP)

#define element OF_KIND(element)
#define partial OF_KIND(partial)
#define running OF_KIND(running)
#define partial_zero OF_KIND(partial_zero)
#define partial_add OF_KIND(partial_add)
#define partial_is_zero OF_KIND(partial_is_zero)
#define partial_lower OF_KIND(partial_lower)
#define partial_merge OF_KIND(partial_merge)
#define running_zero OF_KIND(running_zero)
#define running_add OF_KIND(running_add)
#define running_add_times OF_KIND(running_add_times)
#define running_went_wide OF_KIND(running_went_wide)
#define running_add_rest OF_KIND(running_add_rest)
#define running_add_pair OF_KIND(running_add_pair)
#define running_take OF_KIND(running_take)
#define running_miss OF_KIND(running_miss)
#define window_wanted OF_KIND(window_wanted)
#define running_finish OF_KIND(running_finish)
#define wide_take OF_KIND(wide_take)
#define group_merge OF_KIND(group_merge)
#define look_at_row OF_STEP(look_at_row)
