// Node reads its own list of root certificates when a process first makes a TLS context, whether it uses them or not: 35 to 60 ms in one piece, as
// long as an empty program takes. It keeps the list for the whole process, so that a thread can read it while this one opens the store.
//
// Measured on two processors: a start takes 5 % less time, and 7 % more of the processors. In a program that embeds the server there is too little to
// do meanwhile for it to be worth that.

import { availableParallelism, loadavg } from 'node:os'
import { Worker } from 'node:worker_threads'

/** Where a processor has nothing else to do. Whoever makes a context before the thread has ended waits for it inside of Node. */
export function readRootCertificates(load = loadavg()[0] ?? 0): Worker | undefined {
  if (load >= availableParallelism() || availableParallelism() === 1) return undefined
  const thread = new Worker("require('node:tls').createSecureContext()", { eval: true, env: {}, execArgv: [] })
  // The context then takes as long as it would have without it, and says itself what is wrong.
  thread.on('error', () => undefined)
  thread.unref()
  return thread
}
