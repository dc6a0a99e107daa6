import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../..')

/** Hooks as written for the Claude Agent SDK, with its own published types. */
const consumer = `
import type { HookCallback, HookCallbackMatcher, HookEvent, HookInput, Options, PreToolUseHookInput } from '@anthropic-ai/claude-agent-sdk'
import { createToolUseContext, type HookInput as OurInput, type Hooks } from ${JSON.stringify(join(root, 'src/index.ts'))}

const guard: HookCallback = async (input, toolUseID, { signal }) => {
  const { tool_input } = input as PreToolUseHookInput
  if (signal.aborted || toolUseID === undefined) return { continue: false, stopReason: 'over' }
  return { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: String(tool_input) } }
}
const matcher: HookCallbackMatcher = { matcher: 'Bash', hooks: [guard], timeout: 5, onFailure: 'block' }
export const one: Hooks = { PreToolUse: [matcher], PostToolUse: [matcher], PostToolUseFailure: [matcher] }

declare const all: Partial<Record<HookEvent, HookCallbackMatcher[]>>
declare const options: Options
createToolUseContext({ hooks: all })
createToolUseContext({ hooks: options.hooks })

// the input here is assignable to the SDK's input
export const toTheirs = (input: OurInput): HookInput => input

// @ts-expect-error a hook is not a string
export const wrong: Hooks = { PreToolUse: [{ hooks: ['guard'] }] }
`

describe('hooks written for the Claude Agent SDK', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'signalbox-agent-sdk-'))
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
    const sdk = '@anthropic-ai/claude-agent-sdk@0.3.325'
    // only the types are installed, because the binaries for each platform are large
    const flags = ['--silent', '--no-audit', '--no-fund', '--omit=optional', '--omit=peer', '--ignore-scripts']
    execFileSync('npm', ['install', ...flags, sdk], { cwd: folder, stdio: 'ignore' })
    writeFileSync(join(folder, 'consumer.ts'), consumer)
    const compilerOptions = {
      strict: true,
      exactOptionalPropertyTypes: true,
      module: 'NodeNext',
      target: 'ES2023',
      lib: ['ES2023', 'ES2024.String', 'DOM'],
      types: [],
      allowImportingTsExtensions: true,
      skipLibCheck: true,
      noEmit: true,
      paths: { zod: [join(root, 'node_modules/zod')], xstate: [join(root, 'node_modules/xstate')] },
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['consumer.ts'] }))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('P4 work unchanged, by its published types', () => {
    const tsc = join(root, 'node_modules/.bin/tsc')
    let output = ''
    try {
      execFileSync(tsc, ['-p', folder], { cwd: folder, encoding: 'utf8' })
    } catch (error) {
      output = (error as { stdout: string }).stdout
    }
    expect(output).toBe('')
  })
})
