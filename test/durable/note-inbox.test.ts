import { NoteInbox, type SessionNote, type StoredNote } from 'signalbox/durable'
import { expect, it } from 'vitest'

const note = (uuid: string): StoredNote => [uuid, JSON.stringify({ type: 'message', uuid, content: 'hi' })]

it('D20 an opening does not go on without notes that it could not read; a later look tries again', async () => {
  const delivered: SessionNote[] = []
  const owner = { id: 's', deliver: (each: SessionNote) => delivered.push(each), fail: () => undefined }
  const reads = [new Error('the connection is lost'), [note('a')], new Error('lost again'), [note('a'), note('b')]]
  const inbox = new NoteInbox(owner as never, async () => {
    const read = reads.shift() ?? []
    if (read instanceof Error) throw read
    return read
  })
  await expect(inbox.lookFirst()).rejects.toThrow('the connection is lost')
  await inbox.lookFirst()
  expect(delivered).toMatchObject([{ uuid: 'a' }])
  await inbox.look()
  await inbox.look()
  expect(delivered).toMatchObject([{ uuid: 'a' }, { uuid: 'b' }])
})
