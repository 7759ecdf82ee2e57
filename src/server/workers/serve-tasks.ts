// What a worker thread does: it runs one pure step at a time. It has no storage, no network, no users and no secrets.

import { parentPort, workerData } from 'node:worker_threads'
import { runTask } from './run-step.js'
import type { Task, WorkerSettings } from './tasks.js'
import { WorkerKinds } from './worker-kinds.js'

export function serveTasks(): void {
  const kinds = new WorkerKinds(workerData as WorkerSettings)
  parentPort?.on('message', (task: Task) => parentPort?.postMessage(runTask(kinds, task)))
}
