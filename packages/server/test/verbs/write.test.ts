// Writing: names and versions, conditions, what the server fills in, what it refuses, and what a dry run leaves behind.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { everyKind, onEveryEngine } from '../kit/embedded.js'
import { configMapOf, configMaps, expectFailure, expectStatus, makeConfigMap, newNamespace, until } from '../kit/fixtures.js'

const claims = (namespace: string): string => `/apis/resource.cluster.io/v1alpha1/namespaces/${namespace}/resourceclaims`
const claimOf = (name: string, spec: object = { resourceClassName: 'fast' }) => ({
  apiVersion: 'resource.cluster.io/v1alpha1',
  kind: 'ResourceClaim',
  metadata: { name },
  spec,
})

interface Refusal {
  readonly name: string
  readonly body: unknown
  readonly code: number
  readonly reason: string
  readonly field?: string
  readonly type?: string
}

const creations: readonly Refusal[] = [
  { name: 'no name', body: { metadata: {} }, code: 422, reason: 'Invalid', field: 'metadata.name' },
  { name: 'a name with capitals', body: configMapOf('Upper'), code: 422, reason: 'Invalid', field: 'metadata.name' },
  { name: 'a name that is too long', body: configMapOf('a'.repeat(254)), code: 422, reason: 'Invalid', field: 'metadata.name' },
  { name: 'a name with a slash', body: configMapOf('a/b'), code: 422, reason: 'Invalid', field: 'metadata.name' },
  { name: 'a bad label value', body: configMapOf('a', { labels: { a: '-' } }), code: 422, reason: 'Invalid', field: 'metadata.labels' },
  { name: 'a bad label key', body: configMapOf('a', { labels: { 'a b': 'c' } }), code: 422, reason: 'Invalid', field: 'metadata.labels' },
  { name: 'a bad data key', body: configMapOf('a', { data: { 'a b': '' } }), code: 422, reason: 'Invalid', field: 'data[a b]' },
  { name: 'too much data', body: configMapOf('a', { data: { a: 'x'.repeat(1024 * 1024 + 1) } }), code: 422, reason: 'Invalid' },
  { name: 'another namespace', body: { metadata: { name: 'a', namespace: 'elsewhere' } }, code: 400, reason: 'BadRequest' },
  { name: 'a version', body: { metadata: { name: 'a', resourceVersion: '5' } }, code: 400, reason: 'BadRequest' },
  { name: 'another kind', body: { ...configMapOf('a'), kind: 'Secret' }, code: 400, reason: 'BadRequest' },
  { name: 'another version of the API', body: { ...configMapOf('a'), apiVersion: 'v2' }, code: 400, reason: 'BadRequest' },
  { name: 'broken JSON', body: '{"metadata":', code: 400, reason: 'BadRequest' },
  { name: 'a JSON array', body: '[]', code: 400, reason: 'BadRequest' },
  { name: 'JSON null, which is an empty object', body: 'null', code: 422, reason: 'Invalid', field: 'metadata.name' },
  { name: 'no body', body: '', code: 400, reason: 'BadRequest' },
  { name: 'a member of the wrong type', body: { metadata: { name: 5 } }, code: 400, reason: 'BadRequest' },
  { name: 'data of the wrong type', body: { metadata: { name: 'a' }, data: { a: { b: 'c' } } }, code: 400, reason: 'BadRequest' },
  { name: 'an unknown media type', body: 'a', type: 'text/csv', code: 415, reason: 'UnsupportedMediaType' },
]

onEveryEngine('writing', (client) => {
  for (const row of creations) {
    test(`refuses to create with ${row.name}`, async () => {
      const namespace = await newNamespace(client(), 'create')
      const headers = { 'content-type': row.type ?? 'application/json' }
      const answer = await client().send({ method: 'POST', path: configMaps(namespace), body: row.body, headers })
      const status = expectFailure(answer, row.code, row.reason)
      if (row.field !== undefined)
        assert.ok(
          status.details?.causes?.some(({ field }) => field === row.field),
          answer.text,
        )
      assert.doesNotMatch(answer.text, /strconv|Go struct|\*v1\.|TypeError|undefined|\.ts:/)
      assert.equal((await client().get(configMaps(namespace))).json.items.length, 0)
    })
  }

  test('a namespace that does not exist takes nothing', async () => {
    expectFailure(await client().post(configMaps('no-such-place'), configMapOf('a')), 404, 'NotFound')
  })

  test('generateName makes names that nobody has', async () => {
    const path = configMaps(await newNamespace(client(), 'generate'))
    const made = await Promise.all(Array.from({ length: 20 }, () => client().post(path, { metadata: { generateName: 'job-' } })))
    const names = made.map((answer) => expectStatus(answer, 201).json.metadata.name)
    for (const name of names) assert.match(name, /^job-[a-z0-9]{5}$/)
    assert.equal(new Set(names).size, names.length)
    const both = expectStatus(await client().post(path, { metadata: { name: 'mine', generateName: 'job-' } }), 201).json
    assert.equal(both.metadata.name, 'mine')
    const long = expectStatus(await client().post(path, { metadata: { generateName: 'g'.repeat(63) } }), 201).json
    assert.match(long.metadata.name, /^g{58}[a-z0-9]{5}$/)
  })

  test('what only the server may say is not taken from the body', async () => {
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

  test('an update with a version wins once; one without a version always wins', async () => {
    const namespace = await newNamespace(client(), 'update')
    const path = configMaps(namespace, 'a')
    const created = await makeConfigMap(client(), namespace, configMapOf('a'))
    const writes = await Promise.all(Array.from({ length: 10 }, (_, i) => client().put(path, { ...created, data: { winner: String(i) } })))
    assert.deepEqual(writes.map(({ status }) => status).sort(), [200, ...Array.from({ length: 9 }, () => 409)])
    for (const answer of writes) if (answer.status === 409) expectFailure(answer, 409, 'Conflict')
    const careless = await Promise.all(
      Array.from({ length: 10 }, (_, i) => client().put(path, configMapOf('a', { data: { i: String(i) } }))),
    )
    for (const answer of careless) expectStatus(answer, 200)
    expectFailure(await client().put(path, { ...created, metadata: { ...created.metadata, resourceVersion: '99999999' } }), 409, 'Conflict')
  })

  test('an update keeps what cannot change', async () => {
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

  test('no version is made by writing what is there already', async () => {
    const namespace = await newNamespace(client(), 'same')
    const created = await makeConfigMap(client(), namespace, configMapOf('a', { data: { z: '1', a: '2' } }))
    const watch = await client().watch(`${configMaps(namespace)}?watch=1&resourceVersion=${created.metadata.resourceVersion}`)
    const reordered = { data: { a: '2', z: '1' }, metadata: created.metadata, kind: 'ConfigMap', apiVersion: 'v1' }
    const same = expectStatus(await client().put(configMaps(namespace, 'a'), reordered), 200).json
    assert.equal(same.metadata.resourceVersion, created.metadata.resourceVersion)
    await client().delete(configMaps(namespace, 'a'))
    await watch.atLeast(1)
    watch.close()
    assert.equal(watch.summary(), 'DELETED a')
  })

  test('the order in which labels and annotations were sent is no change', async () => {
    const namespace = await newNamespace(client(), 'order')
    const [disorder, order] = [
      { z: '1', a: '2' },
      { a: '2', z: '1' },
    ]
    const created = await makeConfigMap(client(), namespace, configMapOf('a', { labels: disorder, annotations: disorder, data: disorder }))
    for (const body of [created, configMapOf('a', { labels: order, annotations: order, data: order })]) {
      const same = expectStatus(await client().put(configMaps(namespace, 'a'), body), 200).json
      assert.equal(same.metadata.resourceVersion, created.metadata.resourceVersion)
    }
  })

  test('a dry run answers as if and leaves nothing', async () => {
    const namespace = await newNamespace(client(), 'dry')
    const path = configMaps(namespace)
    const would = expectStatus(await client().post(`${path}?dryRun=All`, configMapOf('a')), 201).json
    assert.match(would.metadata.uid, /^[0-9a-f-]{36}$/)
    expectStatus(await client().get(`${path}/a`), 404)
    const made = await makeConfigMap(client(), namespace, configMapOf('a', { data: { v: '1' } }))
    expectFailure(await client().post(`${path}?dryRun=All`, configMapOf('a')), 409, 'AlreadyExists')
    assert.deepEqual(expectStatus(await client().put(`${path}/a?dryRun=All`, configMapOf('a', { data: { v: '2' } })), 200).json.data, {
      v: '2',
    })
    expectStatus(await client().delete(`${path}/a?dryRun=All`), 200)
    assert.deepEqual((await client().get(`${path}/a`)).json, made)
    expectFailure(await client().post(`${path}?dryRun=Some`, configMapOf('b')), 422, 'Invalid')
    expectStatus(await client().post(`${path}?dryRun=`, configMapOf('b')), 201)
  })

  test('unknown and duplicate fields: warned about, refused or ignored, as asked', async () => {
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

  test('what is immutable stays so', async () => {
    const namespace = await newNamespace(client(), 'sealed')
    const sealed = { ...configMapOf('a', { data: { v: '1' } }), immutable: true }
    expectStatus(await client().post(configMaps(namespace), sealed), 201)
    expectFailure(await client().put(configMaps(namespace, 'a'), { ...sealed, data: { v: '2' } }), 422, 'Invalid')
    expectFailure(await client().put(configMaps(namespace, 'a'), { ...sealed, immutable: false }), 422, 'Invalid')
    expectStatus(await client().put(configMaps(namespace, 'a'), { ...sealed, metadata: { name: 'a', labels: { a: 'b' } } }), 200)
  })

  test('secrets: texts become bytes, and the type stays', async () => {
    const path = `/api/v1/namespaces/${await newNamespace(client(), 'secret')}/secrets`
    const made = expectStatus(
      await client().post(path, { metadata: { name: 's' }, stringData: { a: 'ü' }, data: { a: 'MQ==', b: 'Mg==' } }),
      201,
    ).json
    assert.deepEqual([made['type'], made.data, made['stringData']], ['Opaque', { a: 'w7w=', b: 'Mg==' }, undefined])
    expectFailure(await client().put(`${path}/s`, { ...made, type: 'example.com/other' }), 422, 'Invalid')
    expectFailure(await client().post(path, { metadata: { name: 't' }, data: { a: 'no base64!' } }), 400, 'BadRequest')
    expectFailure(await client().post(path, { metadata: { name: 't' }, type: 'cluster.io/tls' }), 422, 'Invalid')
  })

  test('endpoints: ports speak TCP unless told otherwise, and some addresses are refused', async () => {
    const path = `/api/v1/namespaces/${await newNamespace(client(), 'endpoints')}/endpoints`
    const subsets = (ip: string, ports: readonly object[] = [{ port: 80 }]) => [{ addresses: [{ ip }], ports }]
    const made = expectStatus(await client().post(path, { metadata: { name: 'e' }, subsets: subsets('10.1.2.3') }), 201).json
    assert.deepEqual(made['subsets'], [{ addresses: [{ ip: '10.1.2.3' }], ports: [{ port: 80, protocol: 'TCP' }] }])
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

  test('a resource claim: its spec is written once, its status only through the subresource', async () => {
    const path = claims(await newNamespace(client(), 'claim'))
    const made = expectStatus(await client().post(path, { ...claimOf('c'), status: { driverName: 'x' } }), 201).json
    assert.deepEqual([made['spec'], made['status']], [{ resourceClassName: 'fast', allocationMode: 'WaitForFirstConsumer' }, {}])
    expectFailure(await client().put(`${path}/c`, { ...made, spec: { resourceClassName: 'slow' } }), 422, 'Invalid')
    const consumer = (i: number) => ({ resource: 'pods', name: `p-${i}`, uid: `u-${i}` })
    const allocated = (count: number) => ({
      ...made,
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

  test('a resource class needs a driver', async () => {
    const path = '/apis/resource.cluster.io/v1alpha1/resourceclasses'
    expectFailure(await client().post(path, { metadata: { name: 'none' } }), 422, 'Invalid')
    expectStatus(await client().post(path, { metadata: { name: 'some' }, driverName: 'gpu.example.com' }), 201)
  })

  test('what the server does not serve', async () => {
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
    test('an event is gone when its time is over, and watchers are told', async () => {
      const namespace = await newNamespace(client(), 'ttl')
      const path = `/api/v1/namespaces/${namespace}/events`
      const watch = await client().watch(`${path}?watch=1`)
      expectStatus(await client().post(path, { metadata: { name: 'e' }, involvedObject: { kind: 'Pod', namespace, name: 'p' } }), 201)
      await until(
        () => client().get(`${path}/e`),
        ({ status }) => status === 404,
      )
      await watch.atLeast(2)
      watch.close()
      assert.equal(watch.summary(), 'ADDED e, DELETED e')
    })
  },
  [...everyKind, '--event-ttl=1s'],
)
