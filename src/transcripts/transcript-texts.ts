const lost =
  'The result of this call was lost: the conversation broke off before it was kept. The call may or may not have run; ' +
  'look at what is there before you make it again.'

const quoted = (id: string): string => (id === '' ? 'without an id' : JSON.stringify(id))

/** What a mended or compacted transcript says to the model, all of it. */
export const transcriptTexts = {
  lostResult: { content: `<tool_use_error>${lost}</tool_use_error>`, toolUseResult: lost },
  emptyError: '<tool_use_error>The call failed and left no message.</tool_use_error>',
  lostBeginning: '[The beginning of this conversation is missing.]',
  leftOut: (chars: number, others: number): string =>
    `${compactedMark} left out to save room: ${chars} characters${others === 0 ? '' : ` and ${others} more blocks`}. ` +
    'It can be looked up again if it is needed.]',
  summedUp: (summary: string): string => `${compactedMark} summed up to save room.]\n${summary}`,
}

/** How a result begins that was compacted, so that it is not compacted again. */
export const compactedMark = '[Old result'

/** What a problem says to people. */
export const problemTexts = {
  notAMessage: (what: string): string => `This is not a message: ${what}.`,
  plainAmongOwn: 'This is a plain API message among messages of another form, where it would be passed over.',
  contentNotBlocks: 'The content of an assistant message of this form has to be a list of blocks.',
  replyWithoutId: 'A message of the assistant without an id cannot be told from its next reply.',
  wrongRole: (role: string): string => `There is no role ${role}: messages are from the user or the assistant.`,
  systemFirst: 'Instructions at the beginning belong into the system prompt, not into the messages.',
  emptyMessage: 'This message has no content but white space.',
  badStart: 'A conversation has to begin with a message of the user.',
  badBlock: 'This block cannot be read: it has to be an object with a type, and text has to be a string.',
  badResultContent: 'The content of a result has to be a string or a list of blocks.',
  numberedResult: 'The id in this result is a number; ids are strings.',
  emptyText: 'This text block is empty.',
  misplacedCall: 'A tool_use block stands in a message of the user.',
  misplacedResult: 'A tool_result block stands in a message of the assistant.',
  invalidCall: (what: string): string => `This tool_use block cannot be sent: ${what}.`,
  emptyErrorResult: (id: string): string => `The result of call ${quoted(id)} is an error and says nothing.`,
  duplicateCallId: (id: string): string => `The id ${quoted(id)} was already used by an earlier call.`,
  unansweredCall: (id: string): string => `The call ${quoted(id)} has no result.`,
  orphanResult: (id: string): string => `This result is for call ${quoted(id)}, which is not in the transcript.`,
  duplicateResult: (id: string): string => `The call ${quoted(id)} has a result already.`,
  unansweredServerCall: (id: string): string =>
    `The service's own call ${quoted(id)} never got its result, and something else was said after it.`,
  orphanServerResult: (id: string): string =>
    `This result is for the service's own call ${quoted(id)}, which does not stand before it.`,
  resultTooLate: (id: string): string =>
    `The result of call ${quoted(id)} does not follow right after the message with the call.`,
  resultTooEarly: (id: string): string => `The result of call ${quoted(id)} stands before the call.`,
  resultsNotFirst: (id: string): string =>
    `Something stands before the result of call ${quoted(id)}: results come first in the message that answers.`,
}
