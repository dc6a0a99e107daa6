import fc from 'fast-check'
import { createToolUseContext } from 'signalbox'
import { afterAll, describe, expect, it } from 'vitest'
import { createTools } from '../../src/create-tools.ts'
import { concernsCommand } from '../../src/shell/deny-rule.ts'
import { isReadOnlyCommand } from '../../src/shell/shell-rule.ts'
import { dangerousCommands, harmlessCommands } from './command-lists.ts'
import { commands, forbidden, granted, listedCalls, ruleSets } from './generated-commands.ts'
import { realBash } from './real-bash.ts'
import { stubbedBash } from './stubbed-bash.ts'

const count = process.env.SIGNALBOX_FULL ? 10_000 : 600
// each command is a process
const timeout = count * 500

/** Written by hand, so that a bug in the rule parser is not repeated here. */
function isGranted(words: readonly string[], argv: readonly string[]): boolean {
  const isOpen = words.at(-1) === '…'
  const wanted = isOpen ? words.slice(0, -1) : words
  if (isOpen ? argv.length < wanted.length : argv.length !== wanted.length) return false
  return wanted.every((word, index) => {
    const given = argv[index] as string
    if (!word.includes('~')) return word === given
    const [start = '', end = ''] = word.split('~')
    return given.startsWith(start) && given.endsWith(end) && (word === '~' || !given.split('/').includes('..'))
  })
}

/** Programs that need no prompt, as the stubs see them. */
const unasked = new Set(['cat', 'find', 'sort', 'git'])

describe('allow rules beside the real bash', () => {
  const { folder, run } = stubbedBash([...granted, ...forbidden, 'ls', 'head'])
  const { tools, close } = createTools({ root: folder })
  afterAll(close)
  const bash = tools.find(({ name }) => name === 'Bash')

  /** As the pipeline asks the tool, with all that it knows of the folder. */
  async function isAllowed(specs: readonly string[], command: string): Promise<boolean> {
    const permissions = { allow: specs.map((spec) => `Bash(${spec})`) }
    const context = { ...createToolUseContext({ permissions }), toolUseID: 'a' }
    if ((await bash?.checkPermissions?.({ command }, context))?.behavior === 'allow') return true
    for (const spec of specs) if ((await bash?.matchesRule?.(spec, { command }, context, 'allow')) === true) return true
    return false
  }

  it(`no program runs without a rule, and nothing is written: ${count} generated commands`, { timeout }, async () => {
    let allowed = 0
    let forbade = 0
    await fc.assert(
      fc.asyncProperty(ruleSets, commands, async (rules, command) => {
        const specs = rules.map(([spec]) => spec)
        const isUnasked = await isAllowed(specs, command)
        const { started, changed } = run(command)
        const wild = started.filter((argv) => !rules.some(([, ...words]) => isGranted(words, argv)))
        const odd = wild.filter(
          ([program = '', ...args]) => !unasked.has(program) || !isReadOnlyCommand(quoted([program, ...args])),
        )
        if (isUnasked) allowed++
        if (odd.length + changed.length > 0) forbade++
        expect({ command, rules, odd, changed, isWrong: isUnasked && odd.length + changed.length > 0 }).toMatchObject({
          isWrong: false,
        })
      }),
      { numRuns: count },
    )
    // both outcomes occurred
    expect(allowed).toBeGreaterThan(count / 50)
    expect(forbade).toBeGreaterThan(count / 5)
  })

  it(`no command that passes a deny rule runs the denied program: ${count} generated`, { timeout }, () => {
    let stopped = 0
    fc.assert(
      fc.property(commands, (command) => {
        const isStopped = concernsCommand('touch *', command)
        if (isStopped) stopped++
        // the content of b.txt is not part of the command
        if (isStopped || /b\.txt/.test(command)) return
        const didTouch = run(command).started.some(([program]) => program === 'touch')
        expect({ command, didTouch }).toEqual({ command, didTouch: false })
      }),
      { numRuns: count },
    )
    expect(stopped).toBeGreaterThan(count / 10)
  })
})

const quoted = (argv: readonly string[]): string => argv.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')

describe('commands that need no prompt, beside the real bash and the real programs', () => {
  const bash = realBash()

  it('the list has at least 150 commands written by hand', () => {
    expect(new Set([...dangerousCommands, ...harmlessCommands]).size).toBeGreaterThanOrEqual(150)
  })

  it('no listed command that writes a file is allowed', () => {
    const wrote = dangerousCommands.filter(bash.writesMarker)
    // most of them must really write, or this proves nothing
    expect(wrote.length).toBeGreaterThan(dangerousCommands.length * 0.75)
    expect(dangerousCommands.filter(isReadOnlyCommand)).toEqual([])
  })

  it('all harmless commands are allowed', () => {
    expect(harmlessCommands.filter((command) => !isReadOnlyCommand(command))).toEqual([])
    expect(harmlessCommands.filter(bash.writesMarker)).toEqual([])
  })

  it(`no call of a listed program with any options writes a file: ${count} generated`, { timeout }, () => {
    let ran = 0
    fc.assert(
      fc.property(listedCalls, (command) => {
        if (!isReadOnlyCommand(command)) return
        ran++
        expect({ command, wrote: bash.writesMarker(command) }).toEqual({ command, wrote: false })
      }),
      { numRuns: count * 4 },
    )
    expect(ran).toBeGreaterThan(count / 10)
  })
})
