import { type ChildProcess, spawn } from 'node:child_process'
import { dirname } from 'node:path'
import { watchedChild } from './children/watched-children.ts'

export interface TutorialApp {
  readonly url: string
  readonly child: ChildProcess
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>
}

/** Starts the program of the tutorial on approvals, in its own folder. Resolves when it has printed its address. */
export async function startTutorial(program: string, ...args: readonly string[]): Promise<TutorialApp> {
  const env = { ...process.env, ...watchedChild }
  const child = spawn(process.execPath, [program, ...args], { cwd: dirname(program), env })
  const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  let said = ''
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.on('data', (data) => {
      said += data
    })
    child.stdout.once('data', (data) => resolve(String(data).trim()))
    void exit.then(() => reject(new Error(`The program ended: ${said}`)))
  })
  const end = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
    child.kill(signal)
    await exit
  }
  return { url, child, end }
}
