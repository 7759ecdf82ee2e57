// POST and PUT: names, versions, preconditions, defaults, validation, warnings, event expiry.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { everyKind, onEveryEngine } from '../../../../test/kit/embedded.js'
import {
  configMapOf,
  configMaps,
  expectFailure,
  expectStatus,
  makeConfigMap,
  newNamespace,
  untilStatus,
} from '../../../../test/kit/fixtures.js'

const claims = (namespace: string): string => `/apis/resource.cluster.io/v1alpha1/namespaces/${namespace}/resourceclaims`
const claimOf = (name: string, spec: object = { resourceClassName: 'fast' }) => ({
  apiVersion: 'resource.cluster.io/v1alpha1',
  kind: 'ResourceClaim',
  metadata: { name },
  spec,
})

interface RejectedCreate {
  readonly name: string
  readonly body: unknown
  readonly code: number
  readonly reason: string
  readonly field?: string
  readonly type?: string
}

const rejectedCreates: readonly RejectedCreate[] = [
  { name: 'no name', body: { metadata: {} }, code: 422, reason: 'Invalid', field: 'metadata.name' },
  { name: 'a name with capitals', body: configMapOf('Upper'), code: 422, reason: 'Invalid', field: 'metadata.name' },
  { name: 'a name that is too long', body: configMapOf('a'.repeat(254)), code: 422, reason: 'Invalid', field: 'metadata.name' },
  { name: 'a name with a slash', body: configMapOf('a/b'), code: 422, reason: 'Invalid', field: 'metadata.name' },
  { name: 'a bad label value', body: configMapOf('a', { labels: { a: '-' } }), code: 422, reason: 'Invalid', field: 'metadata.labels' },
  { name: 'a bad label key', body: configMapOf('a', { labels: { 'a b': 'c' } }), code: 422, reason: 'Invalid', field: 'metadata.labels' },
  { name: 'a bad data key', body: configMapOf('a', { data: { 'a b': '' } }), code: 422, reason: 'Invalid', field: 'data[a b]' },
  { name: 'too much data', body: configMapOf('a', { data: { a: 'x'.repeat(1024 * 1024 + 1) } }), code: 422, reason: 'Invalid' },
  { name: 'another namespace', body: { metadata: { name: 'a', namespace: 'elsewhere' } }, code: 400, reason: 'BadRequest' },
  { name: 'a resourceVersion', body: { metadata: { name: 'a', resourceVersion: '5' } }, code: 400, reason: 'BadRequest' },
  { name: 'another kind', body: { ...configMapOf('a'), kind: 'Secret' }, code: 400, reason: 'BadRequest' },
  { name: 'another apiVersion', body: { ...configMapOf('a'), apiVersion: 'v2' }, code: 400, reason: 'BadRequest' },
  { name: 'broken JSON', body: '{"metadata":', code: 400, reason: 'BadRequest' },
  { name: 'a JSON array', body: '[]', code: 400, reason: 'BadRequest' },
  { name: 'JSON null, which is an empty object', body: 'null', code: 422, reason: 'Invalid', field: 'metadata.name' },
  { name: 'no body', body: '', code: 400, reason: 'BadRequest' },
  { name: 'a member of the wrong type', body: { metadata: { name: 5 } }, code: 400, reason: 'BadRequest' },
  { name: 'data of the wrong type', body: { metadata: { name: 'a' }, data: { a: { b: 'c' } } }, code: 400, reason: 'BadRequest' },
  { name: 'an unknown media type', body: 'a', type: 'text/csv', code: 415, reason: 'UnsupportedMediaType' },
]

onEveryEngine('POST and PUT', (client) => {
  for (const row of rejectedCreates) {
    test(`POST is rejected with ${row.name}`, async () => {
      const namespace = await newNamespace(client(), 'create')
      const headers = { 'content-type': row.type ?? 'application/json' }
      const response = await client().send({ method: 'POST', path: configMaps(namespace), body: row.body, headers })
      const status = expectFailure(response, row.code, row.reason)
      if (row.field !== undefined)
        assert.ok(
          status.details?.causes?.some(({ field }) => field === row.field),
          response.text,
        )
      assert.doesNotMatch(response.text, /strconv|Go struct|\*v1\.|TypeError|undefined|\.ts:/)
      assert.equal((await client().get(configMaps(namespace))).json.items.length, 0)
    })
  }

  test('POST into a missing namespace returns 404', async () => {
    expectFailure(await client().post(configMaps('no-such-place'), configMapOf('a')), 404, 'NotFound')
  })

  test('generateName creates unique names', async () => {
    const path = configMaps(await newNamespace(client(), 'generate'))
    const created = await Promise.all(Array.from({ length: 20 }, () => client().post(path, { metadata: { generateName: 'job-' } })))
    const names = created.map((response) => expectStatus(response, 201).json.metadata.name)
    for (const name of names) assert.match(name, /^job-[a-z0-9]{5}$/)
    assert.equal(new Set(names).size, names.length)
    const both = expectStatus(await client().post(path, { metadata: { name: 'mine', generateName: 'job-' } }), 201).json
    assert.equal(both.metadata.name, 'mine')
    const long = expectStatus(await client().post(path, { metadata: { generateName: 'g'.repeat(63) } }), 201).json
    assert.match(long.metadata.name, /^g{58}[a-z0-9]{5}$/)
  })

  test('server-set fields in the body are ignored', async () => {
    const namespace = await newNamespace(client(), 'own')
    const body = {
      metadata: {
        name: 'a',
        uid: 'mine',
        creationTimestamp: '2001-01-01T00:00:00Z',
        deletionTimestamp: '2001-01-01T00:00:00Z',
        selfLink: '/x',
      },
    }
    const { metadata } = expectStatus(await client().post(configMaps(namespace), body), 201).json
    assert.notEqual(metadata.uid, 'mine')
    assert.notEqual(metadata.creationTimestamp, '2001-01-01T00:00:00Z')
    assert.deepEqual([metadata.deletionTimestamp, 'selfLink' in metadata], [undefined, false])
  })

  test('PUT with a stale resourceVersion returns 409; PUT without one always succeeds', async () => {
    const namespace = await newNamespace(client(), 'update')
    const path = configMaps(namespace, 'a')
    const created = await makeConfigMap(client(), namespace, configMapOf('a'))
    const writes = await Promise.all(Array.from({ length: 10 }, (_, i) => client().put(path, { ...created, data: { winner: String(i) } })))
    assert.deepEqual(writes.map(({ status }) => status).sort(), [200, ...Array.from({ length: 9 }, () => 409)])
    for (const response of writes) if (response.status === 409) expectFailure(response, 409, 'Conflict')
    const unconditional = await Promise.all(
      Array.from({ length: 10 }, (_, i) => client().put(path, configMapOf('a', { data: { i: String(i) } }))),
    )
    for (const response of unconditional) expectStatus(response, 200)
    expectFailure(await client().put(path, { ...created, metadata: { ...created.metadata, resourceVersion: '99999999' } }), 409, 'Conflict')
  })

  test('PUT keeps immutable metadata', async () => {
    const namespace = await newNamespace(client(), 'update')
    const created = await makeConfigMap(client(), namespace, configMapOf('a'))
    const path = configMaps(namespace, 'a')
    expectFailure(await client().put(path, { ...configMapOf('a'), metadata: { name: 'a', uid: 'someone-else' } }), 409, 'Conflict')
    expectFailure(await client().put(path, configMapOf('b')), 400, 'BadRequest')
    expectFailure(await client().put(path, { metadata: {} }), 400, 'BadRequest')
    expectFailure(await client().put(configMaps(namespace, 'nobody'), configMapOf('nobody')), 404, 'NotFound')
    const { metadata } = expectStatus(
      await client().put(path, { metadata: { name: 'a', creationTimestamp: '2001-01-01T00:00:00Z' } }),
      200,
    ).json
    assert.deepEqual([metadata.uid, metadata.creationTimestamp], [created.metadata.uid, created.metadata.creationTimestamp])
  })

  test('PUT without changes does not increase the resourceVersion', async () => {
    const namespace = await newNamespace(client(), 'same')
    const created = await makeConfigMap(client(), namespace, configMapOf('a', { data: { z: '1', a: '2' } }))
    const watch = await client().watch(`${configMaps(namespace)}?watch=1&resourceVersion=${created.metadata.resourceVersion}`)
    const reordered = { data: { a: '2', z: '1' }, metadata: created.metadata, kind: 'ConfigMap', apiVersion: 'v1' }
    const unchanged = expectStatus(await client().put(configMaps(namespace, 'a'), reordered), 200).json
    assert.equal(unchanged.metadata.resourceVersion, created.metadata.resourceVersion)
    await client().delete(configMaps(namespace, 'a'))
    await watch.atLeast(1)
    watch.close()
    assert.equal(watch.summary(), 'DELETED a')
  })

  test('the order of labels and annotations is not a change', async () => {
    const namespace = await newNamespace(client(), 'order')
    const [disorder, order] = [
      { z: '1', a: '2' },
      { a: '2', z: '1' },
    ]
    const created = await makeConfigMap(client(), namespace, configMapOf('a', { labels: disorder, annotations: disorder, data: disorder }))
    for (const body of [created, configMapOf('a', { labels: order, annotations: order, data: order })]) {
      const unchanged = expectStatus(await client().put(configMaps(namespace, 'a'), body), 200).json
      assert.equal(unchanged.metadata.resourceVersion, created.metadata.resourceVersion)
    }
  })

  test('fieldValidation: Warn, Strict and Ignore for unknown and duplicate fields', async () => {
    const namespace = await newNamespace(client(), 'strict')
    const path = configMaps(namespace)
    const body = (name: string): string => `{"metadata":{"name":"${name}","colour":"red"},"data":{"a":"1","a":"2"},"extra":{"x":1}}`
    const warned = expectStatus(await client().post(path, body('a')), 201)
    const warnings = String(warned.headers['warning'])
    for (const part of ['unknown field', 'metadata.colour', 'extra', 'duplicate field']) assert.ok(warnings.includes(part), warnings)
    assert.deepEqual(Object.keys(warned.json).sort(), ['apiVersion', 'data', 'kind', 'metadata'])
    assert.deepEqual(warned.json.data, { a: '2' })
    const ignored = expectStatus(await client().post(`${path}?fieldValidation=Ignore`, body('b')), 201)
    assert.equal(ignored.headers['warning'], undefined)
    const refused = expectFailure(await client().post(`${path}?fieldValidation=Strict`, body('c')), 400, 'BadRequest')
    for (const part of ['metadata.colour', 'extra', 'data.a']) assert.ok(refused.message?.includes(part), refused.message)
    expectFailure(await client().put(`${path}/a?fieldValidation=Strict`, body('a')), 400, 'BadRequest')
    expectFailure(await client().post(`${path}?fieldValidation=Sometimes`, body('d')), 422, 'Invalid')
  })

  test('an immutable ConfigMap rejects changes', async () => {
    const namespace = await newNamespace(client(), 'sealed')
    const sealed = { ...configMapOf('a', { data: { v: '1' } }), immutable: true }
    expectStatus(await client().post(configMaps(namespace), sealed), 201)
    expectFailure(await client().put(configMaps(namespace, 'a'), { ...sealed, data: { v: '2' } }), 422, 'Invalid')
    expectFailure(await client().put(configMaps(namespace, 'a'), { ...sealed, immutable: false }), 422, 'Invalid')
    expectStatus(await client().put(configMaps(namespace, 'a'), { ...sealed, metadata: { name: 'a', labels: { a: 'b' } } }), 200)
  })

  test('secrets: stringData becomes data, and the type is immutable', async () => {
    const path = `/api/v1/namespaces/${await newNamespace(client(), 'secret')}/secrets`
    const created = expectStatus(
      await client().post(path, { metadata: { name: 's' }, stringData: { a: 'ü' }, data: { a: 'MQ==', b: 'Mg==' } }),
      201,
    ).json
    assert.deepEqual([created['type'], created.data, created['stringData']], ['Opaque', { a: 'w7w=', b: 'Mg==' }, undefined])
    expectFailure(await client().put(`${path}/s`, { ...created, type: 'example.com/other' }), 422, 'Invalid')
    expectFailure(await client().post(path, { metadata: { name: 't' }, data: { a: 'no base64!' } }), 400, 'BadRequest')
    expectFailure(await client().post(path, { metadata: { name: 't' }, type: 'cluster.io/tls' }), 422, 'Invalid')
  })

  test('endpoints: ports default to TCP, and reserved addresses are rejected', async () => {
    const path = `/api/v1/namespaces/${await newNamespace(client(), 'endpoints')}/endpoints`
    const subsets = (ip: string, ports: readonly object[] = [{ port: 80 }]) => [{ addresses: [{ ip }], ports }]
    const created = expectStatus(await client().post(path, { metadata: { name: 'e' }, subsets: subsets('10.1.2.3') }), 201).json
    assert.deepEqual(created['subsets'], [{ addresses: [{ ip: '10.1.2.3' }], ports: [{ port: 80, protocol: 'TCP' }] }])
    for (const ip of ['127.0.0.1', '169.254.1.1', '224.0.0.5', 'not-an-ip', '::1']) {
      expectFailure(await client().post(path, { metadata: { name: 'f' }, subsets: subsets(ip) }), 422, 'Invalid')
    }
    expectFailure(
      await client().post(path, { metadata: { name: 'f' }, subsets: subsets('10.1.2.3', [{ port: 1 }, { port: 2 }]) }),
      422,
      'Invalid',
    )
    expectFailure(await client().post(path, { metadata: { name: 'f' }, subsets: subsets('10.1.2.3', [{ port: 70_000 }]) }), 422, 'Invalid')
  })

  test('ResourceClaim: the spec is immutable, the status changes only through its subresource', async () => {
    const path = claims(await newNamespace(client(), 'claim'))
    const created = expectStatus(await client().post(path, { ...claimOf('c'), status: { driverName: 'x' } }), 201).json
    assert.deepEqual([created['spec'], created['status']], [{ resourceClassName: 'fast', allocationMode: 'WaitForFirstConsumer' }, {}])
    expectFailure(await client().put(`${path}/c`, { ...created, spec: { resourceClassName: 'slow' } }), 422, 'Invalid')
    const consumer = (i: number) => ({ resource: 'pods', name: `p-${i}`, uid: `u-${i}` })
    const allocated = (count: number) => ({
      ...created,
      status: {
        driverName: 'gpu.example.com',
        allocation: { shareable: true },
        reservedFor: Array.from({ length: count }, (_, i) => consumer(i)),
      },
    })
    expectFailure(await client().put(`${path}/c/status`, allocated(33)), 422, 'Invalid')
    const written = expectStatus(await client().put(`${path}/c/status`, allocated(32)), 200).json
    assert.equal((written['status'] as { reservedFor: unknown[] }).reservedFor.length, 32)
    assert.deepEqual(expectStatus(await client().get(`${path}/c/status`), 200).json, written)
    const unchanged = expectStatus(await client().put(`${path}/c`, { ...written, status: {} }), 200).json
    assert.deepEqual(unchanged['status'], written['status'])
    expectFailure(await client().post(path, claimOf('d', {})), 422, 'Invalid')
    expectFailure(await client().post(path, claimOf('d', { resourceClassName: 'a', allocationMode: 'Sometime' })), 422, 'Invalid')
  })

  test('ResourceClass requires a driver', async () => {
    const path = '/apis/resource.cluster.io/v1alpha1/resourceclasses'
    expectFailure(await client().post(path, { metadata: { name: 'none' } }), 422, 'Invalid')
    expectStatus(await client().post(path, { metadata: { name: 'some' }, driverName: 'gpu.example.com' }), 201)
  })

  test('unsupported methods return 405', async () => {
    const namespace = await newNamespace(client(), 'verbs')
    for (const [method, path] of [
      ['POST', '/api/v1/configmaps'],
      ['DELETE', '/api/v1/configmaps'],
      ['PUT', configMaps(namespace)],
      ['PATCH', configMaps(namespace)],
      ['POST', configMaps(namespace, 'a')],
      ['DELETE', '/api/v1/namespaces'],
    ] as const) {
      expectFailure(await client().send({ method, path, body: configMapOf('a') }), 405, 'MethodNotAllowed')
    }
  })
})

onEveryEngine(
  'writing events that expire',
  (client) => {
    test('an event is deleted after its TTL, and watchers are notified', async () => {
      const namespace = await newNamespace(client(), 'ttl')
      const path = `/api/v1/namespaces/${namespace}/events`
      const watch = await client().watch(`${path}?watch=1`)
      expectStatus(await client().post(path, { metadata: { name: 'e' }, involvedObject: { kind: 'Pod', namespace, name: 'p' } }), 201)
      await untilStatus(() => client().get(`${path}/e`), 404)
      await watch.atLeast(2)
      watch.close()
      assert.equal(watch.summary(), 'ADDED e, DELETED e')
    })
  },
  [...everyKind, '--event-ttl=1s'],
)
