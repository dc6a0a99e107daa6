import type { CanUseTool, PermissionReply, Query } from 'signalbox'
import type { Io } from '../io.ts'
import type { Canvas } from '../view/call-lines.ts'
import { nameOf } from '../view/call-view.ts'
import { wrap } from '../view/fit.ts'
import type { SessionView } from '../view/session-view.ts'
import { CtrlC } from './ctrl-c.ts'
import { DetachKey } from './detach-key.ts'
import { FollowUp } from './follow-up.ts'
import { type Key, openKeyboard } from './keyboard.ts'
import { PermissionPrompts, type PromptOptions } from './permission-prompts.ts'
import { unattended } from './unattended.ts'

interface ControlsOptions extends PromptOptions {
  readonly session: SessionView
  readonly io: Io
  /** A session that is stored can be answered from elsewhere. */
  readonly isStored: boolean
  /** After the third Ctrl+C. */
  readonly exit: () => void
}

/** A person's part in a run, by keys and signals: answers, the background, stopping, and further prompts. */
export class Controls {
  readonly prompts: PermissionPrompts
  readonly #options: ControlsOptions
  readonly #followUp: FollowUp
  readonly #detachKey: DetachKey
  readonly #ctrlC: CtrlC
  #run: Pick<Query, 'interrupt' | 'abort' | 'detach'> | undefined
  #keyboard: { close(): void } | undefined
  #deafen = (): void => undefined
  #isTerminated = false

  constructor(options: ControlsOptions) {
    this.#options = options
    this.prompts = new PermissionPrompts(options)
    this.#followUp = new FollowUp(options.changed)
    this.#detachKey = new DetachKey(options.session, nameOf, (id) => this.#run?.detach(id) === true)
    const run = {
      interrupt: () => this.#run?.interrupt(),
      abort: (reason: unknown) => this.#run?.abort(reason),
    }
    this.#ctrlC = new CtrlC(run, options.exit)
  }

  /** SIGTERM has arrived. */
  get isTerminated(): boolean {
    return this.#isTerminated
  }

  get hasKeyboard(): boolean {
    return this.#keyboard !== undefined
  }

  /** Without `isLive`, nothing is drawn below the output, and no keys are read. */
  open(run: Pick<Query, 'interrupt' | 'abort' | 'detach'>, isLive: boolean): void {
    const { io, note, changed } = this.#options
    this.#run = run
    if (isLive) this.#keyboard = openKeyboard(io, (key) => this.#press(key))
    this.#deafen = io.onSignal((signal) => {
      this.#isTerminated ||= signal === 'SIGTERM'
      this.#followUp.leave()
      if (signal === 'SIGTERM') this.#ctrlC.abort()
      else this.#ctrlC.press()
      // if nothing is drawn below the lines, it is one of them
      if (!isLive && this.#ctrlC.hint !== '') note(this.#ctrlC.hint)
      changed()
    })
  }

  close(): void {
    this.#keyboard?.close()
    this.#deafen()
  }

  /** Answers questions: asks the person, or says no where there is none. */
  canUseTool: CanUseTool = (...question) => {
    if (this.hasKeyboard) return this.prompts.ask(...question)
    return this.#options.isStored ? later : this.#unattended(question, this.#nameOfCall)
  }

  /** The same for an agent, whose calls have no numbers here. */
  canUseToolOf(agent: string): CanUseTool {
    if (this.hasKeyboard) return this.prompts.askFor(agent)
    return (...question) => this.#unattended(question, () => undefined)
  }

  /** The next prompt, if a person may write one; undefined ends the session. */
  async nextPrompt(): Promise<string | undefined> {
    const next = await this.#followUp.ask()
    if (next !== undefined) this.#ctrlC.reset()
    return next
  }

  /** The lines below the output. */
  lines(canvas: Canvas): string[] {
    const asked = this.prompts.lines(canvas)
    const { hint } = this.#ctrlC
    return [
      ...asked,
      ...(asked.length === 0 ? this.#detachKey.lines(canvas) : []),
      ...this.#followUp.lines(canvas),
      ...(hint === '' ? [] : ['', ...wrap(hint, canvas.columns)]),
    ]
  }

  #press(key: Key): void {
    if (this.#followUp.press(key)) return
    if (key.isCtrlC) this.#ctrlC.press()
    else if (!this.prompts.press(key)) this.#detachKey.press(key)
    this.#options.changed()
  }

  #unattended(question: Parameters<CanUseTool>, nameOfCall: (id: string) => string | undefined) {
    return unattended(question, this.#options, nameOfCall, this.#options.note)
  }

  readonly #nameOfCall = (id: string): string | undefined => {
    const call = this.#options.session.find(id)
    return call && nameOf(call)
  }
}

const later: PermissionReply = { behavior: 'later' }
