import type { AnyTool, CanUseTool, PermissionQuestion, PermissionReply, ToolCallContext } from 'signalbox'
import type { Canvas } from '../view/call-lines.ts'
import { nameOf } from '../view/call-view.ts'
import type { SessionView } from '../view/session-view.ts'
import { type AlwaysRule, alwaysRule, covers } from './always-rule.ts'
import type { Key } from './keyboard.ts'
import { type QuestionPicture, questionPicture } from './question-lines.ts'

/** A call that waits for an answer at the terminal. */
export interface PromptEntry {
  readonly id: string
  readonly tool: AnyTool
  readonly input: Record<string, unknown>
  readonly context: ToolCallContext
  readonly question: PermissionQuestion | undefined
  /** For a call of an agent: the agent's own call. */
  readonly agent: string | undefined
  readonly always: AlwaysRule
  /** When the answer becomes yes by itself, on the clock of the frames. */
  readonly answersItselfAt: number | undefined
  readonly settle: (answer: PermissionReply) => void
}

export interface PromptOptions {
  readonly session: SessionView
  readonly changed: () => void
  /** Reports the answer. */
  readonly note: (text: string) => void
  readonly now: () => number
  /** Timeout after which the answer is yes, for demos. */
  readonly yesAfterMs?: number | undefined
  /** Adds rules to the project's settings; returns the problem if that fails. */
  readonly keep?: ((rules: readonly string[]) => string | undefined) | undefined
  /** The answer to a prompt that was removed before it was answered. In a stored session it must not be a denial. */
  readonly gone?: PermissionReply | undefined
}

const defaultDenial = 'The user denied this call.'
const denied: PermissionReply = { behavior: 'deny', message: defaultDenial }

/** The permission prompts, one after the other, and the keys that answer them. */
export class PermissionPrompts {
  readonly #options: PromptOptions
  #queue: PromptEntry[] = []
  /** Rules for the rest of the session: agents would not have them otherwise. */
  readonly #rules: string[] = []
  /** The reason for a denial, while it is typed. */
  #typed: string | undefined
  /** How much of the first prompt was shown: the last frame drawn, and whether its end was visible. */
  #picture: QuestionPicture | undefined
  #top = 0
  #isRead = false

  constructor(options: PromptOptions) {
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
  ): Promise<PermissionReply> {
    const always = await alwaysRule(tool, input, context, question)
    if ('rules' in always && (await covers(tool, input, context, this.#rules))) return { behavior: 'allow' }
    const { signal } = context.abortController
    const { yesAfterMs, now } = this.#options
    // the calls of agents are not stored
    const gone = (agent === undefined ? this.#options.gone : undefined) ?? denied
    return new Promise((resolve) => {
      const settle = (answer: PermissionReply): void => {
        clearTimeout(timer)
        // a reason in progress belongs to this prompt
        if (this.#queue[0] === entry) this.#turnPage()
        this.#queue = this.#queue.filter((each) => each !== entry)
        resolve(answer)
        this.#options.changed()
      }
      // an aborted call needs no answer
      signal.addEventListener('abort', () => settle(gone), { once: true })
      const answersItselfAt = yesAfterMs === undefined ? undefined : now() + yesAfterMs
      const timer = yesAfterMs === undefined ? undefined : setTimeout(() => settle({ behavior: 'allow' }), yesAfterMs)
      const entry: PromptEntry = { id, tool, input, context, question, agent, always, answersItselfAt, settle }
      if (signal.aborted) return settle(gone)
      this.#queue.push(entry)
      this.#options.changed()
    })
  }

  /** Prompts answered elsewhere, such as in the inspector, are removed. */
  heed(open: ReadonlySet<string>): void {
    for (const { id, agent, settle } of [...this.#queue]) {
      // the frames do not contain the calls of agents
      if (agent === undefined && !open.has(id)) settle(this.#options.gone ?? denied)
    }
  }

  /** True if the key was handled. */
  press(key: Key): boolean {
    const first = this.#queue[0]
    if (first === undefined) return false
    if (this.#typed !== undefined) this.#type(first, this.#typed, key)
    else if (key.text === 'n') this.#typed = ''
    else if (!this.#scroll(key) && this.#isRead) {
      if (key.text === 'y') first.settle({ behavior: 'allow' })
      else if (key.text === 'a' && 'rules' in first.always) this.#always(first, first.always.rules)
      else if (key.text === 'p' && 'rules' in first.always) this.#keep(first, first.always.rules)
    }
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
    const reading = { top: this.#top, isRead: this.#isRead, typed: this.#typed, more: this.#queue.length - 1 }
    const canKeep = this.#options.keep !== undefined
    const picture = questionPicture(
      { ...first, canKeep, name: first.tool.name, number: call?.number, by, ...reading },
      canvas,
    )
    this.#picture = picture
    this.#top = picture.top
    if (picture.top + picture.window >= picture.rows) this.#isRead = true
    return [...picture.lines]
  }

  /** The next prompt starts at its beginning; a reason in progress belongs to this one. */
  #turnPage(): void {
    this.#typed = undefined
    this.#picture = undefined
    this.#top = 0
    this.#isRead = false
  }

  /** True if the key was handled. */
  #scroll({ name, text }: Key): boolean {
    const { rows = 0, window = 1 } = this.#picture ?? {}
    const page = Math.max(1, window - 1)
    const steps: Readonly<Record<string, number>> = {
      space: page,
      pagedown: page,
      pageup: -page,
      down: 1,
      j: 1,
      up: -1,
      k: -1,
      b: -page,
      home: -rows,
      end: rows,
    }
    const step = steps[text === ' ' ? 'space' : (name ?? text ?? '')]
    if (step === undefined) return false
    this.#top = Math.max(0, Math.min(this.#top + step, rows - window))
    return true
  }

  #type(first: PromptEntry, typed: string, { name, text }: Key): void {
    if (name === 'escape') this.#typed = undefined
    else if (name === 'backspace') this.#typed = [...typed].slice(0, -1).join('')
    else if (name === 'return' || name === 'enter') {
      this.#typed = undefined
      const reason = typed.trim()
      first.settle({
        behavior: 'deny',
        message: reason === '' ? defaultDenial : `The user denied this call: ${reason}`,
      })
    } else if (text !== undefined) this.#typed = typed + text
  }

  /** For this and later sessions; only for this one if the settings cannot be written. */
  #keep(first: PromptEntry, rules: readonly string[]): void {
    const { keep, note } = this.#options
    if (keep === undefined) return
    const problem = keep(rules)
    note(problem === undefined ? `Saved for this project: ${rules.join(', ')}.` : `Not saved: ${problem}`)
    this.#always(first, rules)
  }

  /** The rule applies for the rest of the session, also to prompts that are open. */
  #always(first: PromptEntry, rules: readonly string[]): void {
    const others = this.#queue.slice(1)
    first.settle({ behavior: 'allow', addRules: { allow: rules } })
    this.#rules.push(...rules)
    this.#options.note(`Allowed for the rest of this session: ${rules.join(', ')}.`)
    for (const { tool, input, context, always, settle } of others) {
      // a prompt that no rule answers stays open
      if (!('rules' in always)) continue
      void covers(tool, input, context, rules).then((isCovered) => isCovered && settle({ behavior: 'allow' }))
    }
  }
}
