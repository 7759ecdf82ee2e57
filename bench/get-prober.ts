// A worker that reads one object again and again and notes how long it waited, in a thread of its own: whoever reads large answers beside it
// must not be what it measures.

import { parentPort, workerData } from 'node:worker_threads'
import { Connection, type RequestParts, requestBytes, type Target } from './connection.js'
import type { Waits } from './prober.js'

const { target, parts } = workerData as { readonly target: Target; readonly parts: RequestParts }
const connection = await Connection.open(target)
const request = requestBytes(target, parts)
let waitsMs: number[] = []

const report = (): Waits => {
  const sorted = waitsMs.sort((a, b) => a - b)
  waitsMs = []
  return { longestMs: sorted.at(-1) ?? 0, p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? 0, count: sorted.length }
}

let isDone = false
parentPort?.on('message', (message: 'report' | 'end') => {
  if (message === 'end') isDone = true
  parentPort?.postMessage(report())
})
while (!isDone) {
  const begunMs = performance.now()
  const status = await connection.exchange(request)
  if (status !== 200) throw new Error(`a get beside other work is answered with ${status}`)
  waitsMs.push(performance.now() - begunMs)
  await new Promise((resolve) => setTimeout(resolve, 1))
}
connection.close()
parentPort?.close()
