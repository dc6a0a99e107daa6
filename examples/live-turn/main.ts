/// <reference types="node" />
import process from 'node:process'
import readline from 'node:readline'
import { type InspectorServer, serveInspector } from '../../src/inspect-server/index.ts'
import { LiveTurn } from './turn.ts'
import { clip, drawScene, nameOf, type Paint, type Scene, whyWaiting } from './view.ts'

const help = `Runs a scripted turn of mixed tool calls and draws it, live.

  npm start                   keys: i interrupt, a abort, d discard, r run again, q quit
  npm start -- --once         one turn, then ends
  npm start -- --fast         ten times as fast
  npm start -- --no-inspect   without the inspector in the browser
  npm start -- --help         this text

Without a terminal it prints a line for each thing that happens, and ends.`

const codes = { dim: 2, bold: 1, green: 32, red: 31, yellow: 33, cyan: 36 } as const
const inColour: Paint = (style, text) => `\x1b[${codes[style]}m${text}\x1b[0m`
const plain: Paint = (_, text) => text

// whoever reads may leave, as `head` does
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

const flags = new Set(process.argv.slice(2))
const known = new Set(['--once', '--fast', '--no-inspect', '--help', '-h'])
const unknown = [...flags].find((flag) => !known.has(flag))

if (unknown !== undefined) {
  process.stderr.write(`There is no option ${unknown}.\n\n${help}\n`)
  process.exitCode = 2
} else if (flags.has('--help') || flags.has('-h')) process.stdout.write(`${help}\n`)
else if (process.stdout.isTTY) await drawLive()
else await printLog()

async function drawLive(): Promise<void> {
  const paint = process.env.NO_COLOR ? plain : inColour
  const speed = flags.has('--fast') ? 10 : 1
  const isInteractive = process.stdin.isTTY && !flags.has('--once')
  const inspector = await openInspector(paint)
  let drawn = 0
  let turn = new LiveTurn(() => draw(), speed)
  inspector?.add(turn.executor, { title: 'turn 1' })
  const draw = (): void => {
    const width = process.stdout.columns || 80
    const keyLine = paint('dim', 'i interrupt  a abort  d discard  r again  q quit')
    const keys = isInteractive ? ['', clip(keyLine, width)] : []
    const lines = [...drawScene(turn.scene, paint, width), ...keys]
    const room = Math.max(1, (process.stdout.rows || 40) - 1)
    const up = drawn > 0 ? `\x1b[${drawn}A\r` : ''
    drawn = Math.min(lines.length, room)
    const shown =
      lines.length <= room
        ? lines
        : [...lines.slice(0, room - 1), paint('dim', `… and ${lines.length - room + 1} lines more than fit`)]
    process.stdout.write(`${up}\x1b[J${shown.join('\n')}\n`)
  }
  if (!isInteractive) {
    await turn.run()
    return inspector?.close()
  }
  let turns = 1
  const start = () => {
    turn = new LiveTurn(() => draw(), speed)
    inspector?.add(turn.executor, { title: `turn ${++turns}` })
    void turn.run()
  }
  const actions: Record<string, () => void> = {
    i: () => turn.abort('interrupt'),
    a: () => turn.abort('escape'),
    d: () => turn.discard(),
    r: () => {
      turn.discard()
      drawn = 0
      start()
    },
    q: () => {
      turn.discard()
      process.stdin.setRawMode(false).pause()
    },
  }
  readline.emitKeypressEvents(process.stdin)
  process.stdin.setRawMode(true)
  process.stdin.on('keypress', (_, key: { name?: string; ctrl?: boolean }) => {
    actions[key.ctrl === true && key.name === 'c' ? 'q' : (key.name ?? '')]?.()
  })
  void turn.run()
}

/** For pipes and logs: each change of a call's stage is a line. */
async function printLog(): Promise<void> {
  const seen = new Map<string, string>()
  const print = (): void => {
    const { scene } = turn
    for (const call of scene.run.calls) {
      const stage = scene.results.has(call.id) ? 'yielded' : call.stage.replace('yielded', 'completed')
      if (seen.get(call.id) === stage) continue
      seen.set(call.id, stage)
      const reason = stage === 'queued' ? `: ${whyWaiting(scene, call)}` : resultOf(scene, call.id)
      process.stdout.write(`${stage.padEnd(9)} ${nameOf(scene, call)}${reason}\n`)
    }
  }
  const inspector = await openInspector(plain)
  const turn = new LiveTurn(print, flags.has('--fast') ? 10 : 1)
  inspector?.add(turn.executor, { title: 'turn 1' })
  await turn.run()
  await inspector?.close()
}

/** The same executor in the browser. It records from the start, so that whoever opens it late sees all. */
async function openInspector(paint: Paint): Promise<InspectorServer | undefined> {
  if (flags.has('--no-inspect')) return undefined
  try {
    const inspector = await serveInspector([], { record: 'always', commands: true })
    process.stdout.write(`${paint('dim', 'inspector')}  ${inspector.url}\n\n`)
    return inspector
  } catch (error) {
    process.stdout.write(`${paint('dim', 'inspector')}  not available: ${(error as Error).message}\n\n`)
    return undefined
  }
}

function resultOf({ results }: Scene, id: string): string {
  const result = results.get(id)
  return result === undefined ? '' : `: ${(result.text.split('\n', 1)[0] ?? '').replace(/<\/?tool_use_error>/g, '')}`
}
