import { Command } from 'commander'
import { isSignalboxError, showInputText, visibleLine } from 'signalbox'
import type { JournalStore, SessionSummary, StoredQuestion } from 'signalbox/durable'
import type { Io } from '../io.ts'
import { plainWord } from '../shell-word.ts'
import { plural } from '../view/amounts.ts'
import { journalsIn } from './stored-session.ts'

/** `signalbox sessions`: lists stored sessions and what they ask. */
export const sessionsCommand = (io: Io): Command =>
  new Command('sessions')
    .summary('list stored sessions and their open questions')
    .description(
      'Lists the sessions that signalbox run --journal has stored: id, status, number of records and last change, and each open question with its whole input.',
    )
    .requiredOption('--journal <folder>', 'the folder of the sessions')
    .addHelpText('after', '\nExample:\n  signalbox sessions --journal ~/sessions')
    .action(async ({ journal }: { journal: string }) => {
      const journals = await journalsIn(journal)
      const found: SessionSummary[] = []
      // agents are part of the session around them
      for await (const summary of journals.list()) if (summary.outer === undefined) found.push(summary)
      if (found.length === 0) io.stdout.write(`No sessions in ${visibleLine(journal)}.\n`)
      for (const summary of found.toSorted((a, b) => b.updatedAt - a.updatedAt)) {
        const lines = await linesOf(journals, summary, journal)
        io.stdout.write(`${lines.join('\n')}\n`)
      }
    })

const problems: Readonly<Record<NonNullable<SessionSummary['problem']>, string>> = {
  journal_corrupt: 'damaged',
  journal_newer: 'written by a newer version',
  journal_error: 'unreadable',
}

/** Everything here may come from a file that somebody else wrote. */
async function linesOf(journals: JournalStore, summary: SessionSummary, folder: string): Promise<string[]> {
  const { id, status, records, updatedAt, problem } = summary
  // the status is that of the part that can be read
  const state = problem === undefined ? status : problems[problem]
  const head = `${visibleLine(id)} · ${state} · ${plural(records, 'record')} · ${timeOf(updatedAt)}`
  try {
    const { questions: own } = summary
    if (status === 'idle' && own.length === 0 && problem === undefined) return [head]
    const { storedQuestions } = await import('signalbox/durable')
    const questions = await storedQuestions(journals, id)
    return [head, ...questions.flatMap((question) => questionLines(question, id, folder))]
  } catch (error) {
    if (!isSignalboxError(error)) throw error
    return [head, `  ✗ ${visibleLine(error.message)}`]
  }
}

function questionLines(
  { id, agents, toolName, input, rule }: StoredQuestion,
  session: string,
  folder: string,
): string[] {
  const words = [session, id].map((word) => visibleLine(plainWord(word))).join(' ')
  return [
    `  ? May ${visibleLine([...agents.map((agent) => agent.toolName), toolName].join(' › '))} run?`,
    ...showInputText(input)
      .split('\n')
      .map((line) => `    ${line}`),
    ...(rule === undefined ? [] : ['    --always adds the rule:', `    │ ${visibleLine(rule)}`]),
    `    signalbox answer ${words} --journal ${plainWord(folder)} --allow`,
  ]
}

const timeOf = (at: number): string => {
  const time = new Date(at)
  return Number.isNaN(time.getTime()) ? 'at an unknown time' : time.toISOString()
}
