import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { builtProject } from '../../scripts/built-project.mjs'
import { root } from '../support/imports.ts'

/** Runs two calls on the default engine, with a recorder attached for the second. */
const program = `
import { allowAllTools, createAssistantMessage, defineTool, StreamingToolExecutor } from 'signalbox'
import { createRecorder } from 'signalbox/inspect'
import { z } from 'zod'
const echo = defineTool({ name: 'Echo', inputSchema: z.object({ text: z.string() }), call: async ({ text }) => ({ data: text }) })
for (const text of ['unwatched', 'watched']) {
  const executor = new StreamingToolExecutor([echo], allowAllTools)
  let frames = 0
  if (text === 'watched') createRecorder({ onFrame: () => frames++ }).watch(executor)
  executor.addTool({ type: 'tool_use', id: text, name: 'Echo', input: { text } }, createAssistantMessage([]))
  for await (const { message } of executor.getRemainingResults()) console.log(message.toolUseResult, frames > 0)
}
`

const page = readFileSync(join(root, 'docs/chart-engine.md'), 'utf8')
const fields = [...(/## Unpublished fields\n([\s\S]*?)\n## /.exec(page)?.[1] ?? '').matchAll(/`(_\w+)`/g)].map(
  ([, field]) => field as string,
)

// built before the time of a test begins
const built = builtProject()
const folder = mkdtempSync(join(tmpdir(), 'signalbox-xstate-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** A project with the built library and an XState in which a field has another name. */
function projectWithout(field: string): string {
  const project = join(folder, field)
  const modules = join(project, 'node_modules')
  rmSync(project, { recursive: true, force: true })
  mkdirSync(join(modules, 'signalbox'), { recursive: true })
  for (const name of ['dist', 'package.json']) symlinkSync(join(built, name), join(modules, 'signalbox', name))
  symlinkSync(join(root, 'node_modules/zod'), join(modules, 'zod'))
  cpSync(join(root, 'node_modules/xstate'), join(modules, 'xstate'), { recursive: true })
  const dist = join(modules, 'xstate/dist')
  for (const name of readdirSync(dist).filter((each) => each.endsWith('.js') || each.endsWith('.mjs'))) {
    const code = readFileSync(join(dist, name), 'utf8')
    writeFileSync(join(dist, name), code.replaceAll(new RegExp(`\\b${field}\\b`, 'g'), `${field}Renamed`))
  }
  writeFileSync(join(project, 'program.mjs'), program)
  return project
}

describe('an XState that renames an unpublished field', () => {
  it('the page names the fields', () => expect(fields.length).toBeGreaterThan(15))

  it.each(fields)('%s: the calls run on plain XState, with one warning about the engine', async (field) => {
    const cwd = projectWithout(field)
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--preserve-symlinks', 'program.mjs'], {
      cwd,
    })
    expect(stdout).toBe('unwatched false\nwatched true\n')
    const warnings = stderr.split('\n').filter((line) => line.includes('does not fit the installed version of xstate'))
    expect(warnings).toHaveLength(1)
  })
})
