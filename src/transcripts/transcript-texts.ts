const lost =
  'The result of this call was lost: the conversation broke off before it was stored. The call may or may not have run. ' +
  'Check the current state before you repeat it.'

const quoted = (id: string): string => (id === '' ? 'without an id' : JSON.stringify(id))

/** Texts for the model in a repaired or compacted transcript. */
export const transcriptTexts = {
  lostResult: { content: `<tool_use_error>${lost}</tool_use_error>`, toolUseResult: lost },
  emptyError: '<tool_use_error>The call failed without an error message.</tool_use_error>',
  lostBeginning: '[The beginning of this conversation is missing.]',
  leftOut: (chars: number, others: number): string =>
    `${compactedMark} removed to save space: ${chars} characters${others === 0 ? '' : ` and ${others} more blocks`}. ` +
    'Look it up again if you need it.]',
  summedUp: (summary: string): string => `${compactedMark} summarized to save space.]\n${summary}`,
}

/** The start of a compacted result, by which it is recognized. */
export const compactedMark = '[Old result'

/** Texts for people. */
export const problemTexts = {
  notAMessage: (what: string): string => `Expected a message, received ${what}.`,
  plainAmongOwn: 'This is a plain API message among messages of Signalbox; toApiMessages would ignore it.',
  contentNotBlocks: 'The content of an assistant message of Signalbox must be a list of blocks.',
  replyWithoutId: 'This assistant message has no id, so it cannot be told apart from the next reply.',
  wrongRole: (role: string): string => `Unknown role ${role}. Known roles: user, assistant.`,
  systemFirst: 'Instructions at the beginning belong in the system prompt, not in the messages.',
  emptyMessage: 'This message is empty or only white space.',
  badStart: 'A conversation must begin with a user message.',
  badBlock: 'Invalid block: expected an object with a type; the text of a text block must be a string.',
  badResultContent: 'The content of a result must be a string or a list of blocks.',
  numberedResult: 'The id in this result is a number; ids must be strings.',
  emptyText: 'This text block is empty.',
  misplacedCall: 'A user message contains a tool_use block.',
  misplacedResult: 'An assistant message contains a tool_result block.',
  invalidCall: (what: string): string => `This tool_use block cannot be sent: ${what}.`,
  emptyErrorResult: (id: string): string => `The result of call ${quoted(id)} is an error without content.`,
  duplicateCallId: (id: string): string => `The id ${quoted(id)} was already used by an earlier call.`,
  unansweredCall: (id: string): string => `The call ${quoted(id)} has no result.`,
  orphanResult: (id: string): string => `This result is for call ${quoted(id)}, which is not in the transcript.`,
  duplicateResult: (id: string): string => `The call ${quoted(id)} already has a result.`,
  unansweredServerCall: (id: string): string =>
    `The service's own call ${quoted(id)} has no result, and other content follows it.`,
  orphanServerResult: (id: string): string =>
    `This result is for the service's own call ${quoted(id)}, which is not before it.`,
  resultTooLate: (id: string): string => `The result of call ${quoted(id)} is not in the message right after the call.`,
  resultTooEarly: (id: string): string => `The result of call ${quoted(id)} is before the call.`,
  resultsNotFirst: (id: string): string =>
    `Other content is before the result of call ${quoted(id)}: results must come first in the message that answers.`,
}
