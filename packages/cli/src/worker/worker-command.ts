import { Command, Option } from 'commander'
import { exitCodesHelp } from '../exit-code.ts'
import type { Io } from '../io.ts'
import { collect, readCount } from '../option-values.ts'
import type { Finish } from '../run-cli.ts'
import type { WorkerOptions } from './serve-worker.ts'

const examples = `
The address of Redis may also come from the variable REDIS_URL, where other users
of the machine do not see its password. SIGTERM and Ctrl+C drain the worker: it
takes no more calls, and ends with code 0 when its calls have ended, or with
code 1 if some were killed after --drain.

Examples:
  signalbox worker ./tools.js
  signalbox worker ./tools.js --redis rediss://worker:secret@10.0.0.5:6379 --label gpu --concurrency 2
  signalbox worker ./tools.ts --import tsx`

/** `signalbox worker`: runs the bodies of tools for hosts on other machines. */
export const workerCommand = (io: Io, finish: Finish): Command =>
  new Command('worker')
    .summary('run tools for other machines')
    .description(
      'Serves the tools that a module exports to hosts that use bullRunner, through Redis. Needs @signalbox/bullmq. Each body runs in a process of its own, unless --bodies says otherwise.',
    )
    .argument('<tools>', 'the module that exports the tools')
    .option('--redis <url>', 'the address of Redis (default: REDIS_URL, or redis://127.0.0.1:6379)')
    .option('--label <name>', 'take calls with this label; may be repeated (default: default)', collect)
    .option(
      '--concurrency <number>',
      'how many bodies of each label run at once (default: the number of processors)',
      readCount,
    )
    .addOption(
      new Option(
        '--bodies <where>',
        'where bodies run: each in a process, or in the worker (short tools that never block)',
      )
        .choices(['process', 'worker'])
        .default('process'),
    )
    .option('--name <text>', 'how hosts and the inspector name this worker (default: host and process)')
    .option('--prefix <text>', 'the beginning of all keys in Redis (default: signalbox)')
    .option('--results <folder>', 'a folder, shared with the hosts, for results over 256 KiB')
    .option('--drain <seconds>', 'how long to wait for calls at the end before they are killed', readCount, 30)
    .option('--health <seconds>', 'print a line of JSON this often: isConnected, isDraining, running', readCount)
    .option(
      '--import <module>',
      'load this module first, such as tsx for tools in TypeScript; may be repeated',
      collect,
    )
    .addHelpText('after', `${examples}\n${exitCodesHelp}`)
    .action(async (tools: string, options: Omit<WorkerOptions, 'tools'>) => {
      const { serveWorker } = await import('./serve-worker.ts')
      finish(await serveWorker({ ...options, tools }, io))
    })
