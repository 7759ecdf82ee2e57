// Large objects of kinds with a conversion webhook, encoded in worker threads.

import assert from 'node:assert/strict'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { expectStatus, newNamespace, untilStatus } from '../../../../test/kit/fixtures.js'
import { ServerProcess } from '../../../../test/kit/server-process.js'
import { issueCertificate } from '../../src/net/tls/issue-certificate.js'

const group = 'walls.example.com'
let server: ServerProcess

interface ConversionReview {
  readonly request: { readonly uid: string; readonly desiredAPIVersion: string; readonly objects: readonly object[] }
}

const validity = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 86_400_000 }
const authority = { ...issueCertificate({ commonName: 'hooks', use: 'authority', ...validity }), commonName: 'hooks' }
const pair = issueCertificate({ commonName: 'hook', hosts: ['127.0.0.1'], use: 'server', ...validity }, authority)
const webhook = createServer(pair, (request, response) => {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', () => {
    const { request: review } = JSON.parse(Buffer.concat(parts).toString()) as ConversionReview
    const { uid, desiredAPIVersion: apiVersion } = review
    const convertedObjects = review.objects.map((object) => ({ ...object, apiVersion }))
    const converted = { uid, result: { status: 'Success' }, convertedObjects }
    response.end(JSON.stringify({ apiVersion: 'apiextensions.cluster.io/v1', kind: 'ConversionReview', response: converted }))
  })
})

let walls: (version: string) => string

before(async () => {
  await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve))
  server = await ServerProcess.start({ flags: ['--read-cache-bytes=1MiB'] })
  const { client } = server
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const versions = ['v1', 'v2'].map((name) => ({ name, served: true, storage: name === 'v1', schema: { openAPIV3Schema } }))
  const names = { plural: 'walls', singular: 'wall', kind: 'Wall', listKind: 'WallList' }
  const url = `https://127.0.0.1:${(webhook.address() as AddressInfo).port}/`
  const caBundle = Buffer.from(authority.cert).toString('base64')
  const conversion = { strategy: 'Webhook', webhook: { clientConfig: { url, caBundle }, conversionReviewVersions: ['v1'] } }
  const definition = { metadata: { name: `walls.${group}` }, spec: { group, scope: 'Namespaced', names, versions, conversion } }
  expectStatus(await client.post('/apis/apiextensions.cluster.io/v1/customresourcedefinitions', definition), 201)
  const namespace = await newNamespace(client)
  walls = (version) => `/apis/${group}/${version}/namespaces/${namespace}/walls`
  await untilStatus(() => client.get(walls('v2')), 200)
})
after(async () => {
  webhook.closeAllConnections()
  webhook.close()
  await server.stop()
})

const post = async (name: string, data: object): Promise<void> => {
  expectStatus(await server.client.post(walls('v1'), { apiVersion: `${group}/v1`, kind: 'Wall', metadata: { name }, data }), 201)
}

test('a large object is read, listed and watched in another version than the stored one', async () => {
  const { client } = server
  await post('large', Object.fromEntries(Array.from({ length: 35_000 }, (_, i) => [`key-${i}`, 'v'])))
  const watch = await client.watch(`${walls('v2')}?watch=true&fieldSelector=metadata.name=large`)
  const labels = { at: '1' }
  expectStatus(await client.patch(`${walls('v1')}/large`, 'application/merge-patch+json', { metadata: { labels } }), 200)
  const converted = expectStatus(await client.get(`${walls('v2')}/large`), 200).json
  assert.equal(converted['apiVersion'], `${group}/v2`)
  assert.deepEqual(converted.metadata.labels, labels)
  const list = expectStatus(await client.get(`${walls('v2')}?fieldSelector=metadata.name=large`), 200).json
  assert.equal(Object.keys(list.items[0]?.['data'] as object).length, 35_000)
  assert.equal((await watch.atLeast(2))[1]?.object['apiVersion'], `${group}/v2`)
  watch.close()
})
