// Create, read, list, watch, update and delete of eight built-in kinds, over a real connection.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiClient } from '../../../../test/kit/api-client.js'
import { onDefaultEngine } from '../../../../test/kit/embedded.js'
import { expectFailure, expectStatus, namesOf, newNamespace } from '../../../../test/kit/fixtures.js'
import type { JsonObject } from '../../../../test/kit/network/json-object.js'

interface KindRow {
  readonly kind: string
  readonly apiVersion: string
  readonly resource: string
  readonly namespaced: boolean
  /** Fields next to the metadata. */
  readonly rest: (namespace: string) => object
  /** Response of DELETE if the object has no finalizers. */
  readonly deleted: 'object' | 'Status'
  /** True if PUT creates a missing object. */
  readonly putCreates: boolean
}

/** The server creates objects itself, such as the default ServiceAccount; the test compares only its own. */
const testLabels = { 'a-test': 'yes' }
const testSelector = 'labelSelector=a-test=yes'

const claimSpec = { resourceClassName: 'fast', allocationMode: 'Immediate' }

const rows: readonly KindRow[] = [
  {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    resource: 'configmaps',
    namespaced: true,
    rest: () => ({ data: { a: '1' } }),
    deleted: 'Status',
    putCreates: false,
  },
  {
    kind: 'Secret',
    apiVersion: 'v1',
    resource: 'secrets',
    namespaced: true,
    rest: () => ({ type: 'Opaque', data: { a: 'MQ==' } }),
    deleted: 'Status',
    putCreates: false,
  },
  {
    kind: 'ServiceAccount',
    apiVersion: 'v1',
    resource: 'serviceaccounts',
    namespaced: true,
    rest: () => ({ secrets: [{ name: 's' }] }),
    deleted: 'object',
    putCreates: false,
  },
  {
    kind: 'Endpoints',
    apiVersion: 'v1',
    resource: 'endpoints',
    namespaced: true,
    rest: () => ({ subsets: [{ addresses: [{ ip: '10.1.2.3' }], ports: [{ port: 80, protocol: 'TCP' }] }] }),
    deleted: 'Status',
    putCreates: true,
  },
  {
    kind: 'Event',
    apiVersion: 'v1',
    resource: 'events',
    namespaced: true,
    rest: (namespace) => ({
      involvedObject: { kind: 'ConfigMap', namespace, name: 'a' },
      reason: 'Tested',
      message: 'a test',
      type: 'Normal',
    }),
    deleted: 'Status',
    putCreates: true,
  },
  {
    kind: 'Lease',
    apiVersion: 'coordination.cluster.io/v1',
    resource: 'leases',
    namespaced: true,
    rest: () => ({ spec: { holderIdentity: 'me', leaseDurationSeconds: 15 } }),
    deleted: 'Status',
    putCreates: true,
  },
  {
    kind: 'ResourceClaim',
    apiVersion: 'resource.cluster.io/v1alpha1',
    resource: 'resourceclaims',
    namespaced: true,
    rest: () => ({ spec: claimSpec }),
    deleted: 'object',
    putCreates: false,
  },
  {
    kind: 'ResourceClass',
    apiVersion: 'resource.cluster.io/v1alpha1',
    resource: 'resourceclasses',
    namespaced: false,
    rest: () => ({ driverName: 'gpu.example.com' }),
    deleted: 'object',
    putCreates: false,
  },
]

const rootOf = ({ apiVersion }: KindRow): string => (apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`)

interface KindFixture {
  readonly client: ApiClient
  readonly row: KindRow
  readonly collection: string
  readonly everywhere: string
  readonly object: (name: string, labels?: object) => object
}

async function fixtureFor(client: ApiClient, row: KindRow): Promise<KindFixture> {
  const namespace = await newNamespace(client, row.resource)
  const root = rootOf(row)
  return {
    client,
    row,
    everywhere: `${root}/${row.resource}`,
    collection: row.namespaced ? `${root}/namespaces/${namespace}/${row.resource}` : `${root}/${row.resource}`,
    object: (name, labels = {}) => ({
      apiVersion: row.apiVersion,
      kind: row.kind,
      metadata: { name, labels: { ...testLabels, ...labels } },
      ...row.rest(namespace),
    }),
  }
}

async function checkLifecycle({ client, row, collection, everywhere, object }: KindFixture): Promise<void> {
  const watch = await client.watch(`${collection}?watch=1&${testSelector}`)
  const created = expectStatus(await client.post(collection, object('one')), 201).json
  assert.equal(created.kind, row.kind)
  assert.equal(created.apiVersion, row.apiVersion)
  assert.match(created.metadata.uid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  assert.match(created.metadata.creationTimestamp ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  assert.match(created.metadata.resourceVersion, /^[1-9]\d*$/)
  for (const [member, value] of Object.entries(row.rest('x'))) if (member !== 'involvedObject') assert.deepEqual(created[member], value)

  expectFailure(await client.post(collection, object('one')), 409, 'AlreadyExists')
  assert.deepEqual((await client.get(`${collection}/one`)).json, created)
  const list = expectStatus(await client.get(`${collection}?${testSelector}`), 200).json
  assert.equal(list.kind, `${row.kind}List`)
  assert.deepEqual(namesOf(list), ['one'])
  assert.ok(Number(list.metadata.resourceVersion) >= Number(created.metadata.resourceVersion))
  assert.deepEqual(namesOf((await client.get(`${everywhere}?fieldSelector=metadata.name=one&${testSelector}`)).json), ['one'])

  const changed = expectStatus(await client.put(`${collection}/one`, withLabels(created, { ...testLabels, color: 'red' })), 200).json
  assert.ok(Number(changed.metadata.resourceVersion) > Number(created.metadata.resourceVersion))
  assert.equal(changed.metadata.uid, created.metadata.uid)
  assert.deepEqual(changed.metadata.labels, { ...testLabels, color: 'red' })
  expectFailure(await client.put(`${collection}/one`, withLabels(created, { ...testLabels, color: 'blue' })), 409, 'Conflict')
  const unchanged = expectStatus(await client.put(`${collection}/one`, changed), 200).json
  assert.equal(unchanged.metadata.resourceVersion, changed.metadata.resourceVersion, 'a write that changes nothing makes no version')
  await patchNothing(client, `${collection}/one`, changed)

  const deleted = expectStatus(await client.delete(`${collection}/one`), 200).json
  if (row.deleted === 'object') assert.equal(deleted.metadata.uid, created.metadata.uid)
  else
    assert.deepEqual(
      [deleted.kind, deleted['status'], deleted.details?.name, deleted.details?.uid],
      ['Status', 'Success', 'one', created.metadata.uid],
    )
  expectFailure(await client.get(`${collection}/one`), 404, 'NotFound')
  expectFailure(await client.delete(`${collection}/one`), 404, 'NotFound')

  await watch.atLeast(3)
  watch.close()
  assert.equal(watch.summary(), 'ADDED one, MODIFIED one, DELETED one')
  const versions = watch.events.map((event) => Number(event.object.metadata.resourceVersion))
  assert.deepEqual(versions.slice(0, 2), [Number(created.metadata.resourceVersion), Number(changed.metadata.resourceVersion)])
  assert.ok((versions[2] ?? 0) > (versions[1] ?? 0), 'a deletion has a version of its own')
}

/** Patches with everything that GET shows, zero values included, change nothing. */
async function patchNothing(client: ApiClient, path: string, shown: JsonObject): Promise<void> {
  const tests = Object.entries(shown).flatMap(([name, value]) => testsOf(value, `/${name}`))
  for (const [type, body] of [
    ['application/json-patch+json', tests],
    ['application/merge-patch+json', shown],
    ['application/strategic-merge-patch+json', shown],
  ] as const) {
    const unchanged = expectStatus(await client.patch(path, type, body), 200).json
    assert.equal(unchanged.metadata.resourceVersion, shown.metadata.resourceVersion, type)
  }
}

/** A JSON patch that tests every value in an object. */
function testsOf(value: unknown, path: string): readonly object[] {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  const inner = isObject
    ? Object.entries(value).flatMap(([name, member]) => testsOf(member, `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`))
    : []
  return [{ op: 'test', path, value }, ...inner]
}

const withLabels = (object: JsonObject, labels: Readonly<Record<string, string>>) => ({
  ...object,
  metadata: { ...object.metadata, labels },
})

async function putOnFreeName({ client, row, collection, object }: KindFixture): Promise<void> {
  const response = await client.put(`${collection}/fresh`, object('fresh'))
  if (!row.putCreates) {
    expectFailure(response, 404, 'NotFound')
    return
  }
  assert.equal(expectStatus(response, 201).json.metadata.name, 'fresh')
  expectStatus(await client.get(`${collection}/fresh`), 200)
}

async function deleteMany({ client, collection, object }: KindFixture): Promise<void> {
  for (const name of ['a', 'b', 'c']) expectStatus(await client.post(collection, object(name, { keep: name === 'b' ? 'yes' : 'no' })), 201)
  const status = expectStatus(await client.delete(`${collection}?labelSelector=keep=no`), 200).json
  assert.deepEqual([status.kind, status['status']], ['Status', 'Success'])
  assert.deepEqual(namesOf((await client.get(`${collection}?${testSelector}`)).json), ['b'])
  expectStatus(await client.delete(collection), 200)
  assert.deepEqual(namesOf((await client.get(`${collection}?${testSelector}`)).json), [])
}

onDefaultEngine('CRUD of every kind', (client) => {
  for (const row of rows) {
    test(`${row.kind}: CRUD`, async () => {
      const fixture = await fixtureFor(client(), row)
      await checkLifecycle(fixture)
      await putOnFreeName(fixture)
      await fixture.client.delete(`${fixture.collection}/fresh`)
      await deleteMany(fixture)
    })
  }

  test('core/v1 and events.k8s.io/v1 serve the same events', async () => {
    const namespace = await newNamespace(client(), 'both')
    const body = {
      metadata: { name: 'e' },
      involvedObject: { kind: 'Pod', namespace, name: 'p' },
      reason: 'R',
      message: 'core text',
      type: 'Normal',
    }
    const created = expectStatus(await client().post(`/api/v1/namespaces/${namespace}/events`, body), 201).json
    const other = expectStatus(await client().get(`/apis/events.cluster.io/v1/namespaces/${namespace}/events/e`), 200).json
    assert.equal(other.metadata.uid, created.metadata.uid)
    assert.equal(other['note'], 'core text')
    assert.equal(other.apiVersion, 'events.cluster.io/v1')
    const asTable = { accept: 'application/json;as=Table;v=v1;g=meta.cluster.io' }
    const rows = await Promise.all(
      ['/api/v1', '/apis/events.cluster.io/v1'].map(async (root) => {
        const table = expectStatus(await client().get(`${root}/namespaces/${namespace}/events/e`, asTable), 200).json
        return (table['rows'] as readonly { readonly cells: readonly unknown[] }[])[0]?.cells
      }),
    )
    assert.deepEqual(rows[1], rows[0])
    assert.equal(rows[0]?.[6], 'core text')
  })
})
