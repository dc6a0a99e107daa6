import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCli } from '../src/run-cli.ts'
import { fakeIo } from './fake-io.ts'
import { temporaryFolder } from './support.ts'

const root = resolve(import.meta.dirname, '../../..')
const page = readFileSync(join(root, 'docs/cli.md'), 'utf8')

const folder = temporaryFolder()

const said = async (...args: string[]) => {
  const { io, printed } = fakeIo()
  return { code: await runCli(args, io), ...printed }
}

describe('the page on the command line', () => {
  const commands = ['run', 'sessions', 'answer', 'resume', 'check', 'replay', 'inspect', 'mcp-serve', 'worker', 'demo']

  it.each(commands)('has every option of %s', async (command) => {
    const { out } = await said(command, '--help')
    const options = [...out.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, name]) => name as string)
    expect(options).toContain('--help')
    for (const option of options) expect(page).toContain(option)
  })

  it('has the script that runs, and its command', async () => {
    expect(page).toContain(`\`\`\`json\n${readFileSync(join(root, 'examples/trains.json'), 'utf8')}\`\`\``)
    const command = /signalbox run --script examples\/trains\.json --cwd \/tmp\/empty (.*)\n/.exec(page)?.[1] ?? ''
    const more = command.split(' --').map((part, index) => (index === 0 ? part : `--${part}`))
    const words = more
      .flatMap((part) => part.split(/ (.*)/).filter((word) => word !== ''))
      .map((word) => word.replaceAll("'", ''))
    const { code, out } = await said('run', '--script', join(root, 'examples/trains.json'), '--cwd', folder, ...words)
    expect([code, out]).toEqual([0, expect.stringContaining('trains.txt:2:Rome 11:05')])
    expect(out).toContain('Rome leaves at 11:05.\n')
  })

  it('has the exit codes that the help has', async () => {
    const { out } = await said('--help')
    const codes = [...out.matchAll(/^ {2}(\d+) {2}/gm)].map(([, code]) => code)
    expect(codes).toEqual(['0', '1', '2', '3', '4', '5', '130'])
    for (const code of codes) expect(page).toMatch(new RegExp(`^\\| ${code}[ ,]`, 'm'))
  })
})
