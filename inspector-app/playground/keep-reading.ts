import type { MessageUpdate, StreamingToolExecutor } from 'signalbox'

/** Reads all results of an executor. Call it after each added call: a reader ends when everything is read. */
export function keepReading(
  executor: StreamingToolExecutor,
  onMessage: (message: MessageUpdate['message']) => void,
): () => void {
  let isReading = false
  let isMore = false
  const read = async (): Promise<void> => {
    isReading = true
    while (isMore) {
      isMore = false
      for await (const { message } of executor.getRemainingResults()) onMessage(message)
    }
    isReading = false
  }
  return () => {
    isMore = true
    if (!isReading) void read()
  }
}
