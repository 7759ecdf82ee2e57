// Synchronous calls from a worker thread to the main thread: the worker blocks until the reply to exactly its call is there.
//
// Every call has a sequence number, and so has its reply. A worker that gets another number than its own throws SyncCallError, which ends the thread:
// from then on it could take the reply to one user's call for the reply to another's.

import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads'

/** The worker's end of the channel; sent with `port` in the transfer list. */
export interface SyncLink {
  readonly port: MessagePort
  /** Sequence number of the last call whose reply was posted. */
  readonly replied: Int32Array
}

interface Numbered<T> {
  readonly sequence: number
  readonly value: T
}

/** Steps between which tests inject delays; undefined outside of tests. */
export type OnStep = ((step: string) => void) | undefined

export class SyncCallError extends Error {
  override readonly name = 'SyncCallError'
}

/** In the worker thread. */
export class SyncCaller {
  readonly #link: SyncLink
  /** Ends the thread. */
  readonly #end: (error: SyncCallError) => void
  readonly #onStep: OnStep
  #sequence = 0

  constructor(link: SyncLink, end: (error: SyncCallError) => void, onStep?: OnStep) {
    this.#link = link
    this.#end = end
    this.#onStep = onStep
  }

  call(value: unknown): unknown {
    const { port, replied } = this.#link
    const sequence = ++this.#sequence
    this.#onStep?.('before the call is posted')
    port.postMessage({ sequence, value } satisfies Numbered<unknown>)
    this.#onStep?.('before waiting')
    // A notify that belongs to an earlier reply may arrive late: only the number tells that this reply is there.
    for (let seen = Atomics.load(replied, 0); seen !== sequence; seen = Atomics.load(replied, 0)) {
      Atomics.wait(replied, 0, seen)
      this.#onStep?.('after waking up')
    }
    const received = receiveMessageOnPort(port) as { readonly message: Numbered<unknown> } | undefined
    if (received?.message.sequence === sequence) return received.message.value
    const found = received === undefined ? 'no reply' : `the reply to call ${received.message.sequence}`
    const error = new SyncCallError(`call ${sequence} of the worker thread to the main thread got ${found}`)
    this.#end(error)
    throw error
  }
}

/** In the main thread. */
export class SyncServer<Call, Reply> {
  readonly link: SyncLink
  readonly #port: MessagePort

  constructor(serve: (call: Call) => { readonly reply: Reply; readonly transfer?: readonly ArrayBuffer[] }, onStep?: OnStep) {
    const { port1, port2 } = new MessageChannel()
    const replied = new Int32Array(new SharedArrayBuffer(4))
    this.link = { port: port2, replied }
    this.#port = port1
    port1.on('message', ({ sequence, value }: Numbered<Call>) => {
      const { reply, transfer = [] } = serve(value)
      onStep?.('before the reply is posted')
      port1.postMessage({ sequence, value: reply } satisfies Numbered<Reply>, transfer)
      onStep?.('before the number is stored')
      Atomics.store(replied, 0, sequence)
      onStep?.('before the worker is notified')
      Atomics.notify(replied, 0)
    })
    port1.unref()
  }

  close(): void {
    this.#port.close()
  }
}
