import { createHash } from 'node:crypto'

/**
 * A local page that embeds the hosted inspector. It connects whenever the inspector announces itself, and forwards
 * messages only to that inspector's origin.
 */
export function hostedPage(address: string, { href, origin }: URL): { html: string; policy: string } {
  const script = `
    const frame = document.querySelector('iframe')
    let socket
    addEventListener('message', ({ data, source, origin }) => {
      if (source !== frame.contentWindow || origin !== ${quoted(origin)} || data?.type !== '@statelyai.connected') return
      socket?.close()
      socket = new WebSocket(${quoted(`ws://${address}`)})
      socket.onmessage = (event) => frame.contentWindow.postMessage(JSON.parse(event.data), ${quoted(origin)})
    })`
  const style = 'html, body, iframe { margin: 0; border: 0; width: 100%; height: 100%; display: block }'
  const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
  return {
    // the script runs before the frame loads, so that it gets the frame's first message
    html: [
      '<!doctype html><meta charset="utf-8"><title>Signalbox in the Stately inspector</title>',
      `<style>${style}</style><iframe referrerpolicy="no-referrer"></iframe><script>${script}</script>`,
      `<script>${loader(href)}</script>`,
    ].join('\n'),
    policy: [
      "default-src 'none'",
      `script-src ${hash(script)} ${hash(loader(href))}`,
      `style-src ${hash(style)}`,
      `connect-src ws://${address.split('/', 1)[0]}`,
      `frame-src ${origin}`,
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
  }
}

const loader = (href: string): string => `document.querySelector('iframe').src = ${quoted(href)}`

/** A string literal that cannot end its script element. */
const quoted = (text: string): string => JSON.stringify(text).replaceAll('<', '\\u003c')
