import { type AnyTool, defineTool, toolError } from 'signalbox'
import { z } from 'zod'

const statuses = ['pending', 'in_progress', 'completed', 'cancelled'] as const

export interface Task {
  id: string
  subject: string
  description?: string | undefined
  status: (typeof statuses)[number]
}

/** A task list that the model maintains and a host can show. */
export interface TaskBoard {
  readonly tasks: readonly Task[]
  add(task: Omit<Task, 'id' | 'status'>): Task
  /** Undefined if no such task exists. */
  change(id: string, change: { [Key in Exclude<keyof Task, 'id'>]?: Task[Key] | undefined }): Task | undefined
}

const maxTasks = 1_000

export function createTaskBoard(): TaskBoard {
  const tasks = new Map<string, Task>()
  let count = 0
  return {
    get tasks() {
      return [...tasks.values()]
    },
    add(given) {
      if (tasks.size >= maxTasks)
        throw toolError(
          `The list already has the maximum of ${maxTasks} tasks. Update an existing task instead.`,
          'TooMany',
        )
      const task: Task = { id: String(++count), ...given, status: 'pending' }
      tasks.set(task.id, task)
      return task
    },
    change(id, change) {
      const task = tasks.get(id)
      if (task === undefined) return undefined
      const changed = {
        ...task,
        ...Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)),
      }
      tasks.set(id, changed)
      return changed
    },
  }
}

const subject = z.string().min(1).max(500).describe('What to do, in a few words')
const description = z.string().max(10_000).optional().describe('Details')

/** TaskCreate, TaskUpdate and TaskList. */
export function taskTools(board: TaskBoard): AnyTool[] {
  const common = { checkPermissions: () => ({ behavior: 'allow' }) as const }
  const create = defineTool({
    ...common,
    name: 'TaskCreate',
    description: 'Adds a task to the task list.',
    inputSchema: z.object({ subject, description }),
    describe: (input) => input.subject,
    call: async (input) => ({ data: lineOf(board.add(input)) }),
  })
  const update = defineTool({
    ...common,
    name: 'TaskUpdate',
    description: 'Updates a task. Set in_progress when you start it and completed when it is done.',
    inputSchema: z.object({
      id: z.string(),
      status: z.enum(statuses).optional(),
      subject: subject.optional(),
      description,
    }),
    describe: ({ id, status }) => `${id}${status === undefined ? '' : ` ${status}`}`,
    async call({ id, ...change }) {
      const task = board.change(id, change)
      if (task === undefined) throw toolError(`Unknown task ${id}. Use TaskList to list the tasks.`, 'NoSuchTask')
      return { data: lineOf(task) }
    },
  })
  const list = defineTool({
    ...common,
    name: 'TaskList',
    description: 'Lists all tasks with their status.',
    inputSchema: z.object({}),
    isConcurrencySafe: () => true,
    isReadOnly: () => true,
    call: async () => ({ data: board.tasks.map(lineOf).join('\n') || 'No tasks.' }),
  })
  return [create, update, list]
}

const lineOf = ({ id, status, subject: text, description: more }: Task): string =>
  `${id}. [${status}] ${text}${more === undefined ? '' : `: ${more}`}`
