// Rules of server-side apply: versions, nulls, keys and conflicts, for small requests and for large ones, which run in a worker thread.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiResponse } from '../../../../test/kit/api-client.js'
import { onDefaultEngine } from '../../../../test/kit/embedded.js'
import { configMapOf, expectFailure, expectStatus, makeConfigMap, newNamespace, untilStatus } from '../../../../test/kit/fixtures.js'
import type { JsonObject } from '../../../../test/kit/network/json-object.js'

const crdPath = '/apis/apiextensions.cluster.io/v1/customresourcedefinitions'

const fieldsOf = ({ metadata: { managedFields = [] } }: JsonObject): readonly unknown[] =>
  managedFields.map((entry) => (entry as unknown as { readonly fieldsV1: unknown }).fieldsV1)

onDefaultEngine('rules of server-side apply', (client) => {
  const apply = (path: string, manager: string, body: object) =>
    client().patch(`${path}?fieldManager=${manager}`, 'application/apply-patch+yaml', body)

  /** Defines a kind whose versions v1 and v2 have the same `spec`. Returns paths and configurations of its objects. */
  const defineKind = async (prefix: string, properties: object) => {
    const namespace = await newNamespace(client(), prefix)
    const group = `${namespace}.example.com`
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } }
    const version = (name: string) => ({ name, served: true, storage: name === 'v1', schema })
    const spec = {
      group,
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: ['v1', 'v2'].map(version),
    }
    expectStatus(await client().post(crdPath, { metadata: { name: `things.${group}` }, spec }), 201)
    const path = (v: string, name = '') => `/apis/${group}/${v}/namespaces/${namespace}/things${name && `/${name}`}`
    await untilStatus(() => client().get(path('v2')), 200)
    const config = (v: string, metadata: { readonly name: string }, value: object | undefined) => ({
      ...{ apiVersion: `${group}/${v}`, kind: 'Thing' },
      ...{ metadata, spec: value },
    })
    return { path, config, namespace }
  }

  for (const [field, value] of Object.entries({
    labels: { y: 'z' },
    annotations: { y: 'z' },
    finalizers: ['a.b/c'],
    ownerReferences: undefined,
  }))
    test(`apply in another version removes the last of metadata.${field}, not the metadata`, async () => {
      const { path, config, namespace } = await defineKind('other', { s: { type: 'string' } })
      const { uid } = (await makeConfigMap(client(), namespace, configMapOf('o'))).metadata
      const more = { [field]: value ?? [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid }] }
      expectStatus(await apply(path('v2', 'c'), 'm', config('v2', { name: 'c', ...more }, { s: 'x' })), 201)
      const { json } = expectStatus(await apply(path('v1', 'c'), 'm', config('v1', { name: 'c' }, { s: 'x' })), 200)
      assert.equal(json.metadata.name, 'c')
      assert.equal((json.metadata as unknown as Record<string, unknown>)[field], undefined)
      assert.deepEqual(json['spec'], { s: 'x' })
      const scaler = (v: string) => `/apis/autoscaling/${v}/namespaces/${namespace}/horizontalpodautoscalers/h`
      const target = { maxReplicas: 3, scaleTargetRef: { kind: 'D', name: 'd' } }
      const scalerOf = (v: string, metadata: object) => ({
        ...{ apiVersion: `autoscaling/${v}`, kind: 'HorizontalPodAutoscaler' },
        ...{ metadata: { name: 'h', ...metadata }, spec: target },
      })
      expectStatus(await apply(scaler('v2'), 'other', scalerOf('v2', {})), 201)
      expectStatus(await apply(scaler('v1'), 'm', scalerOf('v1', more)), 200)
      const remaining = expectStatus(await apply(scaler('v1'), 'm', scalerOf('v1', {})), 200).json
      assert.equal(
        (remaining.metadata as unknown as Record<string, unknown>)[field],
        undefined,
        'another manager applied in another version',
      )
      assert.deepEqual((remaining['spec'] as JsonObject)['maxReplicas'], 3)
    })

  test('the metadata of an embedded resource has no owner of an absent creationTimestamp', async () => {
    const embedded = { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true }
    const { path, config } = await defineKind('embeds', { e: embedded, l: { type: 'array', items: embedded } })
    const e = { apiVersion: 'v1', kind: 'X', metadata: { name: 'a' } }
    const { json } = expectStatus(await client().post(path('v1'), config('v1', { name: 'a' }, { e })), 201)
    const fields = { '.': {}, 'f:apiVersion': {}, 'f:kind': {}, 'f:metadata': { '.': {}, 'f:name': {} } }
    assert.deepEqual(fieldsOf(json), [{ 'f:spec': { '.': {}, 'f:e': fields } }])
  })

  const text = { type: 'string' }
  const inner = { type: 'object', properties: { a: text } }

  test('null is a value of an applied configuration: 422 unless nullable or defaulted; other writes drop it', async () => {
    const { path, config } = await defineKind('nulls', {
      ...{ s: text, i: { type: 'integer' }, b: { type: 'boolean' }, l: { type: 'array', items: text }, o: inner },
      ...{ m: { type: 'object', additionalProperties: text }, x: { 'x-kubernetes-int-or-string': true } },
      ...{ n: { ...text, nullable: true }, d: { ...text, default: 'q' } },
      free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    })
    const specs: readonly (readonly [value: object, field: string])[] = [
      ...['s', 'i', 'b', 'l', 'o', 'm', 'x', 'free'].map((name) => [{ [name]: null }, `spec.${name}`] as const),
      [{ m: { k: null } }, 'spec.m.k'],
      [{ o: { a: null } }, 'spec.o.a'],
      [{ l: [null] }, 'spec.l[0]'],
    ]
    for (const v of ['v1', 'v2'])
      for (const [value, field] of specs) {
        const { details } = expectFailure(await apply(path(v, 'c'), 'm', config(v, { name: 'c' }, value)), 422, 'Invalid')
        assert.deepEqual(
          details?.causes?.map((cause) => cause.field),
          [field],
        )
      }
    const valid = { n: null, d: null, free: { a: null } }
    const created = expectStatus(await apply(path('v1', 'c'), 'm', config('v1', { name: 'c' }, valid)), 201).json
    assert.deepEqual(created['spec'], { d: 'q', free: { a: null }, n: null })
    expectStatus(await client().post(path('v1'), config('v1', { name: 'p' }, { s: null, m: { k: null }, o: { a: null } })), 201)
    assert.deepEqual((await client().get(path('v1', 'p'))).json['spec'], { d: 'q', m: {}, o: {} })
    expectFailure(await apply(path('v1', 'p'), 'm', config('v1', { name: 'p' }, { s: null })), 422, 'Invalid')
    expectStatus(await client().patch(path('v1', 'p'), 'application/merge-patch+json', { spec: { s: null, l: null } }), 200)
  })

  test('a value of the wrong type in an int-or-string field is a validation error', async () => {
    const { path, config } = await defineKind('mixed', { x: { 'x-kubernetes-int-or-string': true } })
    for (const x of [[1], { a: 1 }, true]) {
      const { details } = expectFailure(await apply(path('v1', 'c'), 'm', config('v1', { name: 'c' }, { x })), 422, 'Invalid')
      assert.equal(details?.causes?.[0]?.field, 'spec.x')
    }
    const { json } = expectStatus(await apply(path('v1', 'c'), 'm', config('v1', { name: 'c' }, { x: '5%' })), 201)
    assert.deepEqual(fieldsOf(json), [{ 'f:spec': { 'f:x': {} } }])
  })

  test('null conflicts with an empty object or list, not with one that has members', async () => {
    const nullable = { o: { ...inner, nullable: true }, l: { type: 'array', items: text, nullable: true, 'x-kubernetes-list-type': 'set' } }
    const { path, config } = await defineKind('emptied', nullable)
    for (const [field, empty, full] of [
      ['o', {}, { a: '1' }],
      ['l', [], ['a']],
    ] as const) {
      const configWith = (name: string, value: unknown) => config('v1', { name }, { [field]: value })
      expectStatus(await apply(path('v1', `empty-${field}`), 'other', configWith(`empty-${field}`, empty)), 201)
      const conflict = expectFailure(await apply(path('v1', `empty-${field}`), 'm', configWith(`empty-${field}`, null)), 409, 'Conflict')
      assert.deepEqual(
        conflict.details?.causes?.map((cause) => cause.field),
        [`.spec.${field}`],
      )
      expectStatus(await apply(path('v1', `full-${field}`), 'other', configWith(`full-${field}`, full)), 201)
      const { json } = expectStatus(await apply(path('v1', `full-${field}`), 'm', configWith(`full-${field}`, null)), 200)
      assert.deepEqual(json['spec'], { [field]: full })
    }
  })

  test('a null key identifies a list item; an absent key does not', async () => {
    const path = `/api/v1/namespaces/${await newNamespace(client(), 'keys')}/serviceaccounts/k`
    const account = (secrets: readonly object[]) => ({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'k' }, secrets })
    expectFailure(await apply(path, 'm', account([{}])), 400, 'BadRequest')
    const { json } = expectStatus(await apply(path, 'm', account([{ name: null }])), 201)
    assert.deepEqual(fieldsOf(json), [{ 'f:secrets': { 'k:{"name":null}': {} } }])
  })

  test('apply removes fields that it leaves out; a value that others own and that loses its last member becomes null', async () => {
    const set = { type: 'array', items: text, 'x-kubernetes-list-type': 'set' }
    const item = { type: 'object', required: ['k'], properties: { k: text, v: text } }
    const keyed = { type: 'array', items: item, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] }
    const { path, config } = await defineKind('leaves', {
      ...{ s: text, set, keyed, o: inner, atomic: { type: 'array', items: text }, map: { type: 'object', additionalProperties: text } },
      ...{ maps: { type: 'object', additionalProperties: inner }, free: { ...inner, nullable: true } },
    })
    const full = { set: ['a'], keyed: [{ k: 'a', v: 'b' }], o: { a: 'b' }, atomic: ['a'], map: { a: 'b' } }
    const write = (manager: string, value: object | undefined) => apply(path('v1', 'a'), manager, config('v1', { name: 'a' }, value))
    expectStatus(await write('m', { s: 'x', ...full }), 201)
    assert.deepEqual(expectStatus(await write('m', { s: 'x' }), 200).json['spec'], { s: 'x' })
    const refused = expectFailure(await write('m', {}), 422, 'Invalid')
    assert.equal(refused.details?.causes?.[0]?.field, 'spec', 'an empty configuration still owns spec, which becomes null')
    expectStatus(await write('m', { s: 'x', maps: { k: { a: '1' } }, o: { a: '1' } }), 200)
    expectStatus(await write('other', { maps: { k: {} } }), 200)
    const map = expectFailure(await write('m', { s: 'x' }), 422, 'Invalid')
    assert.equal(map.details?.causes?.[0]?.field, 'spec.maps.k')
    expectStatus(await write('other', {}), 200)
    assert.deepEqual(expectStatus(await write('m', { s: 'x' }), 200).json['spec'], { s: 'x' })
    expectStatus(await write('m', { s: 'x', free: { a: '1' } }), 200)
    expectStatus(await write('other', { free: {} }), 200)
    assert.deepEqual(expectStatus(await write('m', { s: 'x' }), 200).json['spec'], { s: 'x', free: null })
  })

  test('an object whose list items cannot be told apart has no managedFields', async () => {
    const accounts = `/api/v1/namespaces/${await newNamespace(client(), 'untold')}/serviceaccounts`
    const ingresses = accounts.replace('/api/v1', '/apis/networking.cluster.io/v1').replace('serviceaccounts', 'ingresses')
    const spec = { defaultBackend: { service: { name: 's', port: { number: 1 } } } }
    const writes: readonly (readonly [name: string, collection: string, object: object, write: (path: string) => Promise<ApiResponse>])[] =
      [
        ...[
          ['merge', (path: string) => client().patch(path, 'application/merge-patch+json', { secrets: [{ fieldPath: 'a' }] })] as const,
          ['put', (path: string) => client().put(path, { metadata: { name: 'put' }, secrets: [{ fieldPath: 'a' }] })] as const,
        ].map(([name, write]) => [name, accounts, { secrets: [{ name: 'x' }] }, write] as const),
        [
          'status',
          ingresses,
          { spec },
          (path) => client().put(`${path}/status`, { metadata: { name: 'status', finalizers: ['a.b/c', 'a.b/c'] }, spec }),
        ],
      ]
    for (const [name, collection, object, write] of writes) {
      const created = expectStatus(await client().post(collection, { metadata: { name }, ...object }), 201).json
      assert.equal(fieldsOf(created).length, 1)
      assert.deepEqual(fieldsOf(expectStatus(await write(`${collection}/${name}`), 200).json), [], name)
    }
  })

  test('conflicts are listed in the order of paths, fields of a struct before their members; equal fields do not conflict', async () => {
    const namespace = await newNamespace(client(), 'ordered')
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments/d`
    const config = (env: readonly object[], more: object = {}) => {
      const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i', env, ...more }] } }
      return {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'd' },
        spec: { selector: { matchLabels: { a: 'b' } }, template },
      }
    }
    const conflicts = async (env: readonly object[], more?: object) => {
      const { details } = expectFailure(await apply(path, 'm', config(env, more)), 409, 'Conflict')
      return details?.causes?.map(({ field }) => field?.replace('.spec.template.spec.containers[name="c"]', ''))
    }
    const env = (value: string) => ['X', 'Y'].map((name) => ({ name, value }))
    expectStatus(await apply(path, 'other', config(env('1'), { args: ['a'] })), 201)
    assert.deepEqual(await conflicts([{ name: 'X', value: '2' }]), ['.env[name="X"].value'])
    assert.deepEqual(await conflicts(env('2'), { args: ['b'], image: 'j' }), [
      '.args',
      '.image',
      '.env[name="X"].value',
      '.env[name="Y"].value',
    ])
  })
})
