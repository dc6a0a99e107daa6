import { asRecord } from '../read-event.ts'

/** Bytes become base64, so that a transcript can be stored as JSON. `data` is plain in v2 and v3, and an object in v4. */
export function fileData(data: unknown): unknown {
  if (data instanceof Uint8Array) return base64(data)
  const tagged = asRecord(data)
  return tagged?.data instanceof Uint8Array ? { ...tagged, data: base64(tagged.data) } : data
}

function base64(bytes: Uint8Array): string {
  let text = ''
  // in pieces, because the number of arguments of a call is limited
  for (let at = 0; at < bytes.length; at += 8_192) text += String.fromCharCode(...bytes.subarray(at, at + 8_192))
  return btoa(text)
}
