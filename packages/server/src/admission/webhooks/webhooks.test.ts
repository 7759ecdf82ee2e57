// Webhooks: AdmissionReviews sent, order, patches, reinvocation, versions.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CallOptions } from '@cluster-apiserver/api/api/call.js'
import { type ApiObject, members } from '@cluster-apiserver/api/api/object.js'
import type { Plugin } from '../admission-plugin.js'
import { rejectionOf, requestIn, sentData, webhookFixture } from './webhooks.fixture.js'

test('a webhook gets the whole request, and its patch is applied', async () => {
  const fixture = await webhookFixture(() => ({
    patch: [{ op: 'add', path: '/data/added', value: 'yes' }],
    warnings: ['careful', 'two\nlines'],
    auditAnnotations: { why: 'because' },
  }))
  await fixture.configure('mutating', 'c', fixture.webhook('m'))
  const options: CallOptions = { kind: 'PatchOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'me', force: true }
  const object = await fixture.admit({ options, user: { name: 'ann', groups: ['g'], extra: { a: ['b'] } } })
  assert.deepEqual(members(object ?? {})['data'], { added: 'yes', k: 'v' })
  assert.equal(object?.kind, undefined)
  const [call] = fixture.calls
  assert.deepEqual([call?.url, call?.headers.authorization, call?.headers.accept], ['/m?timeout=5s', 'Bearer m', 'application/json, */*'])
  const type = { group: '', version: 'v1' }
  assert.deepEqual(call?.review, {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid: 'uid-0',
      kind: { ...type, kind: 'ConfigMap' },
      resource: { ...type, resource: 'configmaps' },
      requestKind: { ...type, kind: 'ConfigMap' },
      requestResource: { ...type, resource: 'configmaps' },
      name: 'a',
      namespace: 'n',
      operation: 'CREATE',
      userInfo: { username: 'ann', groups: ['g'], extra: { a: ['b'] } },
      object: {
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: { name: 'a', namespace: 'n', creationTimestamp: null },
        data: { k: 'v' },
      },
      oldObject: null,
      dryRun: false,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'me' },
    },
  })
  assert.deepEqual(fixture.warnings, ['careful'])
  const names = '"configuration":"c","webhook":"m.example.com"'
  assert.deepEqual(Object.fromEntries(fixture.annotations), {
    'm.example.com/why': 'because',
    'mutation.webhook.admission.k8s.io/round_0_index_0': `{${names},"mutated":true}`,
    'patch.webhook.admission.k8s.io/round_0_index_0': `{${names},"patch":[{"op":"add","path":"/data/added","value":"yes"}],"patchType":"JSONPatch"}`,
  })
})

test('mutating webhooks run one after another in the order of their configurations, each with the patched object', async () => {
  const add = (name: string) => ({ patch: [{ op: 'add', path: `/metadata/labels`, value: { by: name } }] })
  const fixture = await webhookFixture(({ url }) => add(url.slice(1, 2)))
  const onlyAfterB = { objectSelector: { matchLabels: { by: 'b' } } }
  await fixture.configure('mutating', 'z', fixture.webhook('a', onlyAfterB))
  await fixture.configure(
    'mutating',
    'y',
    fixture.webhook('c', onlyAfterB),
    fixture.webhook('b', { namespaceSelector: { matchLabels: { tier: 'web' } } }),
  )
  await fixture.configure('mutating', 'x', fixture.webhook('d', { namespaceSelector: { matchLabels: { tier: 'other' } } }))
  const object = await fixture.admit()
  assert.deepEqual(
    fixture.calls.map(({ url }) => url.slice(1, 2)),
    ['b', 'a'],
  )
  assert.deepEqual(object?.metadata?.labels, { by: 'a' })
  assert.deepEqual(
    [...fixture.annotations.keys()].filter((key) => key.startsWith('mutation')).map((key) => key.slice(-7)),
    ['index_2', 'index_3'],
  )
})

test('reinvocationPolicy IfNeeded calls a webhook again after later changes', async () => {
  const fixture = await webhookFixture(({ url }) => (url.startsWith('/b') ? { patch: [{ op: 'add', path: '/data/b', value: '1' }] } : {}))
  await fixture.configure(
    'mutating',
    'c',
    fixture.webhook('a', { reinvocationPolicy: 'IfNeeded' }),
    fixture.webhook('b'),
    fixture.webhook('n'),
  )
  let runs = 0
  const counting: Plugin = { name: 'Counting', mutate: async () => void runs++ as undefined }
  await fixture.admit({}, [counting])
  assert.equal(runs, 2)
  assert.deepEqual(
    fixture.calls.map(({ url }) => url.slice(1, 2)),
    ['a', 'b', 'n', 'a'],
  )
  assert.deepEqual(sentData(fixture.calls[3]), { b: '1', k: 'v' })
  assert.ok(fixture.annotations.has('mutation.webhook.admission.k8s.io/round_1_index_0'))
  fixture.calls.length = 0
  await fixture.configure('mutating', 'c', fixture.webhook('a', { reinvocationPolicy: 'IfNeeded' }), fixture.webhook('n'))
  await fixture.admit()
  assert.equal(fixture.calls.length, 2)
  fixture.calls.length = 0
  await fixture.configure('mutating', 'c', fixture.webhook('b'), fixture.webhook('a', { reinvocationPolicy: 'IfNeeded' }))
  const stamp: Plugin = {
    name: 'Stamp',
    mutate: async (request) =>
      request.reinvocation.isReinvocation ? ({ ...request.object, data: { stamped: 'yes' } } as ApiObject) : undefined,
  }
  await fixture.admit({}, [stamp])
  assert.deepEqual(
    fixture.calls.map(({ url }) => url.slice(1, 2)),
    ['b', 'a', 'a'],
  )
})

test('validating webhooks run concurrently after mutation, and the first denial is reported', async () => {
  let active = 0
  let maxActive = 0
  const fixture = await webhookFixture(async ({ url }) => {
    if (url.startsWith('/m')) return { patch: [{ op: 'add', path: '/data/m', value: 'm' }] }
    maxActive = Math.max(maxActive, ++active)
    // Both calls must be active at once; the denial of `slow` arrives after that of `fast`.
    const canReply = () => (url.startsWith('/slow') ? fixture.warnings.includes('fast') : active === 2)
    for (let i = 0; i < 100_000 && !canReply(); i++) await new Promise(setImmediate)
    active--
    return { allowed: false, status: { message: url.slice(1, 5) }, warnings: [url.slice(1, 5)] }
  })
  await fixture.configure('mutating', 'c', fixture.webhook('m'))
  await fixture.configure('validating', 'c', fixture.webhook('slow'), fixture.webhook('fast'))
  assert.match((await rejectionOf(fixture.admit())).message, /"fast\.example\.com" denied the request: fast$/)
  assert.equal(maxActive, 2)
  assert.deepEqual(fixture.warnings, ['fast', 'slow'])
  assert.deepEqual(sentData(fixture.calls[1]), { k: 'v', m: 'm' })
})

test('a webhook with side effects fails a dry run', async () => {
  const fixture = await webhookFixture(() => ({}))
  await fixture.configure('mutating', 'c', fixture.webhook('m', { sideEffects: 'Some', failurePolicy: 'Ignore' }))
  const status = await rejectionOf(fixture.admit({ options: { dryRun: ['All'] } }))
  assert.deepEqual([status.code, status.message], [400, 'admission webhook "m.example.com" does not support dry run'])
  await fixture.admit()
  await fixture.configure('mutating', 'c', fixture.webhook('m', { sideEffects: 'NoneOnDryRun' }))
  await fixture.admit({ options: { dryRun: ['All'] } })
  assert.deepEqual(
    fixture.calls.map(({ review }) => review.request['dryRun']),
    [false, true],
  )
})

test('v1beta1 reviews are sent if preferred, and their responses are not validated', async () => {
  const fixture = await webhookFixture(() => ({ uid: 'other', patchType: undefined, patch: [{ op: 'add', path: '/data/x', value: 'y' }] }))
  await fixture.configure('mutating', 'c', fixture.webhook('m', { admissionReviewVersions: ['v2', 'v1beta1', 'v1'] }))
  const object = await fixture.admit()
  assert.equal(fixture.calls[0]?.review.apiVersion, 'admission.k8s.io/v1beta1')
  assert.deepEqual(members(object ?? {})['data'], { k: 'v', x: 'y' })
  await fixture.configure('mutating', 'c', fixture.webhook('m', { admissionReviewVersions: ['v2'] }))
  assert.match((await rejectionOf(fixture.admit())).message, /does not accept known AdmissionReview versions \(v1, v1beta1\)$/)
})

test('a webhook sees and patches the equivalent version of its rules', async () => {
  const fixture = await webhookFixture(() => ({ patch: [{ op: 'replace', path: '/message', value: 'other' }] }))
  await fixture.configure(
    'mutating',
    'c',
    fixture.webhook('m', { rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['events'] }] }),
  )
  const input = { resource: fixture.find('events', 'events.k8s.io'), object: { metadata: { name: 'e', namespace: 'n' }, message: 'm' } }
  const object = await fixture.admit(input)
  assert.equal(members(object ?? {})['message'], 'other')
  const { kind, requestKind } = requestIn(fixture.calls[0])
  assert.deepEqual(
    [kind, requestKind],
    [
      { group: '', version: 'v1', kind: 'Event' },
      { group: 'events.k8s.io', version: 'v1', kind: 'Event' },
    ],
  )
})

test('a patch changes only the object', async () => {
  const fixture = await webhookFixture(() => ({
    patch: [
      { op: 'add', path: '/data/__proto__', value: 'p' },
      { op: 'add', path: '/__proto__', value: { polluted: true } },
      { op: 'add', path: '/unknown', value: 1 },
    ],
  }))
  await fixture.configure('mutating', 'c', fixture.webhook('m'))
  const object = await fixture.admit()
  assert.equal(({} as { polluted?: boolean }).polluted, undefined)
  assert.deepEqual(Object.keys(object ?? {}).sort(), ['data', 'metadata'])
  assert.deepEqual(Object.entries(members(object ?? {})['data'] as object), [
    ['k', 'v'],
    ['__proto__', 'p'],
  ])
})

test('a patch on delete is an error, and patched objects get defaults', async () => {
  const fixture = await webhookFixture(() => ({ patch: [{ op: 'add', path: '/spec/ports', value: [{ port: 80 }] }] }))
  await fixture.configure('mutating', 'c', fixture.webhook('m'))
  const old = { metadata: { name: 'a', namespace: 'n' }, spec: {} }
  const deletion = { resource: fixture.find('services'), operation: 'DELETE' as const, namespace: 'n', name: 'a', object: undefined, old }
  assert.match(
    (await rejectionOf(fixture.admit(deletion as never))).message,
    /attempted to modify the object, which is not supported for this operation/,
  )
  const { object: newObject, oldObject, options } = requestIn(fixture.calls[0])
  assert.deepEqual(
    [newObject, (oldObject as ApiObject).kind, options],
    [null, 'Service', { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1' }],
  )
  const object = await fixture.admit({ resource: fixture.find('services'), object: old })
  const { ports } = members(object ?? {})['spec'] as { readonly ports: readonly object[] }
  assert.deepEqual(ports, [{ port: 80, protocol: 'TCP', targetPort: 80 }])
})

test('a service is called at its endpoints, with its own host name', async () => {
  const fixture = await webhookFixture(() => ({}))
  await fixture.configure(
    'validating',
    'c',
    fixture.webhook('v', { clientConfig: { service: { namespace: 'n', name: 's', path: '/p', port: 443 } } }),
  )
  assert.match((await rejectionOf(fixture.admit())).message, /Post "https:\/\/s\.n\.svc:443\/p\?timeout=5s": service "s" not found$/)
  await fixture.put(fixture.find('services'), {
    metadata: { name: 's', namespace: 'n' },
    spec: { clusterIP: 'None', ports: [{ port: 443 }] },
  })
  assert.match((await rejectionOf(fixture.admit())).message, /no endpoints available for service "s"$/)
  const port = Number(new URL(fixture.url).port)
  await fixture.put(fixture.find('endpoints'), {
    metadata: { name: 's', namespace: 'n' },
    subsets: [{ addresses: [{ ip: '127.0.0.1' }], ports: [{ port }] }],
  })
  // The fixture does not speak TLS, so a TLS error shows that the call reached the fixture.
  assert.match((await rejectionOf(fixture.admit())).message, /Post "https:\/\/s\.n\.svc:443\/p\?timeout=5s": tls: /)
})

test('webhooks are not called for webhook configurations, before the server serves, or without TLS unless allowed', async () => {
  const fixture = await webhookFixture(() => ({ allowed: false }))
  await fixture.configure('validating', 'c', fixture.webhook('v'))
  const resource = fixture.find('validatingwebhookconfigurations', 'admissionregistration.k8s.io')
  await fixture.admit({ resource, object: { metadata: { name: 'x' } } })
  assert.equal(fixture.calls.length, 0)
  const notServing = await webhookFixture(() => ({ allowed: false }), false)
  await notServing.configure('validating', 'c', notServing.webhook('v'))
  await notServing.admit()
  assert.equal(notServing.calls.length, 0)
  for (const url of ['http://example.com/', 'ftp://127.0.0.1/']) {
    await fixture.configure('validating', 'c', fixture.webhook('v', { clientConfig: { url } }))
    assert.match((await rejectionOf(fixture.admit())).message, /unsupported protocol scheme/)
  }
})

test('managedFields that a webhook made invalid are restored', async () => {
  const fixture = await webhookFixture(() => ({ patch: [{ op: 'replace', path: '/metadata/managedFields/0/operation', value: 'Steal' }] }))
  await fixture.configure('mutating', 'c', fixture.webhook('m'))
  const managedFields = [{ manager: 'me', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} }]
  const object = await fixture.admit({ object: { metadata: { name: 'a', namespace: 'n', managedFields }, data: { k: 'v' } } })
  assert.deepEqual(object?.metadata?.managedFields, managedFields)
  assert.match(
    fixture.warnings.join(),
    /^\.metadata\.managedFields was in an invalid state after admission; .*managedFields\[0\]\.operation/,
  )
})
