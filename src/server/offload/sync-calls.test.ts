// Synchronous calls between threads: every reply belongs to its call, whatever stalls between two steps of the protocol, on either side.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { MessageChannel, Worker } from 'node:worker_threads'
import { SyncCaller, SyncServer } from './sync-calls.js'

const stallMs = 3
const calls = 20

async function wrongReplies(serverStep: string | undefined, callerStep: string | undefined): Promise<readonly string[]> {
  const still = new Int32Array(new SharedArrayBuffer(4))
  const server = new SyncServer<number, number>(
    (value) => ({ reply: value }),
    (step) => {
      if (step === serverStep) Atomics.wait(still, 0, 0, stallMs)
    },
  )
  const worker = new Worker(new URL('./sync-calls.fixture.js', import.meta.url), {
    workerData: { link: server.link, count: calls, delaysMs: callerStep === undefined ? {} : { [callerStep]: stallMs } },
    transferList: [server.link.port],
  })
  try {
    const [wrong] = (await once(worker, 'message')) as [readonly string[]]
    return wrong
  } finally {
    server.close()
    await worker.terminate()
  }
}

const serverSteps = [undefined, 'before the reply is posted', 'before the number is stored', 'before the worker is notified']
const callerSteps = [undefined, 'before the call is posted', 'before waiting', 'after waking up']
for (const serverStep of serverSteps) {
  for (const callerStep of callerSteps) {
    test(`replies belong to their calls with stalls: server ${serverStep ?? 'none'}, caller ${callerStep ?? 'none'}`, async () => {
      assert.deepEqual(await wrongReplies(serverStep, callerStep), [])
    })
  }
}

for (const [what, waiting] of [
  ['no reply', undefined],
  ['the reply to call 7', { sequence: 7, value: 'of another user' }],
] as const) {
  test(`a call that gets ${what} throws and ends the thread`, () => {
    const { port1, port2 } = new MessageChannel()
    const replied = new Int32Array(new SharedArrayBuffer(4))
    const ended: string[] = []
    const caller = new SyncCaller({ port: port2, replied }, ({ message }) => ended.push(message))
    if (waiting !== undefined) port1.postMessage(waiting)
    Atomics.store(replied, 0, 1)
    assert.throws(() => caller.call('anything'), { name: 'SyncCallError' })
    assert.deepEqual(ended, [`call 1 of the worker thread to the main thread got ${what}`])
    port1.close()
  })
}
