import { findProgram, notStarted } from './find-program.ts'
import { childrenOf, markedProcesses } from './marked-processes.ts'
import type { NamespaceCommand } from './namespace-command.ts'
import { namespaceInit, readEnding } from './namespace-init.ts'
import { outputPipe } from './output-pipe.ts'
import type { ProcessExit, ProcessRunner } from './process-runner.ts'
import { liveGroups, sendSignal } from './signals.ts'
import { spawnChild } from './spawn-child.ts'

const maxSaid = 10_000

/** Runs each program in its own PID namespace, which the kernel ends as a whole, also if this process is killed. */
export const namespaceRunner = ({ bash, enter, drop }: NamespaceCommand): ProcessRunner => ({
  isolation: 'namespace',
  start(request, { onOutput, onNote }) {
    const { file, args, cwd, env } = request
    if (findProgram(file, env.PATH, cwd) === undefined) return notStarted(file)
    const [first = '', ...rest] = enter
    const init = [bash, '--noprofile', '--norc', '-p', '-c', namespaceInit, 'init', ...drop, file, ...args]
    let stage: 'entering' | 'begun' | 'stopped' = 'entering'
    let said = ''
    let problem = ''
    const pipe = outputPipe(onOutput)
    const { pid, exited, closed, control, unref, release } = spawnChild(
      { ...request, file: first, args: [...rest, ...init] },
      {
        onOutput,
        // both outputs of the program arrive on stdout; stderr has errors from creating the namespace
        onErrorOutput: (bytes) => {
          problem = (problem + Buffer.from(bytes).toString('utf8')).slice(-maxSaid)
        },
        onNote: (bytes) => onNote?.(bytes),
      },
      true,
    )
    if (pid !== undefined) liveGroups.add(pid, undefined)
    const ended = new Promise<ProcessExit>((resolve) => {
      control?.on('data', (bytes) => {
        said = (said + bytes.toString('latin1')).slice(-maxSaid)
        if (stage === 'entering' && said.startsWith('ready\n')) {
          stage = 'begun'
          control.write(pid !== undefined && pipe.open(childrenOf(pid)[0]) ? 'pipe\n' : '\n')
        }
        const ending = readEnding(said)
        if (ending !== undefined) resolve(ending)
      })
      exited.then(async (exit) => {
        if (exit.kind === 'notStarted') return resolve(exit)
        // the exit event may arrive before the last data of the control channel
        if (control !== undefined && !control.closed) await new Promise((end) => control.once('close', end))
        if (stage !== 'entering') return resolve(exit)
        resolve({ kind: 'notStarted', error: new Error(`could not create a PID namespace: ${problem.trim()}`) })
      })
    })
    return {
      exited: ended,
      closed: closed.then(() => pipe.closed()),
      gone: exited.then(() => undefined),
      signalGroup(signal) {
        if (stage === 'entering') stage = 'stopped'
        // a program that has not started needs no signal: it exits when its control channel is closed
        if (stage === 'stopped') control?.destroy()
        else if (pid !== undefined) for (const child of childrenOf(pid)) sendSignal(child, signal)
      },
      unref: () => {
        pipe.unref()
        unref()
      },
      release: () => {
        pipe.release()
        if (pid !== undefined) liveGroups.delete(pid)
        release()
      },
    }
  },
  findMarked: markedProcesses,
  signal: sendSignal,
})
