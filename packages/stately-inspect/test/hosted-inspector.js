import { createBrowserReceiver } from '@statelyai/inspect'

const names = new Map()
createBrowserReceiver().subscribe((event) => {
  if (event.type === '@xstate.actor') names.set(event.sessionId, event.name)
  if (!('snapshot' in event)) return
  const item = document.createElement('li')
  item.textContent = `${names.get(event.sessionId)} ${JSON.stringify(event.snapshot.value)}`
  document.querySelector('ol').append(item)
})
