import type { HookCallback, HookOutput, Hooks } from '../hooks/hook.ts'
import type { ResultStore } from '../results/long-result.ts'
import type { CanUseTool, PermissionAnswer } from '../tool/permission.ts'
import type { AnyTool, InputVerdict } from '../tool/tool.ts'
import type { EvidenceBook } from './evidence-book.ts'
import { plainError } from './repeatable.ts'
import type { Happenings } from './turn-setup.ts'

/** The story's words for a changed input. */
export const rewrites = 'changes the input'

/** A wait of a call before or after its body, and the words that can end it. */
export interface HeldWait {
  readonly id: string
  /** The phase of the call's chart in which it waits. */
  readonly phase: string
  readonly words: Record<string, () => void>
  /** Words that are faults. */
  readonly faults: readonly string[]
}

/** Validation, hooks and host, controlled by the story. */
export class HeldPhases {
  readonly waits = new Map<string, HeldWait>()
  /** The expected final input of each call whose input was changed. */
  readonly agreed = new Map<string, unknown>()
  /** Calls that the host allowed. */
  readonly allowed = new Set<string>()
  readonly #book: EvidenceBook
  readonly #rewrite: (input: unknown) => Record<string, unknown>

  constructor(book: EvidenceBook, rewrite?: Happenings['rewrite']) {
    this.#book = book
    this.#rewrite = typeof rewrite === 'function' ? rewrite : (input) => ({ ...(input as object), rewritten: true })
  }

  toolOf(tool: AnyTool): AnyTool {
    const own = tool.validateInput
    return {
      ...tool,
      validateInput: (input, context) =>
        new Promise<InputVerdict>((resolve, reject) =>
          this.#wait(context.toolUseID, this.#phaseOf(context.toolUseID), 'input', ['is vetoed'], {
            'is accepted': () => {
              Promise.resolve(own?.call(tool, input, context) ?? { result: true as const }).then(resolve, reject)
            },
            'is vetoed': () => this.#deny(context.toolUseID, () => resolve({ result: false, message: 'vetoed' })),
          }),
        ),
    }
  }

  readonly hooks: Hooks = {
    PreToolUse: [{ hooks: [this.#hook('executing.preHooks', 'hook before')] }],
    PostToolUse: [{ hooks: [this.#hook('executing.postHooks', 'hook after')] }],
    PostToolUseFailure: [{ hooks: [this.#hook('executing.postHooks', 'hook after the failure')] }],
  }

  readonly store: ResultStore = {
    save: ({ toolUseID: id }) =>
      new Promise((resolve, reject) =>
        this.#wait(id, 'executing.formatting', 'store', ['fails'], {
          saves: () => resolve({ path: `/stored/${id}` }),
          fails: () => reject(plainError('the disk is full')),
        }),
      ),
  }

  readonly canUseTool: CanUseTool = (_tool, input, _context, _message, id) =>
    new Promise<PermissionAnswer>((resolve) =>
      this.#wait(id, 'executing.permission.asking', 'host', ['denies', 'stops the turn'], {
        allows: () => this.#allow(id, () => resolve({ behavior: 'allow' })),
        [rewrites]: () => this.#allow(id, () => resolve({ behavior: 'allow', updatedInput: this.#agree(id, input) })),
        denies: () => this.#deny(id, () => resolve({ behavior: 'deny', message: 'denied' })),
        'stops the turn': () =>
          this.#deny(id, () => resolve({ behavior: 'deny', message: 'stopped', interrupt: true })),
      }),
    )

  #hook(phase: string, who: string): HookCallback {
    return (given, id) =>
      new Promise<HookOutput>((resolve, reject) => {
        const isBefore = phase === 'executing.preHooks'
        const deny = { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny' } } as const
        this.#wait(String(id), phase, who, ['denies', 'breaks'], {
          passes: () => resolve({}),
          ...(isBefore && {
            [rewrites]: () => {
              const updatedInput = this.#agree(String(id), given.tool_input)
              resolve({ hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput } })
            },
          }),
          ...(isBefore && { denies: () => this.#deny(String(id), () => resolve(deny)) }),
          ...(!isBefore && { breaks: () => reject(plainError('broke')) }),
        })
      })
  }

  /** A changed input is validated again, in the phase in which it was changed. */
  #phaseOf(id: string): string {
    const phase = this.#book.find(id)?.phase ?? 'queued'
    return phase === 'queued' ? 'executing.validating' : phase
  }

  #allow(id: string, say: () => void): void {
    this.allowed.add(id)
    say()
  }

  #agree(id: string, input: unknown): Record<string, unknown> {
    const changed = this.#rewrite(input)
    this.agreed.set(id, changed)
    return changed
  }

  /** Records the denial here, independently of the executor. */
  #deny(id: string, say: () => void): void {
    const call = this.#book.find(id)
    if (call?.phase === this.waits.get(id)?.phase || call?.phase.startsWith('executing.permission') === true) {
      if (call !== undefined) this.#book.denied(call)
    }
    say()
  }

  #wait(id: string, phase: string, who: string, faults: readonly string[], words: Record<string, () => void>): void {
    const named = Object.entries(words).map(([word, say]) => [
      `${id}: ${who} ${word}`,
      () => {
        // answer first, so that a denial knows the call's phase
        say()
        if (this.waits.get(id) === wait) this.waits.delete(id)
      },
    ])
    const wait: HeldWait = {
      id,
      phase,
      words: Object.fromEntries(named),
      faults: faults.map((word) => `${id}: ${who} ${word}`),
    }
    this.waits.set(id, wait)
  }
}
