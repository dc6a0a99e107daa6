import type { ModelEvent, ModelRequest, StopReason } from '../../models/model.ts'

/** One output or action of a scripted model. A plain string is text. */
export type ScriptItem =
  | string
  | { readonly text: string }
  | { readonly thinking: string; readonly signature?: string }
  /** A call. Without an `id` it gets `toolu_1`, `toolu_2` and so on, counted through the whole script. */
  | { readonly call: string; readonly input?: unknown; readonly id?: string }
  /** A call whose arguments are sent as given, valid or not; `open` leaves its block open. */
  | { readonly rawCall: string; readonly json: string; readonly id?: string; readonly open?: boolean }
  /** A pause, in milliseconds of the model's clock. */
  | { readonly wait: number }
  /** Throws this, like a client whose connection breaks. */
  | { readonly error: unknown }
  /** Any event, unchanged. */
  | { readonly event: ModelEvent }
  /** Ends the reply with this stop reason. Without it the reason is `tool_use` after a call, else `end_turn`. */
  | { readonly stop: StopReason; readonly usage?: unknown }
  /** Ends the stream without a stop reason, like a lost connection. */
  | { readonly cut: true }

/** One reply of a scripted model, or a function that creates it from the request. */
export type ScriptTurn =
  | string
  | readonly ScriptItem[]
  | ((request: ModelRequest) => string | readonly ScriptItem[] | PromiseLike<string | readonly ScriptItem[]>)
