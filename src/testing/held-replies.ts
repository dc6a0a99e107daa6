import { type HeldModel, heldModel } from './held-model.ts'
import type { QuerySetup } from './query-setup.ts'
import { plainError } from './repeatable.ts'

/** A model that follows a script, at the times that the story chooses. */
export class HeldReplies {
  readonly held: HeldModel = heldModel()
  /** The current reply, and how much of it was sent. */
  reply = -1
  said = 0
  isStarted = false
  troubles = 0
  #asked = 0
  #calls = 0
  readonly #script: QuerySetup['replies']

  constructor(script: QuerySetup['replies']) {
    this.#script = script
  }

  /** The model was asked again: for the next reply, or for the same one once more. */
  follow(because: 'next_turn' | 'retry' | 'fallback' | undefined): void {
    if (this.#asked === this.held.requests.length) return
    this.#asked = this.held.requests.length
    if (because === 'next_turn' || because === undefined) this.reply++
    this.begin()
  }

  begin(): void {
    this.said = 0
    this.isStarted = false
  }

  /** The model's next possible steps, while its stream is open. */
  moves(mayFail: boolean, mayRefuse: boolean): [string, () => void][] {
    const given = this.#script[this.reply] ?? 'done'
    const items = typeof given === 'string' ? [given] : given
    const next = items[this.said]
    const hasCalls = items.some((item) => typeof item !== 'string')
    const moves: [string, () => void][] = []
    if (typeof next === 'string') moves.push([`the model says "${next}"`, () => this.#say(() => this.held.text(next))])
    else if (next !== undefined) {
      const id = letterOf(this.#calls)
      moves.push([
        `the model asks for ${id}, ${next.call}`,
        () =>
          this.#say(() => {
            this.#calls++
            this.held.call(id, next.call, next.input)
          }),
      ])
    } else moves.push(['the model ends its reply', () => this.#end(hasCalls ? 'tool_use' : 'end_turn')])
    if (mayFail) {
      const trouble = (act: () => void) => () => {
        this.troubles++
        act()
      }
      moves.push(['the model is overloaded', trouble(() => this.held.fail(plainErrorWith({ status: 529 })))])
      moves.push(['the stream breaks off', trouble(() => this.held.cut())])
      if (this.said > 0) {
        moves.push(['the reply is cut short', trouble(() => this.#end('max_tokens'))])
        moves.push(['the service begins anew', trouble(() => this.#restart())])
      }
    }
    if (mayRefuse) moves.push(['the model refuses', () => this.held.fail(plainErrorWith({ status: 400 }))])
    return moves
  }

  #say(send: () => void): void {
    this.#start()
    this.said++
    send()
  }

  #start(): void {
    if (!this.isStarted) this.held.start()
    this.isStarted = true
  }

  #end(reason: 'tool_use' | 'end_turn' | 'max_tokens'): void {
    this.#start()
    this.held.end(reason)
  }

  #restart(): void {
    this.begin()
    this.#start()
  }
}

const plainErrorWith = (fields: object): Error => Object.assign(plainError('the service is in trouble'), fields)

const letterOf = (index: number): string => String.fromCharCode(97 + (index % 26)) + (index < 26 ? '' : index)
