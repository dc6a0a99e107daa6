/** Everything that is set side by side, in the order of the tables. */
export const field = [
  'floor',
  'p-limit',
  'p-queue',
  'array-scan',
  'counters',
  'langgraph',
  'signalbox',
  'ai-generate',
  'ai-stream',
  'openai-agents',
  'mastra',
  'signalbox-query',
  'anthropic-loop',
  'anthropic-runner',
  'anthropic-eager',
  'signalbox-anthropic',
]

/** Those for whom it makes a difference whether a call is safe; the floor to compare with. */
export const ruled = ['floor', 'array-scan', 'counters', 'signalbox', 'signalbox-query']

/** The executor with more to do for each call. */
export const extras = [
  'signalbox-hooks-2',
  'signalbox-hooks-5',
  'signalbox-rules',
  'signalbox-asked',
  'signalbox-observed',
  'signalbox-inspected',
]

/** Those that take a reply as it is streamed, or can be fed from one. */
export const streamed = [
  'signalbox-query',
  'signalbox-anthropic',
  'anthropic-eager',
  'mastra',
  'signalbox-batch',
  'anthropic-runner',
  'ai-stream',
  'openai-agents',
  'langgraph',
]

/** Those whose tools can report on the way, and hand the reports on. */
export const reporting = ['floor', 'signalbox', 'signalbox-query', 'ai-stream', 'mastra', 'langgraph']

/** Of the extras only what keeps something for each call. */
export const weighed = [...field, 'signalbox-hooks-5', 'signalbox-inspected']

export const isTimed = (name) => field.includes(name) || extras.includes(name)

export const everyEngine = [...new Set([...field, ...extras, ...streamed])]

/** Anthropic's own, which is set beside the executor too. */
export const isRunner = (name) => name === 'anthropic-runner' || name === 'anthropic-eager'

/** Against whom an engine is set: what of Signalbox does as much. */
export const counterpartOf = ({ scope, packages }) =>
  scope === 'tools' ? 'signalbox' : packages.includes('@anthropic-ai/sdk') ? 'signalbox-anthropic' : 'signalbox-query'
