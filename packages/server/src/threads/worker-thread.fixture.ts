// Fixture: a worker thread that swaps, doubles or delays results, as its runtimeConfig says.

import { parentPort, workerData } from 'node:worker_threads'
import type { Task, TaskResult, WorkerSettings } from './worker-tasks.js'

const [fault] = (workerData as WorkerSettings).runtimeConfig
let last: TaskResult | undefined
parentPort?.on('message', ({ id, step }: Task) => {
  const result: TaskResult = { id, warnings: [], output: { bytes: Buffer.from(JSON.stringify(step)) } }
  const send = (sent: TaskResult): void => parentPort?.postMessage(sent)
  if (fault === 'late') setTimeout(() => send(result), 5)
  else if (fault === 'doubled') {
    send(result)
    setTimeout(() => send(result), 1)
  } else send(last ?? result)
  last = result
})
