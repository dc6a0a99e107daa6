import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type ReplayPageOptions, writeReplayPage } from '../replay-page/index.ts'

export const replayHelp = `signalbox replay recording.jsonl --html page.html

  Writes the recording as one HTML file with the inspector inside, to be opened anywhere without a network.
`

/** Writes a replay page, and says what came of it. Gives back the exit code. */
export async function replayCommand(
  args: readonly string[],
  print: (text: string) => void,
  options: ReplayPageOptions = {},
): Promise<number> {
  const given = readArguments(args)
  if (typeof given === 'string') {
    print(`${given}\n\n${replayHelp}`)
    return 2
  }
  try {
    const bytes = await writeReplayPage(given.recording, given.html, options)
    print(`${given.html}: ${(bytes / 1_000_000).toFixed(1)} MB, to be opened in any browser.\n`)
    return 0
  } catch (error) {
    print(`${error instanceof Error ? error.message : String(error)}\n`)
    return 1
  }
}

interface Given {
  readonly recording: string
  readonly html: string
}

function readArguments(args: readonly string[]): Given | string {
  let recording: string | undefined
  let html: string | undefined
  for (let at = 0; at < args.length; at++) {
    const word = args[at] as string
    if (word === '--html') html = args[++at]
    else if (word.startsWith('-')) return `There is no option ${word}.`
    else if (recording !== undefined) return 'One recording at a time.'
    else recording = word
  }
  if (recording === undefined) return 'Which recording?'
  if (html === undefined || html.startsWith('-')) return '--html wants the path of the page to write.'
  if (!isFile(recording)) return `There is no file ${recording}.`
  if (resolve(html) === resolve(recording)) return 'The page would take the place of the recording.'
  return { recording, html }
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    return false
  }
}
