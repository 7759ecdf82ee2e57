// A large response on a keep-alive connection, followed by a request with a long body.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { listen } from '../../net/listen/listen.js'
import { issueCertificate } from '../../net/tls/issue-certificate.js'
import type { Exchange } from '../pipeline/exchange.js'
import { endWith } from './send-response.js'

const times = { notBefore: Date.now() - 1000, notAfter: Date.now() + 3_600_000 }

test('a large response does not break the next request of its connection', async () => {
  const certificate = issueCertificate({ commonName: 'server', hosts: ['127.0.0.1'], use: 'server', ...times })
  const body = Buffer.alloc(100_000, 'a')
  const listener = await listen({ host: '127.0.0.1', port: 0, certificate }, (request, response) => {
    const exchange = { response, isClosed: false, onClose: () => undefined } as unknown as Exchange
    response.writeHead(200, { 'Content-Length': body.length })
    // A write from an immediate is reported as sent in the next event-loop iteration: after the client's next request.
    request.resume().once('end', () => setImmediate(endWith, exchange, body))
  })
  const worker = new Worker(client, { eval: true, workerData: { port: listener.port, ca: certificate.cert } })
  const [statuses] = await once(worker, 'message')
  assert.deepEqual(statuses, Array(200).fill(`200 ${body.length}`))
  await listener.close()
})

/** Runs in a worker thread: a client in the same event loop never sends early enough. */
const client = `
const { Agent, request } = require('node:https')
const { once } = require('node:events')
const { parentPort, workerData } = require('node:worker_threads')
void (async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const statuses = []
  for (let i = 0; i < 200; i++) {
    try {
      const sent = request({ host: '127.0.0.1', ...workerData, method: 'PUT', agent, signal: AbortSignal.timeout(20_000) })
      sent.end(Buffer.alloc(200_000, 'b'))
      const [response] = await once(sent, 'response')
      let bytes = 0
      for await (const chunk of response) bytes += chunk.length
      statuses.push(response.statusCode + ' ' + bytes)
    } catch (error) {
      statuses.push(error.message)
    }
  }
  agent.destroy()
  parentPort.postMessage(statuses)
})()`
