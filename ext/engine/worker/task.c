#include "engine/worker/task.h"

#include "engine/worker/thread.h"

#include <stddef.h>

void clr_task_init(struct clr_task *task, enum clr_task_kind kind, clr_task_step *step,
                   void (*destroy)(struct clr_task *))
{
    task->kind = kind;
    task->step = step;
    task->destroy = destroy;
    task->log = NULL;
    atomic_init(&task->references, 1);
    task->next = NULL;
    task->has_begun = task->is_under_way = false;
    atomic_init(&task->phase, CLR_TASK_IDLE);
    clr_thread_cond_init(&task->changed);
    clr_status_clear(&task->status);
}

struct clr_task *clr_task_retain(struct clr_task *task)
{
    atomic_fetch_add(&task->references, 1);
    return task;
}

void clr_task_release(struct clr_task *task)
{
    if (atomic_fetch_sub(&task->references, 1) != 1)
        return;
    pthread_cond_destroy(&task->changed);
    task->destroy(task);
}

void clr_task_queue_init(struct clr_task_queue *queue)
{
    queue->first = NULL;
    queue->last = &queue->first;
}

void clr_task_queue_push(struct clr_task_queue *queue, struct clr_task *task)
{
    task->next = NULL;
    *queue->last = task;
    queue->last = &task->next;
}

void clr_task_queue_remove(struct clr_task_queue *queue, struct clr_task *task)
{
    struct clr_task **link = &queue->first;

    while (*link != task)
        link = &(*link)->next;
    *link = task->next;
    if (task->next == NULL)
        queue->last = link;
}

struct clr_task *clr_task_queue_pop(struct clr_task_queue *queue)
{
    struct clr_task *task = queue->first;

    if (task == NULL)
        return NULL;
    queue->first = task->next;
    if (queue->first == NULL)
        queue->last = &queue->first;
    return task;
}
