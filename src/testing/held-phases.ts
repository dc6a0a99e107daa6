import type { HookCallback, HookOutput, Hooks } from '../hooks/hook.ts'
import type { ResultStore } from '../results/result-store.ts'
import type { CanUseTool, PermissionAnswer } from '../tool/permission.ts'
import type { AnyTool, InputVerdict } from '../tool/tool.ts'
import type { EvidenceBook } from './evidence-book.ts'
import { plainError } from './plain-error.ts'

/** What a call waits for before or after its body, and the words that may end the wait. */
export interface HeldWait {
  readonly id: string
  /** In which phase of the call's chart somebody waits for it. */
  readonly phase: string
  readonly words: Record<string, () => void>
  /** Words that are faults. */
  readonly faults: readonly string[]
}

/** Validation, hooks and host, all of which say what the story wants when the story wants it. */
export class HeldPhases {
  readonly waits = new Map<string, HeldWait>()
  readonly #book: EvidenceBook

  constructor(book: EvidenceBook) {
    this.#book = book
  }

  toolOf(tool: AnyTool): AnyTool {
    const own = tool.validateInput
    return {
      ...tool,
      validateInput: (input, context) =>
        new Promise<InputVerdict>((resolve, reject) =>
          this.#wait(context.toolUseID, 'executing.validating', 'input', ['is vetoed'], {
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

  readonly canUseTool: CanUseTool = (_tool, _input, _context, _message, id) =>
    new Promise<PermissionAnswer>((resolve) =>
      this.#wait(id, 'executing.permission.asking', 'host', ['denies', 'stops the turn'], {
        allows: () => resolve({ behavior: 'allow' }),
        denies: () => this.#deny(id, () => resolve({ behavior: 'deny', message: 'denied' })),
        'stops the turn': () =>
          this.#deny(id, () => resolve({ behavior: 'deny', message: 'stopped', interrupt: true })),
      }),
    )

  #hook(phase: string, who: string): HookCallback {
    return (_input, id) =>
      new Promise<HookOutput>((resolve, reject) => {
        const isBefore = phase === 'executing.preHooks'
        const deny = { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny' } } as const
        this.#wait(String(id), phase, who, ['denies', 'breaks'], {
          passes: () => resolve({}),
          ...(isBefore && { denies: () => this.#deny(String(id), () => resolve(deny)) }),
          ...(!isBefore && { breaks: () => reject(plainError('broke')) }),
        })
      })
  }

  /** Known here, whatever becomes of it there. */
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
        // said first, so that a denial knows where the call was
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
