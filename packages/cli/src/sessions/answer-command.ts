import { Command } from 'commander'
import { type PermissionAnswer, visibleLine } from 'signalbox'
import type { JournalStore } from 'signalbox/durable'
import { exitCode } from '../exit-code.ts'
import type { Io } from '../io.ts'
import type { Finish } from '../run-cli.ts'
import { usageError } from '../usage-error.ts'
import { explainMissing, journalsIn } from './stored-session.ts'

interface AnswerOptions {
  journal: string
  allow?: boolean
  deny?: string
  always?: boolean
}

/** `signalbox answer`: answers a question of a stored session, whether or not a process has it open. */
export const answerCommand = (io: Io, finish: Finish): Command =>
  new Command('answer')
    .summary('answer a question of a stored session')
    .description(
      'Answers a question of a session that signalbox run --journal has stored. A process that has the session open continues at once; otherwise run signalbox resume. The first answer counts: a later one is stale (exit code 1).',
    )
    .argument('<id>', 'the session, as signalbox sessions shows it')
    .argument('<question>', 'the question')
    .requiredOption('--journal <folder>', 'the folder of the session')
    .option('--allow', 'the call may run')
    .option('--deny <reason>', 'the call may not run; the model gets the reason')
    .option('--always', 'also for later calls: adds the rule that the question names')
    .action(async (id: string, question: string, options: AnswerOptions, command: Command) => {
      const { journal, allow, deny, always = false } = options
      if ((allow === true) === (deny !== undefined)) command.error('error: give either --allow or --deny "<reason>"')
      const journals = await journalsIn(journal)
      const rule = await ruleOf(journals, id, question).catch(explainMissing(id, journal))
      const { postAnswer } = await import('signalbox/durable')
      if (always && rule.isOpen && rule.rule === undefined)
        throw usageError(
          '--always: this question names no rule that would answer it. Answer it once, without --always.',
        )
      const given: PermissionAnswer =
        deny === undefined ? { behavior: 'allow' } : { behavior: 'deny', message: `The user denied this call: ${deny}` }
      const addRules = always && rule.rule !== undefined ? { addRules: { [given.behavior]: [rule.rule] } } : {}
      const by = io.env.USER
      const answer = { ...given, ...addRules }
      const outcome = await postAnswer(journals, id, { question, answer, ...(by !== undefined && { by }) })
      if (outcome === 'stale') {
        io.stdout.write('stale: the question was answered before, or its call is over. Nothing has changed.\n')
        return finish(exitCode.failed)
      }
      const added = addRules.addRules === undefined ? '' : ` Added the rule ${visibleLine(String(rule.rule))}.`
      io.stdout.write(`accepted.${added}\n`)
    })

/** The rule of a question. Throws if the session never asked it. */
async function ruleOf(
  journals: JournalStore,
  id: string,
  question: string,
): Promise<{ isOpen: boolean; rule?: string | undefined }> {
  const { storedQuestions } = await import('signalbox/durable')
  const questions = await storedQuestions(journals, id)
  const open = questions.find((each) => each.id === question)
  if (open !== undefined) return { isOpen: true, rule: open.rule }
  if (await wasAsked(journals, id, question)) return { isOpen: false }
  const ids = questions.map((each) => each.id)
  const others = ids.length === 0 ? 'It has no open questions.' : `Open questions: ${ids.join(', ')}.`
  throw usageError(`Session ${id} has no question ${question}. ${others}`)
}

/** By the session, or by an agent inside it. */
async function wasAsked(journals: JournalStore, id: string, question: string): Promise<boolean> {
  for await (const { t, question: asked, session } of journals.read(id)) {
    if (t === 'permission.asked' && asked === question) return true
    if (t === 'agent.started' && (await wasAsked(journals, String(session), question).catch(() => false))) return true
  }
  return false
}
