import { z } from 'zod'
import { defineTool } from '../tool/define-tool.ts'
import type { AnyTool } from '../tool/tool.ts'
import { toolError } from '../workspace/tool-error.ts'

const statuses = ['pending', 'in_progress', 'completed', 'cancelled'] as const

export interface Task {
  id: string
  subject: string
  description?: string | undefined
  status: (typeof statuses)[number]
}

/** A list of things to do, that a model keeps for itself and a host can show. */
export interface TaskBoard {
  readonly tasks: readonly Task[]
  add(task: Omit<Task, 'id' | 'status'>): Task
  /** Undefined where there is no such task. */
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
      if (tasks.size >= maxTasks) throw toolError(`There are ${maxTasks} tasks already.`, 'TooMany')
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

const subject = z.string().min(1).max(500).describe('What is to be done, in a few words')
const description = z.string().max(10_000).optional().describe('Details')

/** TaskCreate, TaskUpdate and TaskList. */
export function taskTools(board: TaskBoard): AnyTool[] {
  const common = { checkPermissions: () => ({ behavior: 'allow' }) as const }
  const create = defineTool({
    ...common,
    name: 'TaskCreate',
    description: 'Adds a task to the list of things to do.',
    inputSchema: z.object({ subject, description }),
    describe: (input) => input.subject,
    call: async (input) => ({ data: lineOf(board.add(input)) }),
  })
  const update = defineTool({
    ...common,
    name: 'TaskUpdate',
    description: 'Changes a task, such as to in_progress when it is begun, or to completed when it is done.',
    inputSchema: z.object({
      id: z.string(),
      status: z.enum(statuses).optional(),
      subject: subject.optional(),
      description,
    }),
    describe: ({ id, status }) => `${id}${status === undefined ? '' : ` ${status}`}`,
    async call({ id, ...change }) {
      const task = board.change(id, change)
      if (task === undefined) throw toolError(`There is no task ${id}. TaskList shows which there are.`, 'NoSuchTask')
      return { data: lineOf(task) }
    },
  })
  const list = defineTool({
    ...common,
    name: 'TaskList',
    description: 'Shows all tasks and how they stand.',
    inputSchema: z.object({}),
    isConcurrencySafe: () => true,
    isReadOnly: () => true,
    call: async () => ({ data: board.tasks.map(lineOf).join('\n') || 'There are no tasks.' }),
  })
  return [create, update, list]
}

const lineOf = ({ id, status, subject: text, description: more }: Task): string =>
  `${id}. [${status}] ${text}${more === undefined ? '' : `: ${more}`}`
