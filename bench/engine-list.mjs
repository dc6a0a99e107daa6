/** All compared engines, in the order of the tables. */
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

/** The engines that treat unsafe calls differently, and the floor for comparison. */
export const ruled = ['floor', 'array-scan', 'counters', 'signalbox', 'signalbox-query']

/** The executor with additional work per call. */
export const extras = [
  'signalbox-hooks-2',
  'signalbox-hooks-5',
  'signalbox-rules',
  'signalbox-asked',
  'signalbox-observed',
  'signalbox-inspected',
]

/** The engines that process a reply while it streams. */
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

/** The engines whose tools can report progress to the host. */
export const reporting = ['floor', 'signalbox', 'signalbox-query', 'ai-stream', 'mastra', 'langgraph']

/** Of the extras, only those that keep data per call. */
export const weighed = [...field, 'signalbox-hooks-5', 'signalbox-inspected']

export const isTimed = (name) => field.includes(name) || extras.includes(name)

export const everyEngine = [...new Set([...field, ...extras, ...streamed])]

/** Anthropic's own runners, which are also compared with the executor. */
export const isRunner = (name) => name === 'anthropic-runner' || name === 'anthropic-eager'

/** The part of Signalbox that does the same work as an engine. */
export const counterpartOf = ({ scope, packages }) =>
  scope === 'tools' ? 'signalbox' : packages.includes('@anthropic-ai/sdk') ? 'signalbox-anthropic' : 'signalbox-query'
