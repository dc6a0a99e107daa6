import type { Breach, Call, Rule, Run } from './model.ts'

/** Conditions that must hold at every moment, checked from the frames. */
export const rules: Readonly<Record<Rule, string>> = {
  alone: 'An unsafe call executes alone',
  order: 'Results are in call order',
  once: 'One result per call',
}

export function checkExecuting(run: Run, seq: number, at: number): void {
  if (run.executing.size < 2) return
  const calls = [...run.executing].map((id) => run.byId.get(id))
  const unsafe = calls.find((call) => call?.lane === 'exclusive')
  if (unsafe === undefined) return
  const others = calls.filter((call) => call !== unsafe).map((call) => call?.label)
  breach(run, { rule: 'alone', seq, at, text: `${unsafe.label} executes beside ${others.join(', ')}` })
}

export function checkYield(run: Run, call: Call, seq: number, at: number): void {
  if (call.index !== run.yielded) {
    breach(run, { rule: 'order', seq, at, text: `${call.label} was handed over as number ${run.yielded + 1}` })
  }
  run.yielded++
}

export function checkResult(run: Run, call: Call, seq: number, at: number): void {
  const count = call.results.filter(({ message }) => message === 'tool_result').length
  if (count > 1) breach(run, { rule: 'once', seq, at, text: `${call.label} has ${count} results` })
}

function breach(run: Run, found: Breach): void {
  if (run.breaches.length < 100) run.breaches.push(found)
}
