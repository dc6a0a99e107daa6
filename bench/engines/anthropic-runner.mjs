import { runnerEngine } from '../engine-parts/anthropic-runner.mjs'

export const engine = runnerEngine({ title: 'Anthropic runner', stream: false, runToolsEagerly: false })
