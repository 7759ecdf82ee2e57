// Kinds with a conversion webhook: neither its long answers nor large objects block the event loop.

import assert from 'node:assert/strict'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { issueCertificate } from '../../src/net/issue-certificate.js'
import { expectStatus, newNamespace, until } from '../kit/fixtures.js'
import { longestTurnMs, turnWatchFlags } from '../kit/longest-turn.js'
import { ServerProcess } from '../kit/server-process.js'

/** Twice the budget for the largest object, for a busy machine. */
const mostTurnMs = 200
const group = 'walls.example.com'
let server: ServerProcess

interface Sent {
  readonly request: { readonly uid: string; readonly desiredAPIVersion: string; readonly objects: readonly object[] }
}

/** Converts with what is sent, and as much as it is told to. */
let padding = ''
const times = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 86_400_000 }
const authority = { ...issueCertificate({ commonName: 'hooks', use: 'authority', ...times }), commonName: 'hooks' }
const pair = issueCertificate({ commonName: 'hook', hosts: ['127.0.0.1'], use: 'server', ...times }, authority)
const hook = createServer(pair, (request, response) => {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', () => {
    const { request: asked } = JSON.parse(Buffer.concat(parts).toString()) as Sent
    const { uid, desiredAPIVersion: apiVersion } = asked
    const convertedObjects = asked.objects.map((object) => ({ ...object, apiVersion, padding }))
    const answer = { uid, result: { status: 'Success' }, convertedObjects }
    response.end(JSON.stringify({ apiVersion: 'apiextensions.cluster.io/v1', kind: 'ConversionReview', response: answer }))
  })
})

let walls: (version: string) => string

before(async () => {
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve))
  // With so little room all of them are converted anew for each list.
  // With so little room all of them are converted anew for each list.
  server = await ServerProcess.start({ nodeFlags: turnWatchFlags, flags: ['--read-cache-bytes=1MiB'] })
  const { client } = server
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const versions = ['v1', 'v2'].map((name) => ({ name, served: true, storage: name === 'v1', schema: { openAPIV3Schema } }))
  const names = { plural: 'walls', singular: 'wall', kind: 'Wall', listKind: 'WallList' }
  const url = `https://127.0.0.1:${(hook.address() as AddressInfo).port}/`
  const caBundle = Buffer.from(authority.cert).toString('base64')
  const conversion = { strategy: 'Webhook', webhook: { clientConfig: { url, caBundle }, conversionReviewVersions: ['v1'] } }
  const definition = { metadata: { name: `walls.${group}` }, spec: { group, scope: 'Namespaced', names, versions, conversion } }
  expectStatus(await client.post('/apis/apiextensions.cluster.io/v1/customresourcedefinitions', definition), 201)
  const namespace = await newNamespace(client)
  walls = (version) => `/apis/${group}/${version}/namespaces/${namespace}/walls`
  await until(
    () => client.get(walls('v2')),
    ({ status }) => status === 200,
  )
})
after(async () => {
  hook.closeAllConnections()
  hook.close()
  await server.stop()
})

const post = async (name: string, data: object): Promise<void> => {
  expectStatus(await server.client.post(walls('v1'), { apiVersion: `${group}/v1`, kind: 'Wall', metadata: { name }, data }), 201)
}

async function expectShortTurns(what: string, act: () => Promise<unknown>): Promise<void> {
  const turnMs = await longestTurnMs(server, act, mostTurnMs)
  assert.ok(turnMs <= mostTurnMs, `${what}: ${turnMs} ms`)
}

test('long answers of conversion webhooks and large objects do not block the event loop', async () => {
  const { client } = server
  const count = 300
  const data = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`key-${i}`, 'v'.repeat(80)]))
  for (let i = 0; i < count; i += 50) await Promise.all(Array.from({ length: 50 }, (_, k) => post(`light-${i + k}`, data)))
  padding = 'p'.repeat(30_000)
  await expectShortTurns('a list', async () => expectStatus(await client.get(walls('v2')), 200))
  padding = ''
  await post('large', Object.fromEntries(Array.from({ length: 35_000 }, (_, i) => [`key-${i}`, 'v'])))
  const watch = await client.watch(`${walls('v2')}?watch=true&fieldSelector=metadata.name=large`)
  let writes = 0
  await expectShortTurns('a large object', async () => {
    const labels = { at: `${++writes}` }
    expectStatus(await client.patch(`${walls('v1')}/large`, merge, { metadata: { labels } }), 200)
    const shown = expectStatus(await client.get(`${walls('v2')}/large`), 200).json
    assert.equal(shown['apiVersion'], `${group}/v2`)
    assert.deepEqual(shown.metadata.labels, labels)
    const list = expectStatus(await client.get(`${walls('v2')}?fieldSelector=metadata.name=large`), 200).json
    assert.equal(Object.keys(list.items[0]?.['data'] as object).length, 35_000)
    const { object } = (await watch.atLeast(writes + 1))[writes] ?? {}
    assert.equal(object?.['apiVersion'], `${group}/v2`)
  })
  watch.close()
})

const merge = 'application/merge-patch+json'
