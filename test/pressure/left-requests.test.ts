// What nobody waits for any more is not computed to its end: a client that leaves leaves no thread behind that is busy for minutes.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { after, before, test } from 'node:test'
import { expectStatus, sleep, until } from '../kit/fixtures.js'
import { ServerProcess } from '../kit/server-process.js'

let server: ServerProcess
before(async () => {
  server = await ServerProcess.start()
})
after(() => server.stop())

const group = 'left.example.com'
const path = `/apis/${group}/v1/lefts`

/** Of all threads of the server, in milliseconds: times are in hundredths of a second. */
function processorMs(): number {
  const fields = readFileSync(`/proc/${server.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

test('a comparison that takes long ends soon after its client has gone', { skip: process.platform !== 'linux' }, async () => {
  const { client } = server
  const map = { type: 'object', maxProperties: 30_000, additionalProperties: { type: 'integer' } }
  const rule = Array.from({ length: 900 }, () => 'self.map == oldSelf.map').join(' && ')
  const openAPIV3Schema = {
    type: 'object',
    properties: { map, count: { type: 'integer' } },
    'x-kubernetes-validations': [{ rule }],
  }
  const names = { plural: 'lefts', singular: 'left', kind: 'Left', listKind: 'LeftList' }
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }]
  const definition = { metadata: { name: `lefts.${group}` }, spec: { group, scope: 'Cluster', names, versions } }
  expectStatus(await client.post('/apis/apiextensions.cluster.io/v1/customresourcedefinitions', definition), 201)
  await until(
    () => client.get(path),
    ({ status }) => status === 200,
  )
  const values = Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`k${i}`, i]))
  const object = { apiVersion: `${group}/v1`, kind: 'Left', metadata: { name: 'one' }, map: values, count: 1 }
  const { json } = expectStatus(await client.post(path, object), 201)
  const headers = { authorization: `Bearer ${server.access.token}`, 'content-type': 'application/json' }
  const sent = request(`${server.url}${path}/one`, { method: 'PUT', headers, rejectUnauthorized: false })
  sent.on('error', () => undefined)
  sent.end(JSON.stringify({ ...json, count: 2 }))
  const begunMs = processorMs()
  await until(
    async () => processorMs() - begunMs,
    (usedMs) => usedMs > 1500,
  )
  sent.destroy()
  // It would go on for a minute of processor time.
  const leftMs = processorMs()
  for (let idle = 0; idle < 2; ) {
    const before = processorMs()
    await sleep(500)
    idle = processorMs() - before < 100 ? idle + 1 : 0
    assert.ok(processorMs() - leftMs < 10_000, 'it is still computed')
  }
  expectStatus(await client.get(`${path}/one`), 200)
})
