import { runnerEngine } from '../anthropic-runner.mjs'

export const engine = runnerEngine({ title: 'Anthropic runner, eager', stream: true, runToolsEagerly: true })
