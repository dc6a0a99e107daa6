import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { programOf } from '../../mcp/test/support.ts'
import { runCli } from '../src/run-cli.ts'
import { keepRules } from '../src/settings/keep-rules.ts'
import { placesFor } from '../src/settings/places.ts'
import { parseSettings } from '../src/settings/settings-file.ts'
import { fakeIo } from './fake-io.ts'
import { makeScript, temporaryFolder } from './support.ts'

const folder = temporaryFolder()
let count = 0

/** A project and a home with settings, and a script that asks for one command. */
function scene(given: { home?: unknown; project?: unknown; turns?: unknown[] } = {}) {
  const place = join(folder, `${++count}`)
  const [root, home] = [join(place, 'work'), join(place, 'home')]
  const write = (path: string, settings: unknown): void => {
    if (settings === undefined) return
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, typeof settings === 'string' ? settings : JSON.stringify(settings, null, 2))
  }
  mkdirSync(root, { recursive: true })
  const project = join(root, '.signalbox/settings.json')
  write(join(home, 'settings.json'), given.home)
  write(project, given.project)
  const turns = given.turns ?? [[{ call: 'Bash', input: { command: 'touch made && echo ran' } }], 'Done.']
  const script = makeScript(place, 'turns.json', { prompt: 'Go.', turns })
  const env = { SIGNALBOX_HOME: home, PATH: process.env.PATH ?? '' }
  const run = async (...more: string[]) => {
    const { io, printed } = fakeIo(env)
    return { code: await runCli(['run', '--script', script, '--cwd', root, ...more], io), ...printed }
  }
  return { root, home, project, run, places: placesFor(root, fakeIo(env).io), write }
}

const allow = { permissions: { allow: ['Bash(touch made)', 'Bash(echo ran)'] } }

describe('settings', () => {
  it('of the home folder apply first, then those of the project, then the command line', async () => {
    const byHome = scene({ home: allow })
    expect((await byHome.run()).out).toContain('│ ran')
    const denied = scene({ home: allow, project: { permissions: { deny: ['Bash(touch:*)'] } } })
    expect((await denied.run()).out).not.toContain('│ ran')
    const mode = scene({ home: { permissions: { defaultMode: 'bypassPermissions' } } })
    expect((await mode.run()).out).toContain('│ ran')
    expect((await mode.run('--permission-mode', 'default')).out).not.toContain('│ ran')
    expect((await scene({}).run('--allow', 'Bash(touch made)', '--allow', 'Bash(echo ran)')).out).toContain('│ ran')
  })

  it.each([
    ['{\n  "permissions": {\n    "allow": ["Bash(ls)",\n  }\n}', ':4: expected a JSON value, received "}"'],
    [
      '{\n  "permission": {}\n}',
      ':2: unknown setting permission. Known settings: permissions, hooks, mcpServers, model, prices.',
    ],
    [
      '{ "permissions": {\n "alow": [] } }',
      ':2: unknown setting permissions.alow. Known settings: defaultMode, allow, ask, deny.',
    ],
    ['{ "permissions": {\n "allow":\n [ 5 ] } }', ':3: permissions.allow.0: expected string, received number.'],
    ['{ "permissions": {\n "defaultMode": "yolo" } }', ':2: permissions.defaultMode: expected one of'],
    [
      '{ "hooks": { "PreToolUse": [ { "hooks": [\n { "type": "prompt", "command": "x" } ] } ] } }',
      ':2: hooks.PreToolUse.0.hooks.0.type: expected "command".',
    ],
    ['{ "permissions": { "deny": [\n"Bash(" ] } }', ':2: permissions.deny:'],
    ['{ "permissions": { "deny": [\n"bash(ls:*)" ] } }', ':2: '],
    ['{ "model": "a",\n"model": "b" }', ':2: "model" occurs twice'],
    ['', ':1: expected a JSON value, received the end of the file'],
  ])('that are invalid cause an error with file and line: %s', async (text, problem) => {
    for (const where of ['home', 'project'] as const) {
      const { run, home, project } = scene({ [where]: text })
      const { code, err } = await run()
      expect([code, err]).toEqual([
        2,
        expect.stringContaining(`signalbox: ${where === 'home' ? join(home, 'settings.json') : project}${problem}`),
      ])
    }
  })

  it('of an untrusted project may only ask and deny more', async () => {
    const pwned = { type: 'command', command: 'touch pwned' }
    const { run, root, project, write } = scene({
      project: { permissions: { ...allow.permissions, deny: ['Read'] }, hooks: { PreToolUse: [{ hooks: [pwned] }] } },
    })
    const first = await run()
    expect(first.err).toContain(`${project} is not trusted, so only its ask and deny rules apply.`)
    expect(first.err).toContain('hook runs "touch pwned"')
    expect(first.out).not.toContain('│ ran')
    expect(existsIn(root, 'pwned')).toBe(false)
    expect((await run('--trust')).out).toContain('│ ran')
    expect(existsIn(root, 'pwned')).toBe(true)
    // remembered until the file changes
    expect((await run()).err).toBe('')
    write(project, { permissions: { allow: ['Bash'] } })
    expect((await run()).err).toContain('is not trusted')
  })

  it('can be extended with rules, and keep the rest of the file', async () => {
    const { run, places, project } = scene({ project: { model: 'm', permissions: { deny: ['Read(secret)'] } } })
    keepRules(places, ['Bash(touch made)', 'Bash(echo ran)'])
    keepRules(places, ['Bash(echo ran)'])
    expect(JSON.parse(readFileSync(project, 'utf8'))).toEqual({
      model: 'm',
      permissions: { deny: ['Read(secret)'], allow: ['Bash(touch made)', 'Bash(echo ran)'] },
    })
    const { out, err } = await run()
    expect([out.includes('│ ran'), err]).toEqual([true, ''])
    const other = scene({ project: allow })
    expect(keepRules(other.places, ['Read'])).toContain('is not trusted')
  })

  it('have MCP servers', async () => {
    const every = { command: process.execPath, args: [programOf('everything'), 'stdio'] }
    const { run } = scene({
      home: { mcpServers: { every }, permissions: { allow: ['mcp__every__echo'] } },
      turns: [[{ call: 'mcp__every__echo', input: { message: 'over there' } }], 'Done.'],
    })
    const { out, err } = await run()
    expect([err, out]).toEqual(['', expect.stringContaining('Echo: over there')])
  })
})

const existsIn = (root: string, name: string): boolean => {
  try {
    readFileSync(join(root, name))
    return true
  } catch {
    return false
  }
}

describe('hooks as commands', () => {
  const hook = (command: string) => ({ hooks: [{ type: 'command', command }] })
  const bypass = { defaultMode: 'bypassPermissions' }

  it('get the documented input on stdin, and block with exit code 2', async () => {
    const { run, root } = scene({
      home: {
        permissions: bypass,
        hooks: {
          PreToolUse: [
            { matcher: 'Bash', ...hook('cat > "$CLAUDE_PROJECT_DIR/in.json"; echo "Not today." >&2; exit 2') },
          ],
        },
      },
    })
    const { out } = await run()
    expect(out).toContain('Not today.')
    expect(existsIn(root, 'made')).toBe(false)
    expect(JSON.parse(readFileSync(join(root, 'in.json'), 'utf8'))).toMatchObject({
      hook_event_name: 'PreToolUse',
      tool_name: 'Bash',
      tool_input: { command: 'touch made && echo ran' },
      tool_use_id: expect.any(String),
      cwd: root,
      permission_mode: 'bypassPermissions',
    })
  })

  it('decide, change inputs and add context with JSON on standard output', async () => {
    const reply = (specific: object) => `echo '${JSON.stringify({ hookSpecificOutput: specific })}'`
    const denied = scene({
      home: {
        permissions: bypass,
        hooks: {
          PreToolUse: [
            hook(
              reply({
                hookEventName: 'PreToolUse',
                permissionDecision: 'deny',
                permissionDecisionReason: 'By rule 7.',
              }),
            ),
          ],
        },
      },
    })
    expect((await denied.run()).out).toContain('By rule 7.')
    const changed = scene({
      home: {
        permissions: bypass,
        hooks: {
          PreToolUse: [
            hook(
              reply({
                hookEventName: 'PreToolUse',
                permissionDecision: 'allow',
                updatedInput: { command: 'echo instead' },
              }),
            ),
          ],
        },
      },
    })
    expect((await changed.run()).out).toContain('│ instead')
    const after = scene({ home: { permissions: bypass, hooks: { PostToolUse: [hook('cat > out.json')] } } })
    await after.run()
    expect(JSON.parse(readFileSync(join(after.root, 'out.json'), 'utf8'))).toMatchObject({
      hook_event_name: 'PostToolUse',
      tool_response: expect.objectContaining({ exitCode: 0 }),
    })
  })

  it('that fail or do not match change nothing, unless they are set to block', async () => {
    const failing = hook('exit 1')
    const home = (more: object) => ({ permissions: bypass, hooks: { PreToolUse: [{ ...failing, ...more }] } })
    expect((await scene({ home: home({}) }).run()).out).toContain('│ ran')
    expect((await scene({ home: home({ onFailure: 'block' }) }).run()).out).not.toContain('│ ran')
    const other = { permissions: bypass, hooks: { PreToolUse: [{ matcher: 'Write|Edit', ...hook('exit 2') }] } }
    expect((await scene({ home: other }).run()).out).toContain('│ ran')
  })
})

it('the page on settings shows examples/settings.json unchanged, and it is valid', () => {
  const root = resolve(import.meta.dirname, '../../..')
  const example = readFileSync(join(root, 'examples/settings.json'), 'utf8')
  expect(readFileSync(join(root, 'docs/settings.md'), 'utf8')).toContain(`\`\`\`json\n${example}\`\`\``)
  expect(parseSettings(example, 'settings.json').model).toBeDefined()
})
