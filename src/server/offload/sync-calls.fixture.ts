// The worker thread of sync-calls.test.ts: calls with 1, 2, 3 … and posts every reply that is not the number it sent.

import { parentPort, workerData } from 'node:worker_threads'
import { SyncCaller, type SyncLink } from './sync-calls.js'

const { link, count, delaysMs } = workerData as { link: SyncLink; count: number; delaysMs: { readonly [step: string]: number } }
const still = new Int32Array(new SharedArrayBuffer(4))
const wrong: string[] = []
const caller = new SyncCaller(
  link,
  (error) => wrong.push(error.message),
  (step) => void Atomics.wait(still, 0, 0, delaysMs[step] ?? 0),
)
for (let i = 1; i <= count && wrong.length === 0; i++) {
  try {
    const reply = caller.call(i)
    if (reply !== i) wrong.push(`call ${i} got the reply ${String(reply)}`)
  } catch {
    // kept in `wrong` by then
  }
}
parentPort?.postMessage(wrong)
