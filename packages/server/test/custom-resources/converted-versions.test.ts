// Writes through a version that a conversion webhook converts: validated in the version of the request, then converted and pruned.

import assert from 'node:assert/strict'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { type Embedded, startEmbedded } from '../../../../test/kit/embedded.js'
import { expectFailure, expectStatus, until, untilStatus } from '../../../../test/kit/fixtures.js'
import { issueCertificate } from '../../src/net/tls/issue-certificate.js'

interface Wall {
  readonly spec?: { readonly w?: number; readonly width?: number; readonly pad?: string }
}

interface Review {
  readonly request: { readonly uid: string; readonly desiredAPIVersion: string; readonly objects: readonly Wall[] }
}

/** Conversion: `w` of v1 is `width` of v2. `extra` is in neither schema, so the server must prune it. */
function convertWall({ spec = {}, ...wall }: Wall, apiVersion: string): object {
  const size = spec.w ?? spec.width
  const pad = spec.pad === undefined ? {} : { pad: spec.pad }
  return { ...wall, apiVersion, spec: { ...pad, ...(apiVersion.endsWith('/v1') ? { w: size, extra: 1 } : { width: size }) } }
}

interface Admission {
  readonly request: { readonly uid: string; readonly object: Wall & { readonly apiVersion: string }; readonly oldObject: Wall | null }
}

const admitted: unknown[] = []

/** Adds 1 to the size of an object of v1. */
function admit({ request: { uid, object, oldObject } }: Admission): object {
  admitted.push([object.apiVersion, object.spec?.w, oldObject?.spec?.w])
  const patch = Buffer.from(JSON.stringify([{ op: 'replace', path: '/spec/w', value: (object.spec?.w ?? 0) + 1 }])).toString('base64')
  return { apiVersion: 'admission.cluster.io/v1', kind: 'AdmissionReview', response: { uid, allowed: true, patchType: 'JSONPatch', patch } }
}

const validity = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 86_400_000 }
const authority = { ...issueCertificate({ commonName: 'hooks', use: 'authority', ...validity }), commonName: 'hooks' }
const pair = issueCertificate({ commonName: 'hook', hosts: ['127.0.0.1'], use: 'server', ...validity }, authority)
const webhook = createServer(pair, async (request, response) => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  const body: unknown = JSON.parse(Buffer.concat(parts).toString())
  if (request.url?.startsWith('/mutate')) {
    response.end(JSON.stringify(admit(body as Admission)))
    return
  }
  const { uid, desiredAPIVersion, objects } = (body as Review).request
  const convertedObjects = objects.map((object) => convertWall(object, desiredAPIVersion))
  const converted = { uid, result: { status: 'Success' }, convertedObjects }
  response.end(JSON.stringify({ apiVersion: 'apiextensions.cluster.io/v1', kind: 'ConversionReview', response: converted }))
})

const schemaOf = (spec: object) => ({
  openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', ...spec }, status: { type: 'object', properties: {} } } },
})
let clientConfig: { readonly url: string; readonly caBundle: string }
const pad = { type: 'string' }
const rules = [
  { rule: 'self.width < 100', message: 'too wide' },
  { rule: 'self.width >= oldSelf.width', message: 'walls only grow' },
]
const scale = (path: string) => ({ scale: { specReplicasPath: path, statusReplicasPath: '.status.replicas' } })
const versions = [
  {
    ...{ name: 'v1', served: true, storage: true, subresources: scale('.spec.w') },
    schema: schemaOf({ properties: { w: { type: 'integer', maximum: 5 }, pad } }),
  },
  {
    ...{ name: 'v2', served: true, storage: false, subresources: scale('.spec.width') },
    schema: schemaOf({ required: ['width'], properties: { width: { type: 'integer' }, pad }, 'x-kubernetes-validations': rules }),
  },
]

let embedded: Embedded
const walls = (version: string): string => `/apis/walls.example.com/${version}/namespaces/default/walls`
const wall = (name: string, spec: object, version = 'v2'): object => ({
  ...{ apiVersion: `walls.example.com/${version}`, kind: 'Wall' },
  metadata: { name },
  spec,
})

before(async () => {
  await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve))
  embedded = await startEmbedded('memory')
  const url = `https://127.0.0.1:${(webhook.address() as AddressInfo).port}/`
  clientConfig = { url, caBundle: Buffer.from(authority.cert).toString('base64') }
  const conversion = { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } }
  const spec = { group: 'walls.example.com', scope: 'Namespaced', names: { plural: 'walls', kind: 'Wall' }, versions, conversion }
  const definitions = '/apis/apiextensions.cluster.io/v1/customresourcedefinitions'
  expectStatus(await embedded.client.post(definitions, { metadata: { name: 'walls.walls.example.com' }, spec }), 201)
  await untilStatus(() => embedded.client.get(walls('v2')), 200)
})
after(async () => {
  webhook.closeAllConnections()
  webhook.close()
  await embedded.close()
})

for (const [size, more] of [
  ['small', {}],
  ['large', { pad: 'x'.repeat(300_000) }],
] as const) {
  test(`a ${size} object is validated in the version of the request only`, async () => {
    const { client } = embedded
    const post = (name: string, spec: object) => client.post(walls('v2'), wall(name, { ...spec, ...more }))
    const message = (response: Parameters<typeof expectFailure>[0]): string => String(expectFailure(response, 422, 'Invalid')['message'])
    // The schema of v1 allows 5 at most, but is not checked for a request in v2.
    const created = expectStatus(await post(size, { width: 50 }), 201).json
    assert.deepEqual(created['spec'], { width: 50, ...more })
    assert.deepEqual(expectStatus(await client.get(`${walls('v1')}/${size}`), 200).json['spec'], { w: 50, ...more }, 'pruned')
    assert.match(message(await post('bad', { width: 200 })), /too wide$/)
    assert.match(message(await post('bad', {})), /spec\.width: Required value/)
    assert.match(message(await client.post(walls('v1'), wall('bad', { w: 6, ...more }, 'v1'))), /should be less than or equal to 5$/)
    const path = `${walls('v2')}/${size}`
    const merge = (path: string, body: object) => client.patch(path, 'application/merge-patch+json', body)
    assert.match(message(await merge(path, { spec: { width: 49 } })), /walls only grow$/)
    const grown = expectStatus(await merge(path, { spec: { width: 60 } }), 200).json
    assert.equal(grown.metadata['generation'], 2)
    assert.equal(expectStatus(await merge(path, { metadata: { labels: { a: 'b' } } }), 200).json.metadata['generation'], 2)
    const put = { ...wall(size, { width: 70, ...more }), metadata: { name: size } }
    const { resourceVersion } = (await client.get(path)).json.metadata
    assert.deepEqual(expectStatus(await client.put(path, { ...put, metadata: { name: size, resourceVersion } }), 200).json['spec'], {
      width: 70,
      ...more,
    })
    const applied = await client.patch(
      `${path}?fieldManager=m&force=true`,
      'application/apply-patch+yaml',
      wall(size, { width: 80, ...more }),
    )
    assert.deepEqual(expectStatus(applied, 200).json['spec'], { width: 80, ...more })
    assert.match(message(await merge(`${path}/scale`, { spec: { replicas: 79 } })), /walls only grow$/)
    expectStatus(await merge(`${path}/scale`, { spec: { replicas: 90 } }), 200)
    assert.deepEqual((await client.get(`${walls('v1')}/${size}`)).json['spec'], { w: 90, ...more })
    const dryRun = await client.post(`${walls('v2')}?dryRun=All`, wall('tried', { width: 30, ...more }))
    assert.deepEqual(expectStatus(dryRun, 201).json['spec'], { width: 30, ...more })
    expectStatus(await client.delete(path), 200)
  })
}

test('a mutating webhook of the stored version changes objects that are sent in the other one', async () => {
  const { client } = embedded
  const configurations = '/apis/admissionregistration.cluster.io/v1/mutatingwebhookconfigurations'
  const rule = { operations: ['CREATE', 'UPDATE'], apiGroups: ['walls.example.com'], apiVersions: ['v1'], resources: ['walls'] }
  const webhooks = [
    {
      name: 'walls.example.com',
      clientConfig: { ...clientConfig, url: `${clientConfig.url}mutate` },
      rules: [rule],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      objectSelector: { matchLabels: { mutate: 'yes' } },
    },
  ]
  expectStatus(await client.post(configurations, { metadata: { name: 'walls' }, webhooks }), 201)
  const labelled = { ...wall('mutated', { width: 10 }), metadata: { name: 'mutated', labels: { mutate: 'yes' } } }
  const created = await until(
    () => client.post(`${walls('v2')}?dryRun=All`, labelled),
    ({ json }) => (json['spec'] as { width: number }).width === 11,
  )
  expectStatus(created, 201)
  admitted.length = 0
  assert.deepEqual(expectStatus(await client.post(walls('v2'), labelled), 201).json['spec'], { width: 11 })
  const merge = (width: number) => client.patch(`${walls('v2')}/mutated`, 'application/merge-patch+json', { spec: { width } })
  assert.deepEqual(expectStatus(await merge(20), 200).json['spec'], { width: 21 })
  assert.match(String(expectFailure(await merge(99), 422, 'Invalid')['message']), /too wide$/)
  assert.deepEqual(admitted, [
    ['walls.example.com/v1', 10, undefined],
    ['walls.example.com/v1', 20, 11],
    ['walls.example.com/v1', 99, 21],
  ])
})
