import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { limitNames } from '../../machines/index.ts'
import { telemetryTypes } from '../../src/pipeline/telemetry.ts'
import { root } from '../support/imports.ts'

const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** The strings in a union type, which have no value at run time. */
function membersOf(path: string, type: string, field = ''): string[] {
  const declared = new RegExp(`export type ${type} =([\\s\\S]*?)(?:\\n\\n|$)`).exec(read(path))?.[1] ?? ''
  const code = declared.replaceAll(/\/\*\*.*?\*\//gs, '')
  const named =
    field === '' ? [code] : [...code.matchAll(new RegExp(`${field}: ([^;}]*)`, 'g'))].map(([, value]) => value)
  return named.flatMap((text = '') => [...text.matchAll(/'(\w+)'/g)].map(([, name]) => name as string))
}

it.each([
  ['docs/query.md', 'why a query ended', membersOf('machines/query/query-ending.ts', 'QueryEnding', 'reason')],
  ['docs/reference.md', 'why a call waits', membersOf('machines/executor/admission.ts', 'Refusal')],
  ['docs/reference.md', 'codes of errors', membersOf('src/base/signalbox-error.ts', 'SignalboxErrorCode')],
  ['docs/reference.md', 'codes of warnings', membersOf('src/pipeline/executor-services.ts', 'WarningCode')],
  ['docs/road-of-a-call.md', 'types of telemetry', telemetryTypes],
  [
    'docs/road-of-a-call.md',
    'sources of a decision',
    membersOf('machines/call/permission-decision.ts', 'DecisionSource', 'by'),
  ],
  ['docs/limits.md', 'limits', limitNames],
])('%s lists all: %s', (page, _, names) => {
  const text = read(page)
  expect(names.length).toBeGreaterThan(4)
  expect(names.filter((name) => !text.includes(`\`${name}\``))).toEqual([])
})
