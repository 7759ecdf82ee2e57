// Custom resources over the life of their CustomResourceDefinition, as clients see them.

import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { describe, test } from 'node:test'
import type { ApiClient } from '../../../test/kit/api-client.js'
import { onDefaultEngine, startEmbedded } from '../../../test/kit/embedded.js'
import { expectFailure, expectStatus, until, untilStatus } from '../../../test/kit/fixtures.js'
import { newFolder } from '../../../test/kit/server-process.js'

const crdPath = '/apis/apiextensions.cluster.io/v1/customresourcedefinitions'

const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: { size: { type: 'integer', default: 1 }, note: { type: 'string', maxLength: 10 } },
      'x-kubernetes-validations': [{ rule: '!has(oldSelf.size) || self.size >= oldSelf.size', message: 'boxes only grow' }],
    },
  },
}

const crdOf = (plural: string, group: string, changes: object = {}): object => ({
  apiVersion: 'apiextensions.cluster.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural, kind: 'Box', shortNames: ['bx'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: schema },
        additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
      },
    ],
    ...changes,
  },
})

const box = (group: string, name: string, spec: object): object => ({ apiVersion: `${group}/v1`, kind: 'Box', metadata: { name }, spec })

/** Status of a condition of the CRD; undefined if it has none. */
async function conditionOf(client: ApiClient, path: string, wanted: string): Promise<string | undefined> {
  const { status } = (await client.get(path)).json as unknown as { status?: { conditions?: { type: string; status: string }[] } }
  return status?.conditions?.find(({ type }) => type === wanted)?.status
}

async function serve(client: ApiClient, plural: string, group: string, changes: object = {}): Promise<string> {
  expectStatus(await client.post(crdPath, crdOf(plural, group, changes)), 201)
  const path = `${crdPath}/${plural}.${group}`
  await until(
    () => conditionOf(client, path, 'Established'),
    (value) => value === 'True',
  )
  return `/apis/${group}/v1/namespaces/default/${plural}`
}

onDefaultEngine('custom resources', (client) => {
  test('are served once the CRD is established, with defaults, pruning, validation and CEL rules', async () => {
    const boxes = await serve(client(), 'boxes', 'one.example.com')
    const created = expectStatus(await client().post(boxes, box('one.example.com', 'a', { note: 'x', odd: 1 })), 201)
    assert.deepEqual((created.json as unknown as { spec: unknown }).spec, { note: 'x', size: 1 })
    assert.match(String(created.headers['warning']), /unknown field \\"spec.odd\\"/)
    expectFailure(await client().post(boxes, box('one.example.com', 'b', { note: 'much too long' })), 422, 'Invalid')
    const patched = (size: number) => client().patch(`${boxes}/a`, 'application/merge-patch+json', { spec: { size } })
    expectStatus(await patched(4), 200)
    const refused = expectFailure(await patched(2), 422, 'Invalid')
    assert.match(JSON.stringify(refused), /spec: Invalid value: \\"object\\": boxes only grow/)
    const list = expectStatus(await client().get(boxes), 200).json as unknown as {
      kind: string
      items: { kind: string; apiVersion: string }[]
    }
    assert.deepEqual([list.kind, list.items[0]?.kind, list.items[0]?.apiVersion], ['BoxList', 'Box', 'one.example.com/v1'])
  })

  test('have tables, apply and discovery', async () => {
    const boxes = await serve(client(), 'boxes', 'two.example.com')
    const applied = await client().patch(
      `${boxes}/a?fieldManager=me`,
      'application/apply-patch+yaml',
      box('two.example.com', 'a', { size: 2 }),
    )
    expectStatus(applied, 201)
    const table = expectStatus(await client().get(boxes, { accept: 'application/json;as=Table;g=meta.cluster.io;v=v1' }), 200)
    assert.deepEqual((table.json as unknown as { rows: { cells: unknown }[] }).rows[0]?.cells, ['a', 2])
    const found = expectStatus(await client().get('/apis/two.example.com/v1'), 200).json as unknown as { resources: { name: string }[] }
    assert.deepEqual(
      found.resources.map(({ name }) => name),
      ['boxes'],
    )
    expectStatus(await client().get('/apis/two.example.com/v2'), 404)
  })

  test('reject verbs and subresources that the CRD does not have', async () => {
    const boxes = await serve(client(), 'boxes', 'paths.example.com')
    expectStatus(await client().post(boxes, box('paths.example.com', 'a', {})), 201)
    const all = '/apis/paths.example.com/v1/boxes'
    const missingPaths = [
      await client().post(all, box('paths.example.com', 'b', {})),
      await client().delete(all),
      await client().get(`${all}/a`),
    ]
    assert.deepEqual(
      missingPaths.map(({ status, text }) => [status, text]),
      missingPaths.map(() => [404, '404 page not found\n']),
    )
    expectStatus(await client().get(all), 200)
    const message = 'boxes.paths.example.com "a" not found'
    assert.equal(expectFailure(await client().get(`${boxes}/a/status`), 404, 'NotFound').message, message)
    assert.equal(expectFailure(await client().put(boxes, {}), 400, 'BadRequest').message, 'name must be provided')
    const patched = await client().patch(boxes, 'application/merge-patch+json', {})
    assert.equal(expectFailure(patched, 400, 'BadRequest').message, 'name must be provided')
    expectStatus(await client().send({ method: 'HEAD', path: `${boxes}/a` }), 200)
    const none = expectFailure(await client().get(boxes, { accept: 'text/html' }), 406, 'NotAcceptable')
    const formats = ['application/json', 'application/yaml', 'application/vnd.cluster.protobuf']
    assert.equal(none.message, `only the following media types are accepted: ${formats.join(', ')}`)
    const untyped = expectFailure(await client().patch(`${boxes}/a`, 'application/json', {}), 415, 'UnsupportedMediaType')
    assert.match(String(untyped.message), /accepted media types include: application\/json-patch\+json, application\/merge-patch/)
    const other = await client().post(boxes, { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'b' } })
    const expected = 'the API version in the data (v1) does not match the expected API version (paths.example.com/v1)'
    assert.equal(expectFailure(other, 400, 'BadRequest').message, expected)
    const renamed = await client().patch(`${boxes}/a`, 'application/merge-patch+json', { kind: 'Crate' })
    assert.equal(
      expectFailure(renamed, 422, 'Invalid').message,
      'Crate.paths.example.com "a" is invalid: kind: Invalid value: "Crate": must be Box',
    )
    const version = (crdOf('boxes', 'parts.example.com') as { spec: { versions: object[] } }).spec.versions[0]
    const parts = await serve(client(), 'boxes', 'parts.example.com', { versions: [{ ...version, subresources: { status: {} } }] })
    const refused = expectFailure(await client().delete(`${parts}/a/status`), 405, 'MethodNotAllowed')
    assert.equal(refused.message, 'delete is not supported on resources of kind "boxes.parts.example.com"')
  })

  test('have printer columns and subresources per version', async () => {
    const anything = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
    const columns = (jsonPath: string) => [{ name: 'Size', type: 'integer', jsonPath }]
    const versions = [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: anything,
        subresources: { status: {} },
        additionalPrinterColumns: columns('.spec.size'),
      },
      { name: 'v2', served: true, storage: false, schema: anything },
      { name: 'v3', served: true, storage: false, schema: anything, additionalPrinterColumns: columns('.spec.other') },
    ]
    const boxes = await serve(client(), 'boxes', 'each.example.com', { versions })
    expectStatus(await client().post(boxes, box('each.example.com', 'a', { size: 2, other: 3 })), 201)
    const pathOf = (version: string): string => boxes.replace('/v1/', `/${version}/`)
    const tableOf = async (version: string) => {
      const table = await client().get(pathOf(version), { accept: 'application/json;as=Table;g=meta.cluster.io;v=v1' })
      const { columnDefinitions, rows } = table.json as unknown as {
        columnDefinitions: { name: string; type: string }[]
        rows: { cells: unknown[] }[]
      }
      return [columnDefinitions.slice(1).map(({ name, type }) => `${name} ${type}`), rows[0]?.cells.length, rows[0]?.cells[1]]
    }
    assert.deepEqual(await tableOf('v1'), [['Size integer'], 2, 2])
    assert.deepEqual((await tableOf('v2')).slice(0, 2), [['Age date'], 2])
    assert.deepEqual(await tableOf('v3'), [['Size integer'], 2, 3])
    expectStatus(await client().get(`${boxes}/a/status`), 200)
    expectFailure(await client().get(`${pathOf('v2')}/a/status`), 404, 'NotFound')
    const written = await client().patch(`${pathOf('v2')}/a`, 'application/merge-patch+json', { status: { x: 1 } })
    assert.deepEqual(expectStatus(written, 200).json['status'], { x: 1 })
    const owned = JSON.stringify(written.json.metadata['managedFields'])
    assert.match(owned, /"apiVersion":"each.example.com\/v2"[^}]*"fieldsV1":\{"f:status"/)
  })

  test('have scale if the CRD declares it', async () => {
    const scale = { specReplicasPath: '.spec.count', statusReplicasPath: '.status.count' }
    const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
    const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: anything }, subresources: { scale } }
    const boxes = await serve(client(), 'boxes', 'scaled.example.com', { versions: [version] })
    expectStatus(await client().post(boxes, box('scaled.example.com', 'a', {})), 201)
    const read = () => client().get(`${boxes}/a/scale`)
    const patch = (body: object) => client().patch(`${boxes}/a/scale`, 'application/merge-patch+json', body)
    assert.equal(expectFailure(await read(), 400, 'BadRequest').message, 'the spec replicas field ".spec.count" does not exist')
    assert.equal(expectFailure(await patch({}), 400, 'BadRequest').message, 'the spec replicas field ".spec.count" cannot be empty')
    expectStatus(await patch({ spec: { replicas: 3 } }), 200)
    assert.deepEqual(expectStatus(await read(), 200).json['spec'], { replicas: 3 })
  })

  test('have status and scale paths per version', async () => {
    const group = 'versions.example.com'
    const anything = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
    const subresources = { status: {}, scale: { specReplicasPath: '.spec.count', statusReplicasPath: '.status.count' } }
    const versions = [
      { name: 'v1', served: true, storage: true, schema: anything },
      { name: 'v2', served: true, storage: false, schema: anything, subresources },
    ]
    const boxes = await serve(client(), 'boxes', group, { versions })
    const v2Boxes = boxes.replace('/v1/', '/v2/')
    // Without the status subresource, status is an ordinary field.
    const object = { ...box(group, 'a', { count: 1 }), status: { count: 5 } }
    assert.deepEqual(expectStatus(await client().post(boxes, object), 201).json['status'], { count: 5 })
    const second = { ...box(group, 'b', { count: 1 }), apiVersion: `${group}/v2`, status: { count: 5 } }
    assert.equal(expectStatus(await client().post(v2Boxes, second), 201).json['status'], undefined)
    assert.equal((await client().get(`${boxes}/a/status`)).status, 404)
    expectStatus(await client().get(`${v2Boxes}/a/status`), 200)
    // The field manager of replicas is found at the scale path of the version.
    const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'b' }, spec: { replicas: 7 } }
    const applied = await client().patch(`${v2Boxes}/b/scale?fieldManager=me&force=true`, 'application/apply-patch+yaml', scale)
    assert.deepEqual(expectStatus(applied, 200).json['spec'], { replicas: 7 })
    const owners = expectStatus(await client().get(`${v2Boxes}/b`), 200).json.metadata['managedFields'] as readonly {
      manager: string
      fieldsV1?: object
    }[]
    assert.deepEqual(owners.find(({ manager }) => manager === 'me')?.fieldsV1, { 'f:spec': { 'f:count': {} } })
  })

  test('conflicting names of a group are accepted when the other CRD is deleted', async () => {
    await serve(client(), 'boxes', 'three.example.com')
    expectStatus(await client().post(crdPath, crdOf('crates', 'three.example.com')), 201)
    const crates = `${crdPath}/crates.three.example.com`
    await until(
      () => conditionOf(client(), crates, 'NamesAccepted'),
      (value) => value === 'False',
    )
    expectStatus(await client().get('/apis/three.example.com/v1/crates'), 404)
    expectStatus(await client().delete(`${crdPath}/boxes.three.example.com`), 200)
    await until(
      () => conditionOf(client(), crates, 'Established'),
      (value) => value === 'True',
    )
    expectStatus(await client().get('/apis/three.example.com/v1/crates'), 200)
  })

  test('are deleted with their CRD', async () => {
    const boxes = await serve(client(), 'boxes', 'four.example.com')
    for (const name of ['a', 'b']) expectStatus(await client().post(boxes, box('four.example.com', name, {})), 201)
    expectStatus(await client().delete(`${crdPath}/boxes.four.example.com`), 200)
    await untilStatus(() => client().get(`${crdPath}/boxes.four.example.com`), 404)
    expectStatus(await client().get(boxes), 404)
    await serve(client(), 'boxes', 'four.example.com')
    const { json } = expectStatus(await client().get(boxes), 200)
    assert.deepEqual((json as unknown as { items: unknown[] }).items, [])
  })

  test('a CRD cannot replace a built-in kind or delete its objects', async () => {
    const conflicting = crdOf('clusterrolebindings', 'rbac.authorization.cluster.io', { scope: 'Cluster' }) as {
      metadata: { name: string }
    }
    const annotated = {
      ...conflicting,
      metadata: { ...conflicting.metadata, annotations: { 'api-approved.cluster.io': 'unapproved, a test' } },
    }
    expectStatus(await client().post(crdPath, annotated), 201)
    const path = `${crdPath}/${conflicting.metadata.name}`
    await until(
      () => conditionOf(client(), path, 'Established'),
      (value) => value === 'False',
    )
    const bindings = '/apis/rbac.authorization.cluster.io/v1/clusterrolebindings'
    const before = expectStatus(await client().get(bindings), 200).json.items.length
    expectStatus(await client().delete(path), 200)
    await untilStatus(() => client().get(path), 404)
    const { kind, items } = expectStatus(await client().get(bindings), 200).json
    assert.deepEqual([kind, items.length], ['ClusterRoleBindingList', before])
  })

  test('a terminating CRD deletes its objects although the stored version is not served, and rejects new ones', async () => {
    const [version] = (crdOf('boxes', 'x.y') as { spec: { versions: object[] } }).spec.versions
    const versions = [
      { ...version, name: 'v1', served: true, storage: false },
      { ...version, name: 'v2', served: false, storage: true },
    ]
    const boxes = await serve(client(), 'boxes', 'seven.example.com', { versions })
    const finalized = box('seven.example.com', 'a', {}) as { metadata: object }
    expectStatus(await client().post(boxes, { ...finalized, metadata: { ...finalized.metadata, finalizers: ['example.com/wait'] } }), 201)
    const path = `${crdPath}/boxes.seven.example.com`
    expectStatus(await client().delete(path), 200)
    expectStatus(await client().post(boxes, box('seven.example.com', 'b', {})), 405)
    expectStatus(await client().get(path), 200)
    expectStatus(await client().patch(`${boxes}/a`, 'application/merge-patch+json', { metadata: { finalizers: null } }), 200)
    await untilStatus(() => client().get(path), 404)
    await serve(client(), 'boxes', 'seven.example.com')
    assert.deepEqual(expectStatus(await client().get(boxes), 200).json.items, [])
  })

  test('CRDs with invalid CEL rules are rejected', async () => {
    const invalidVersions = (rule: string) => ({
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              'x-kubernetes-validations': [{ rule }],
              properties: { a: { type: 'array', items: { type: 'string' } } },
            },
          },
        },
      ],
    })
    const post = (rule: string) => client().post(`${crdPath}?dryRun=All`, crdOf('boxes', 'five.example.com', invalidVersions(rule)))
    assert.match(JSON.stringify(expectFailure(await post('self.b'), 422, 'Invalid')), /undefined field 'b'/)
    assert.match(JSON.stringify(expectFailure(await post('self.a.all(x, self.a.all(y, x == y))'), 422, 'Invalid')), /exceeds budget/)
  })
})

describe('restart', () => {
  test('serves its custom resources, and reads old objects with the new schema', async () => {
    const dataDir = newFolder()
    const first = await startEmbedded('lmdb', [], dataDir)
    const boxes = await serve(first.client, 'boxes', 'six.example.com')
    expectStatus(await first.client.post(boxes, box('six.example.com', 'a', { note: 'x' })), 201)
    const changed = { ...schema, properties: { spec: { type: 'object', properties: { colour: { type: 'string', default: 'red' } } } } }
    const patch = [{ op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema', value: changed }]
    expectStatus(await first.client.patch(`${crdPath}/boxes.six.example.com`, 'application/json-patch+json', patch), 200)
    await first.close()
    const second = await startEmbedded('lmdb', [], dataDir)
    const { json } = expectStatus(await second.client.get(`${boxes}/a`), 200)
    assert.deepEqual((json as unknown as { spec: unknown }).spec, { colour: 'red' })
    await second.close()
    rmSync(dataDir, { recursive: true, force: true })
  })
})
