/** Changes that no test can notice, each with the reason: [file, the line that it changes, what it does, why]. */
export const equivalents = [
  [
    'src/executor/host-abort.ts',
    'if (isUnderWay === this.#isListening) return',
    'do not return: return → ;',
    'adding a listener twice, or removing one that is not there, does nothing; the line saves time',
  ],
  [
    'src/executor/host-abort.ts',
    'this.#isTold = true',
    'flip constant: true → false',
    'the callback acknowledges the abort, which sets the same field',
  ],
  [
    'src/executor/intake.ts',
    'if (call.id !== given) this.#remember(call.id, call)',
    'condition always true: call.id !== given → true',
    'the call is kept twice under its id, and every look-up finds it; the condition saves memory',
  ],
  [
    'src/executor/progress-buffer.ts',
    'if (own.head > this.#maxPerCall) {',
    '> becomes >=: own.head > this.#maxPerCall → own.head >= this.#maxPerCall',
    'a list is cut one message earlier, and its content is the same',
  ],
  [
    'src/pipeline/deciding.ts',
    "if (tool === undefined || reading.status !== 'valid' || !call.isIn('permission')) return",
    "keep left operand: tool === undefined || reading.status !== 'valid' → tool === undefined",
    'for the type checker: in this phase the input is valid',
  ],
  [
    'machines/executor/executor-setup.ts',
    'if (call?.ref === undefined) return',
    'do not return: return → ;',
    'for the type checker: the guard of the transition has found the call',
  ],
  [
    'src/transcripts/compact-tool-results.ts',
    'if (found.message > lastReply || !size.isLong) continue',
    '> becomes >=: found.message > lastReply → found.message >= lastReply',
    'a result never stands in the message of a reply',
  ],
  [
    'src/transcripts/pair-calls.ts',
    'for (; this.#first < this.#replies.length; this.#first++) {',
    '< becomes <=: this.#first < this.#replies.length → this.#first <= this.#replies.length',
    'there is no reply at the additional place, so no call is found there, and no reply is added any more',
  ],
  [
    'src/transcripts/entry.ts',
    "} else isAnswered ||= entry.side === 'user' && hasContent(entry)",
    "keep right operand: entry.side === 'user' && hasContent(entry) → hasContent(entry)",
    'an entry that is neither the assistant’s nor the user’s is an aside, which has no content',
  ],
]
