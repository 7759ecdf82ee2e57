// A worker that reads one object again and again and notes how long it waited, in a thread of its own: whoever reads large answers beside it
// must not be what it measures.

import { parentPort, workerData } from 'node:worker_threads'
import { Connection, requestBytes } from './connection.js'
import type { Probing, Waits } from './prober.js'
import { createReadyTime, mainThread, putThisThreadFirst, thisThread } from './ready-time.js'

const { target, parts, pid, pauseMs, isFirst } = workerData as Probing
if (isFirst) putThisThreadFirst()
const readyServerMs = pid === undefined ? () => 0 : createReadyTime(mainThread(pid))
const readyClientMs = createReadyTime(thisThread)
const connection = await Connection.open(target)
const request = requestBytes(target, parts)
let waitsMs: number[] = []
let longestWithProcessorMs = 0

const report = (): Waits => {
  const sorted = waitsMs.sort((a, b) => a - b)
  const waits = {
    longestMs: sorted.at(-1) ?? 0,
    longestWithProcessorMs,
    p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
    count: sorted.length,
  }
  waitsMs = []
  longestWithProcessorMs = 0
  return waits
}

let isDone = false
parentPort?.on('message', (message: 'report' | 'end') => {
  if (message === 'end') isDone = true
  parentPort?.postMessage(report())
})
while (!isDone) {
  const [serverMs, clientMs] = [readyServerMs(), readyClientMs()]
  const begunMs = performance.now()
  const status = await connection.exchange(request)
  if (status !== 200) throw new Error(`a get beside other work is answered with ${status}`)
  const waitMs = performance.now() - begunMs
  waitsMs.push(waitMs)
  longestWithProcessorMs = Math.max(longestWithProcessorMs, waitMs - Math.max(readyServerMs() - serverMs, readyClientMs() - clientMs))
  await new Promise((resolve) => setTimeout(resolve, pauseMs))
}
connection.close()
parentPort?.close()
