import type { Model, ModelRequest } from 'signalbox'
import { anthropicEvents } from 'signalbox/anthropic'

/** Yours: a server that passes events on, a gateway, a queue. */
declare function askMyServer(request: ModelRequest): AsyncIterable<unknown>

export const model: Model = (request) => anthropicEvents(askMyServer(request))
