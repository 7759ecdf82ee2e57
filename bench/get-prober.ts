// A worker that reads one object again and again and notes the longest wait, in a thread of its own: whoever reads large answers beside it
// must not be what it measures.

import { parentPort, workerData } from 'node:worker_threads'
import { Connection, type RequestParts, requestBytes, type Target } from './connection.js'

const { target, parts } = workerData as { readonly target: Target; readonly parts: RequestParts }
const connection = await Connection.open(target)
const request = requestBytes(target, parts)
let longestMs = 0
let isDone = false
parentPort?.on('message', (message: 'report' | 'end') => {
  if (message === 'end') isDone = true
  parentPort?.postMessage(longestMs)
  longestMs = 0
})
while (!isDone) {
  const begunMs = performance.now()
  const status = await connection.exchange(request)
  if (status !== 200) throw new Error(`a get beside other work is answered with ${status}`)
  longestMs = Math.max(longestMs, performance.now() - begunMs)
  await new Promise((resolve) => setTimeout(resolve, 1))
}
connection.close()
parentPort?.close()
