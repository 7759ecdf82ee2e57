// Worker thread that reads one object repeatedly and records latencies; a thread, so that clients of large responses do not disturb it.

import { parentPort, workerData } from 'node:worker_threads'
import { Connection, requestBytes } from './connection.js'
import { createCpuWaitReader, mainThread, raisePriorityOfThisThread, thisThread } from './cpu-wait-time.js'
import type { Latencies, Probing } from './prober.js'

const { target, parts, pid, pauseMs, hasHighPriority } = workerData as Probing
if (hasHighPriority) raisePriorityOfThisThread()
const serverCpuWaitMs = pid === undefined ? () => 0 : createCpuWaitReader(mainThread(pid))
const clientCpuWaitMs = createCpuWaitReader(thisThread)
const connection = await Connection.open(target)
const request = requestBytes(target, parts)
let latenciesMs: number[] = []
let longestWithoutCpuWaitMs = 0

const report = (): Latencies => {
  const sorted = latenciesMs.sort((a, b) => a - b)
  const latencies = {
    longestMs: sorted.at(-1) ?? 0,
    longestWithoutCpuWaitMs,
    p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
    count: sorted.length,
  }
  latenciesMs = []
  longestWithoutCpuWaitMs = 0
  return latencies
}

let isDone = false
parentPort?.on('message', (message: 'report' | 'end') => {
  if (message === 'end') isDone = true
  parentPort?.postMessage(report())
})
while (!isDone) {
  const [serverWaitBeforeMs, clientWaitBeforeMs] = [serverCpuWaitMs(), clientCpuWaitMs()]
  const begunMs = performance.now()
  const status = await connection.exchange(request)
  if (status !== 200) throw new Error(`a GET during other work got ${status}`)
  const latencyMs = performance.now() - begunMs
  latenciesMs.push(latencyMs)
  longestWithoutCpuWaitMs = Math.max(
    longestWithoutCpuWaitMs,
    latencyMs - Math.max(serverCpuWaitMs() - serverWaitBeforeMs, clientCpuWaitMs() - clientWaitBeforeMs),
  )
  await new Promise((resolve) => setTimeout(resolve, pauseMs))
}
connection.close()
parentPort?.close()
