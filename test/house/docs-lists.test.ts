import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { limitNames } from '../../machines/index.ts'
import { ownPhases } from '../../packages/cli/src/view/call-view.ts'
import { callPhases } from '../../src/inspect/index.ts'
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

/** The names that a pattern finds in a file. */
const namesIn = (path: string, pattern: RegExp): string[] => [
  ...new Set([...read(path).matchAll(pattern)].map(([, name]) => name as string)),
]

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
  ['docs/cli.md', 'phases of a call', [...callPhases, ...ownPhases]],
  ['docs/inspector.md', 'types of frames', namesIn('src/inspect/frames/frame.ts', /^ {2}readonly type: '(\w+)'/gm)],
  ['docs/journals.md', 'types of records', namesIn('src/journal/records.ts', /^ {2}'([\w.]+)':/gm)],
  [
    'docs/sessions.md',
    'events of a session',
    namesIn('src/query/session/session-options.ts', /^ {2}([a-z]+_[a-z]+):/gm),
  ],
])('%s lists all: %s', (page, _, names) => {
  const text = read(page)
  expect(names.length).toBeGreaterThan(4)
  expect(names.filter((name) => !text.includes(`\`${name}\``) && !text.includes(`'${name}'`))).toEqual([])
})
