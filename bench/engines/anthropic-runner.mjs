import { runnerEngine } from '../anthropic-runner.mjs'

export const engine = runnerEngine({ title: 'Anthropic runner', stream: false, runToolsEagerly: false })
