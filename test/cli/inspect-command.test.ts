import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCli } from '../../src/cli/run-cli.ts'
import { get, tokenOf } from '../inspect-server/support.ts'

const said = async (...args: string[]): Promise<[number, string]> => {
  let text = ''
  const code = await runCli(args, (more) => (text += more), Promise.resolve())
  return [code, text]
}

describe('signalbox inspect', () => {
  it('says how it is used', async () => {
    expect(await said()).toEqual([0, expect.stringContaining('signalbox inspect [recording]')])
    expect(await said('inspect', '--help')).toEqual([0, expect.stringContaining('--port')])
  })

  it.each([
    [['dance'], 'There is no command dance.'],
    [['inspect', '--loud'], 'There is no option --loud.'],
    [['inspect', 'nowhere.jsonl'], 'There is no file nowhere.jsonl.'],
    [['inspect', '--port', 'x'], '--port wants a port number.'],
    [['inspect', '/', 'b'], 'One recording at a time.'],
    [['inspect', '--coverage'], '--coverage wants a file.'],
    [['inspect', '--coverage', 'nowhere.json'], 'There is no file nowhere.json.'],
  ])('refuses %j with a sentence', async (args, problem) => {
    expect(await said(...args)).toEqual([2, expect.stringContaining(problem)])
  })

  it('serves a recording and a coverage file until it is stopped', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'signalbox-cli-'))
    const path = join(folder, 'r.jsonl')
    writeFileSync(path, 'the lines\n')
    const coverage = join(folder, 'c.json')
    writeFileSync(coverage, 'the counts\n')
    let stop = (): void => undefined
    const stopped = new Promise<void>((resolve) => {
      stop = resolve
    })
    const printed = new Promise<string>((resolve) => {
      void runCli(['inspect', path, '--coverage', coverage], resolve, stopped).then(() =>
        rmSync(folder, { recursive: true }),
      )
    })
    const url = (await printed).match(/http\S+/)?.[0] ?? ''
    const headers = { authorization: `Bearer ${tokenOf(url)}` }
    expect((await get(url, { path: '/recording', headers })).text).toBe('the lines\n')
    expect((await get(url, { path: '/coverage', headers })).text).toBe('the counts\n')
    expect((await get(url, { path: '/coverage' })).status).toBe(401)
    stop()
  })

  it('says so when the port is taken', async () => {
    const { serveInspector } = await import('../../src/inspect-server/index.ts')
    const server = await serveInspector()
    const [code, text] = await said('inspect', '--port', new URL(server.url).port)
    await server.close()
    expect([code, text]).toEqual([2, expect.stringContaining('EADDRINUSE')])
  })
})
