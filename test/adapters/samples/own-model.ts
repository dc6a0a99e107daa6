import type { Model, ModelRequest } from 'signalbox'
import { anthropicEvents } from 'signalbox/anthropic'

/** Your own source of events: a server, a gateway, a queue. */
declare function askMyServer(request: ModelRequest): AsyncIterable<unknown>

export const model: Model = (request) => anthropicEvents(askMyServer(request))
