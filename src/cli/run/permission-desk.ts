import type { AnyTool, CanUseTool, PermissionAnswer, PermissionQuestion, ToolCallContext } from '../../index.ts'
import { encodeValue } from '../../inspect/index.ts'
import type { Canvas } from '../view/call-lines.ts'
import { nameOf } from '../view/name-of.ts'
import type { SessionView } from '../view/session-view.ts'
import { type AlwaysRule, alwaysRule, covers } from './always-rule.ts'
import type { Key } from './keyboard.ts'
import { questionLines } from './question-lines.ts'

/** A call that waits for the word of whoever sits at the terminal. */
export interface DeskQuestion {
  readonly id: string
  readonly tool: AnyTool
  readonly input: Record<string, unknown>
  readonly context: ToolCallContext
  readonly question: PermissionQuestion | undefined
  /** The call of the agent whose call it is, where it is not one of the conversation. */
  readonly agent: string | undefined
  readonly always: AlwaysRule
  /** When it is answered with yes by itself, on the clock of the frames. */
  readonly answersItselfAt: number | undefined
  readonly settle: (answer: PermissionAnswer) => void
}

export interface DeskOptions {
  readonly session: SessionView
  readonly changed: () => void
  /** Tells whoever watches what was agreed on. */
  readonly note: (text: string) => void
  readonly now: () => number
  /** After how long nobody is waited for any more, and the answer is yes: for a show. */
  readonly yesAfterMs?: number | undefined
}

const defaultDenial = 'The user said no.'

/** The questions of the calls, one after the other, and the keys that answer them. */
export class PermissionDesk {
  readonly #options: DeskOptions
  #queue: DeskQuestion[] = []
  /** What was allowed for the rest of the session: an agent has rules of its own otherwise. */
  readonly #rules: string[] = []
  /** The reason for a no, while it is typed. */
  #typed: string | undefined

  constructor(options: DeskOptions) {
    this.#options = options
  }

  get isAsking(): boolean {
    return this.#queue.length > 0
  }

  readonly ask: CanUseTool = (...asked) => this.#ask(asked, undefined)

  /** The same for the calls of an agent. */
  askFor(agent: string): CanUseTool {
    return (...asked) => this.#ask(asked, agent)
  }

  async #ask(
    [tool, input, context, , id, question]: Parameters<CanUseTool>,
    agent: string | undefined,
  ): Promise<PermissionAnswer> {
    const always = await alwaysRule(tool, input, context, question)
    if ('rules' in always && (await covers(tool, input, context, this.#rules))) return { behavior: 'allow' }
    const { signal } = context.abortController
    const { yesAfterMs, now } = this.#options
    return new Promise((resolve) => {
      const settle = (answer: PermissionAnswer): void => {
        clearTimeout(timer)
        // a reason that was begun belongs to this question
        if (this.#queue[0] === entry) this.#typed = undefined
        this.#queue = this.#queue.filter((each) => each !== entry)
        resolve(answer)
        this.#options.changed()
      }
      // whoever stopped the call does not want an answer
      signal.addEventListener('abort', () => settle({ behavior: 'deny', message: defaultDenial }), { once: true })
      const answersItselfAt = yesAfterMs === undefined ? undefined : now() + yesAfterMs
      const timer = yesAfterMs === undefined ? undefined : setTimeout(() => settle({ behavior: 'allow' }), yesAfterMs)
      const entry: DeskQuestion = { id, tool, input, context, question, agent, always, answersItselfAt, settle }
      if (signal.aborted) return settle({ behavior: 'deny', message: defaultDenial })
      this.#queue.push(entry)
      this.#options.changed()
    })
  }

  /** Somebody else may have answered, such as in the inspector: those questions are gone. */
  heed(open: ReadonlySet<string>): void {
    for (const { id, agent, settle } of [...this.#queue]) {
      // the frames know nothing of the calls of agents
      if (agent === undefined && !open.has(id)) settle({ behavior: 'deny', message: defaultDenial })
    }
  }

  /** True where the key was for it. */
  press(key: Key): boolean {
    const first = this.#queue[0]
    if (first === undefined) return false
    if (this.#typed !== undefined) this.#type(first, this.#typed, key)
    else if (key.text === 'y') first.settle({ behavior: 'allow' })
    else if (key.text === 'a' && 'rules' in first.always) this.#always(first, first.always.rules)
    else if (key.text === 'n') this.#typed = ''
    this.#options.changed()
    return true
  }

  lines(canvas: Canvas): string[] {
    const first = this.#queue[0]
    if (first === undefined) return []
    const { session } = this.#options
    const call = first.agent === undefined ? session.find(first.id) : undefined
    const agent = first.agent === undefined ? undefined : session.find(first.agent)
    const by = agent && nameOf(agent)
    const shown = { name: first.tool.name, number: call?.number, by, input: encodeValue(first.input, { text: 4_000 }) }
    return questionLines({ ...first, ...shown, typed: this.#typed, more: this.#queue.length - 1 }, canvas)
  }

  #type(first: DeskQuestion, typed: string, { name, text }: Key): void {
    if (name === 'escape') this.#typed = undefined
    else if (name === 'backspace') this.#typed = [...typed].slice(0, -1).join('')
    else if (name === 'return' || name === 'enter') {
      this.#typed = undefined
      const reason = typed.trim()
      first.settle({ behavior: 'deny', message: reason === '' ? defaultDenial : `The user said no: ${reason}` })
    } else if (text !== undefined) this.#typed = typed + text
  }

  /** The rule holds for the rest of the session, and for those who ask already. */
  #always(first: DeskQuestion, rules: readonly string[]): void {
    const others = this.#queue.slice(1)
    first.settle({ behavior: 'allow', addRules: { allow: rules } })
    this.#rules.push(...rules)
    this.#options.note(`Allowed for the rest of this session: ${rules.join(', ')}.`)
    for (const { tool, input, context, always, settle } of others) {
      // a question that no rule answers stays one
      if (!('rules' in always)) continue
      void covers(tool, input, context, rules).then((isCovered) => isCovered && settle({ behavior: 'allow' }))
    }
  }
}
