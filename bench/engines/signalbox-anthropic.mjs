import { anthropicModel } from '../../dist/src/models/anthropic/index.js'
import { queryEngine } from '../engine-parts/signalbox-query.mjs'
import { anthropicClient, anthropicOptions } from '../models/anthropic-client.mjs'

/** On the same client and stream as Anthropic's own runner. */
export const engine = queryEngine({
  title: 'Signalbox on Anthropic',
  packages: ['@anthropic-ai/sdk'],
  createModel: (calls, pace) => anthropicModel(anthropicClient(calls, pace), anthropicOptions),
})
