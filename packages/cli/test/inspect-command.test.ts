import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileJournals } from 'signalbox/node'
import { describe, expect, it } from 'vitest'
import { get, tokenOf } from '../../../test/inspect/server/support.ts'
import { runCli } from '../src/run-cli.ts'
import { fakeIo } from './fake-io.ts'

const said = async (...args: string[]): Promise<[number, string, string]> => {
  const { io, printed } = fakeIo()
  const code = await runCli(args, io)
  return [code, printed.out, printed.err]
}

describe('the command line', () => {
  it('prints its usage, for each command too, with the exit codes', async () => {
    expect(await said()).toEqual([0, expect.stringContaining('Usage: signalbox'), ''])
    expect(await said('--help')).toEqual([0, expect.stringContaining('Exit codes:'), ''])
    for (const command of ['run', 'check', 'replay', 'inspect', 'mcp-serve', 'demo']) {
      const [code, out, err] = await said(command, '--help')
      expect([code, err]).toEqual([0, ''])
      expect(out).toContain(`Usage: signalbox ${command}`)
    }
    expect((await said('--version'))[1]).toMatch(/^\d+\.\d+\.\d+\n$/)
  })

  it.each([
    [['dance'], "unknown command 'dance'"],
    [['chekc', 'x'], 'Did you mean check?'],
    [['run', '--laod'], "unknown option '--laod'"],
    [['check'], "missing required argument 'transcript'"],
    [['check', 'a', '--output', 'b'], '--output requires --repair'],
    [['run', 'x', '--json', '--quiet'], 'cannot be combined'],
    [['run', 'x', '--max-turns', 'many'], 'Expected an integer of at least 1.'],
    [['run', 'x', '--limit', 'calls'], 'Expected a name and a number, such as calls=100.'],
    [['run', 'x', '--limit', 'dollars=3'], 'Names: turns, calls, inputTokens'],
    [['run', 'x', '--limit', 'calls=-1'], 'Expected a name and a number'],
    [['run', 'x', '--permission-mode', 'lax'], 'Allowed choices are'],
    [['replay', 'x', '--speed', '-1'], 'Expected a number of at least 0.'],
    [['inspect', '--port', 'x'], 'Expected an integer from 0 to 65535'],
    [['inspect', 'nowhere.jsonl'], 'nowhere.jsonl: no such file.'],
    [['inspect', 'a', 'b'], 'too many arguments'],
    [['inspect', '--coverage', 'nowhere.json'], 'nowhere.json: no such file.'],
    [['inspect', '--journal', 'nowhere'], '--journal nowhere: no such folder.'],
  ])('rejects %j with a message', async (args, problem) => {
    expect(await said(...args)).toEqual([2, '', expect.stringContaining(problem)])
  })
})

describe('signalbox inspect', () => {
  it('D26 lists the sessions of a folder', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'signalbox-cli-'))
    const journal = await fileJournals({ folder }).open('kept', { owner: 'me', mode: 'create' })
    await journal.close()
    const { io, printed, signal, hasPrinted } = fakeIo()
    const shown = hasPrinted('Ctrl+C')
    const ended = runCli(['inspect', '--journal', folder], io)
    await shown
    const url = printed.out.match(/http\S+/)?.[0] ?? ''
    const headers = { authorization: `Bearer ${tokenOf(url)}` }
    expect(JSON.parse((await get(url, { path: '/sessions', headers })).text)).toMatchObject({
      sessions: [{ id: 'kept', status: 'idle', turns: 0 }],
    })
    signal('SIGINT')
    await ended
    rmSync(folder, { recursive: true })
  })

  it('serves a recording and a coverage file until it is stopped', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'signalbox-cli-'))
    const path = join(folder, 'r.jsonl')
    writeFileSync(path, 'the lines\n')
    const coverage = join(folder, 'c.json')
    writeFileSync(coverage, 'the counts\n')
    const { io, printed, signal, hasPrinted } = fakeIo()
    const shown = hasPrinted('Ctrl+C')
    const ended = runCli(['inspect', path, '--coverage', coverage], io)
    await shown
    const url = printed.out.match(/http\S+/)?.[0] ?? ''
    const headers = { authorization: `Bearer ${tokenOf(url)}` }
    expect((await get(url, { path: '/recording', headers })).text).toBe('the lines\n')
    expect((await get(url, { path: '/coverage', headers })).text).toBe('the counts\n')
    expect((await get(url, { path: '/coverage' })).status).toBe(401)
    signal('SIGINT')
    expect(await ended).toBe(0)
    rmSync(folder, { recursive: true })
  })

  it('reports a port that is in use', async () => {
    const { serveInspector } = await import('../../../src/inspect/server/index.ts')
    const server = await serveInspector()
    const [code, , err] = await said('inspect', '--port', new URL(server.url).port)
    await server.close()
    expect([code, err]).toEqual([2, expect.stringContaining('EADDRINUSE')])
  })
})
