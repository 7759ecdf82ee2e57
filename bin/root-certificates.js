// Node reads its own list of root certificates when a process first makes a TLS context, whether it uses them or not: 35 to 60 ms in one piece, as
// long as an empty program takes. It keeps the list for the whole process, so that a thread can read it while this one loads and opens everything
// else. The thread takes 50 ms to come up, which is why it is the first that a start does.
//
// In a program that embeds the server there is too little to do meanwhile for it to be worth that.

'use strict'

const { readFileSync } = require('node:fs')
const { availableParallelism, loadavg } = require('node:os')

/** How many threads of this machine want a processor now, this one among them. The average of a minute says too little about that. */
function threadsNow() {
  try {
    return Number(/(\d+)\//.exec(readFileSync('/proc/loadavg', 'latin1'))[1])
  } catch {
    // Only Linux tells it, and not everywhere.
    return 1 + loadavg()[0]
  }
}

/**
 * Where no more threads want a processor than there are, this one among them; where they are just as many, it shares one with another. Whoever makes
 * a context before the thread has ended waits for it inside of Node.
 */
function readRootCertificates(threads = threadsNow()) {
  if (threads > availableParallelism() || availableParallelism() === 1) return undefined
  const { Worker } = require('node:worker_threads')
  const thread = new Worker("require('node:tls').createSecureContext()", { eval: true, env: {}, execArgv: [] })
  // The context then takes as long as it would have without it, and says itself what is wrong.
  thread.on('error', () => undefined)
  thread.unref()
  return thread
}

module.exports = { readRootCertificates }
