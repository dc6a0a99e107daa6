import { runnerEngine } from '../anthropic-runner.mjs'

export const engine = runnerEngine({ title: 'Anthropic tool runner', stream: false, runToolsEagerly: false })
