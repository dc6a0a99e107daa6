import { oneOf, requireOption } from '../base/option-rules.ts'
import { SignalboxError } from '../base/signalbox-error.ts'
import { groupRunner } from './group-runner.ts'
import { probeNamespace } from './namespace-command.ts'
import { namespaceRunner } from './namespace-runner.ts'
import type { ProcessRunner } from './process-runner.ts'

const choices = ['auto', 'namespace', 'group'] as const

/** `namespace`: the kernel ends all processes of a command. `group`: they are searched for, and a watchdog runs. */
export type IsolationChoice = (typeof choices)[number]

/** Runs local programs so that none outlives its call or this process. */
export function isolatedRunner(choice: IsolationChoice = 'auto'): ProcessRunner {
  requireOption('isolation', choice, oneOf(...choices))
  if (choice === 'group') return groupRunner
  if (choice === 'namespace') {
    const probe = probeNamespace()
    if (probe.ok) return namespaceRunner(probe.command)
    throw new SignalboxError('invalid_option', `isolation: 'namespace' is not possible here: ${probe.why}.`)
  }
  let chosen: ProcessRunner | undefined
  const choose = (): ProcessRunner => {
    const probe = probeNamespace()
    chosen ??= probe.ok ? namespaceRunner(probe.command) : groupRunner
    return chosen
  }
  return {
    get isolation() {
      return choose().isolation
    },
    start: (request, listener) => choose().start(request, listener),
    findMarked: groupRunner.findMarked,
    signal: groupRunner.signal,
  }
}
