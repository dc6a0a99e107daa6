import { runnerEngine } from '../engine-parts/anthropic-runner.mjs'

export const engine = runnerEngine({ title: 'Anthropic runner, eager', stream: true, runToolsEagerly: true })
