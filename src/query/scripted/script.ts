import type { ModelEvent, ModelRequest, StopReason } from '../../models/model.ts'

/** One thing that a scripted model says or does. A plain string is text. */
export type ScriptItem =
  | string
  | { readonly text: string }
  | { readonly thinking: string; readonly signature?: string }
  /** A call. Without an `id` it gets `toolu_1`, `toolu_2` and so on, counted through the whole script. */
  | { readonly call: string; readonly input?: unknown; readonly id?: string }
  /** A call whose arguments are sent as they stand here, broken if you like; `open` leaves its block open. */
  | { readonly rawCall: string; readonly json: string; readonly id?: string; readonly open?: boolean }
  /** A pause, in milliseconds of the model's clock. */
  | { readonly wait: number }
  /** Throws this, as a client does whose connection breaks. */
  | { readonly error: unknown }
  /** Any event, as it is. */
  | { readonly event: ModelEvent }
  /** Ends the reply for this reason. Without it the reason is `tool_use` after a call, `end_turn` otherwise. */
  | { readonly stop: StopReason; readonly usage?: unknown }
  /** Ends the stream without a word, as a connection does that is lost. */
  | { readonly cut: true }

/** One reply of a scripted model, or a function that writes it when it sees what was asked. */
export type ScriptTurn =
  | string
  | readonly ScriptItem[]
  | ((request: ModelRequest) => string | readonly ScriptItem[] | PromiseLike<string | readonly ScriptItem[]>)
