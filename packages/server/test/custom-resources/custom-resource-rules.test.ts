// Rules of custom resources and CRDs that need the whole server: large integers, several versions, deletion of a CRD, tables of /status.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiClient, ApiResponse } from '../../../../test/kit/api-client.js'
import { onDefaultEngine } from '../../../../test/kit/embedded.js'
import { expectFailure, expectStatus, until } from '../../../../test/kit/fixtures.js'
import type { JsonObject } from '../../../../test/kit/network/json-object.js'

const crdPath = '/apis/apiextensions.cluster.io/v1/customresourcedefinitions'

const kindOf = (plural: string): string => plural[0]?.toUpperCase() + plural.slice(1)

/** CRD as text, because JSON.stringify cannot write large integers. `specs`: schema of `spec` per version; the first version is stored. */
const crdText = (plural: string, specs: readonly string[]): string => {
  const versions = specs.map(
    (spec, i) =>
      `{"name":"v${i + 1}","served":true,"storage":${i === 0},"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":${spec}}}}}`,
  )
  const names = `{"plural":"${plural}","kind":"${kindOf(plural)}"}`
  return `{"metadata":{"name":"${plural}.rules.io"},"spec":{"group":"rules.io","scope":"Namespaced","names":${names},"versions":[${versions}]}}`
}

const pathOf = (plural: string, version = 'v1'): string => `/apis/rules.io/${version}/namespaces/default/${plural}`

/** Creates a CRD and waits until its last version is served. */
async function serve(client: ApiClient, plural: string, ...specs: readonly string[]): Promise<void> {
  expectStatus(await client.post(crdPath, crdText(plural, specs)), 201)
  await until(
    () => client.get(pathOf(plural, `v${specs.length}`)),
    ({ status }) => status === 200,
  )
}

const rule = (plural: string, name: string, spec: string, version = 'v1'): string =>
  `{"apiVersion":"rules.io/${version}","kind":"${kindOf(plural)}","metadata":{"name":"${name}"},"spec":${spec}}`

const specOf = ({ text }: ApiResponse): string | undefined => /"spec":(\{.*\})\}\n?$/.exec(text)?.[1]

onDefaultEngine('rules of custom resources', (client) => {
  test('a default beyond 2^53 is copied and published', async () => {
    const bare = '{"type":"object","properties":{"i":{"type":"integer"}}}'
    const filled = '{"type":"object","properties":{"i":{"type":"integer","default":9007199254740993,"enum":[9007199254740993,7]}}}'
    await serve(client(), 'numbers', bare)
    const numbers = pathOf('numbers')
    expectStatus(await client().post(numbers, rule('numbers', 'before', '{}')), 201)
    const version = (await client().get(`${crdPath}/numbers.rules.io`)).json.metadata.resourceVersion
    const changed = crdText('numbers', [filled]).replace('"metadata":{', `"metadata":{"resourceVersion":"${version}",`)
    expectStatus(await client().put(`${crdPath}/numbers.rules.io`, changed), 200)
    const read = await until(
      () => client().get(`${numbers}/before`),
      (response) => response.status !== 200 || specOf(response) !== '{}',
    )
    assert.equal(specOf(expectStatus(read, 200)), '{"i":9007199254740993}')
    assert.match(expectStatus(await client().get(numbers), 200).text, /"i":9007199254740993/)
    assert.equal(specOf(expectStatus(await client().post(numbers, rule('numbers', 'after', '{}')), 201)), '{"i":9007199254740993}')
    const applied = await client().patch(
      `${numbers}/applied?fieldManager=m`,
      'application/apply-patch+yaml',
      rule('numbers', 'applied', '{}'),
    )
    assert.equal(specOf(expectStatus(applied, 201)), '{"i":9007199254740993}')
    const refused = expectFailure(await client().post(numbers, rule('numbers', 'wrong', '{"i":5}')), 422, 'Invalid')
    assert.match(String(refused.message), /supported values: "9007199254740993", "7"/)
    await until(
      () => client().get('/openapi/v3/apis/rules.io/v1'),
      ({ text }) => text.includes('"default":9007199254740993'),
    )
    const protobuf = 'application/com.github.proto-openapi.spec.v3@v1.0+protobuf'
    expectStatus(await client().get('/openapi/v3/apis/rules.io/v1', { accept: protobuf }), 200)
    expectStatus(await client().get('/openapi/v2'), 200)
  })

  test('keys of list items beyond 2^53 keep their digits in managedFields', async () => {
    const item = '{"type":"object","properties":{"k":{"type":"integer","default":9007199254740993},"v":{"type":"string"}}}'
    const list = `{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":${item}}`
    await serve(client(), 'keys', `{"type":"object","properties":{"l":${list}}}`)
    const apply = (v: string, manager: string) =>
      client().patch(
        `${pathOf('keys')}/a?fieldManager=${manager}`,
        'application/apply-patch+yaml',
        rule('keys', 'a', `{"l":[{"k":9007199254740993,"v":"${v}"}]}`),
      )
    expectStatus(await apply('x', 'one'), 201)
    assert.match(expectStatus(await apply('x', 'two'), 200).text, /k:\{\\"k\\":9007199254740993\}/)
    const refused = expectFailure(await apply('y', 'two'), 409, 'Conflict')
    assert.match(String(refused.message), /\.spec\.l\[k=9007199254740993\]\.v$/)
  })

  test('an integer beyond int64 is a float64 on every write path', async () => {
    await serve(client(), 'floats', '{"type":"object","properties":{"i":{"type":"integer"},"n":{"type":"number"}}}')
    const floats = pathOf('floats')
    const large = '{"i":9223372036854775808}'
    const number = '{"n":9223372036854775808}'
    const created = expectStatus(await client().post(floats, rule('floats', 'a', number)), 201)
    assert.equal(specOf(created), '{"n":9223372036854776000}')
    const wrong = /spec\.i: Invalid value: "number": spec\.i in body must be of type integer: "number"$/
    const put = rule('floats', 'a', large).replace('"name":"a"', `"name":"a","resourceVersion":"${created.json.metadata.resourceVersion}"`)
    for (const response of [
      await client().post(floats, rule('floats', 'b', large)),
      await client().put(`${floats}/a`, put),
      await client().patch(`${floats}/a`, 'application/merge-patch+json', `{"spec":${large}}`),
      await client().patch(`${floats}/a`, 'application/json-patch+json', '[{"op":"add","path":"/spec/i","value":1e21}]'),
      await client().patch(`${floats}/a?fieldManager=m`, 'application/apply-patch+yaml', rule('floats', 'a', large)),
      await client().patch(`${floats}/c?fieldManager=m`, 'application/apply-patch+yaml', rule('floats', 'c', large)),
    ])
      assert.match(String(expectFailure(response, 422, 'Invalid').message), wrong)
  })

  test('fields are validated in the version of the request, then pruned by the stored version', async () => {
    const string = '{"type":"string"}'
    const integer = '{"type":"integer"}'
    const first = `{"f":${string},"g":{"type":"object","properties":{"x":${string}}},"n":${integer}}`
    const pair = `{"type":"object","required":["b"],"properties":{"a":${integer},"b":${integer}}}`
    const item = `{"type":"object","required":["k"],"properties":{"k":${string}}}`
    const list = `{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":${item}}`
    const second = `{"f":${pair},"g":{"type":"object","required":["y"],"properties":{"x":${string},"y":${string}}},"h":${string},"l":${list}}`
    const rules = '"x-kubernetes-validations":[{"rule":"!has(oldSelf.g) || self.g.x >= oldSelf.g.x","message":"only forward"}]'
    await serve(
      client(),
      'pasts',
      `{"type":"object","properties":${first}}`,
      `{"type":"object","required":["h"],${rules},"properties":${second}}`,
    )
    const pasts = pathOf('pasts', 'v2')
    const past = (name: string, spec: string): string => rule('pasts', name, spec, 'v2')
    const created = expectStatus(await client().post(pasts, past('a', '{"h":"q","f":{"a":1,"b":2},"l":[{"k":"a b"},{"k":"1"}]}')), 201)
    assert.equal(specOf(created), '{"f":{}}')
    assert.deepEqual((created.json.metadata.managedFields?.[0] as { readonly fieldsV1?: unknown } | undefined)?.fieldsV1, {
      'f:spec': {
        '.': {},
        'f:f': { '.': {}, 'f:a': {}, 'f:b': {} },
        'f:h': {},
        'f:l': { '.': {}, 'k:{"k":"1"}': { '.': {}, 'f:k': {} }, 'k:{"k":"a b"}': { '.': {}, 'f:k': {} } },
      },
    })
    const dryRun = await client().post(`${pasts}?dryRun=All`, past('b', '{"h":"q","g":{"x":"1","y":"2"}}'))
    assert.equal(specOf(expectStatus(dryRun, 201)), '{"g":{"x":"1"}}')
    const missing = expectFailure(await client().post(pasts, past('b', '{"g":{"x":"1"}}')), 422, 'Invalid')
    assert.match(String(missing.message), /\[spec\.g\.y: Required value, spec\.h: Required value, /)
    const twice = expectFailure(await client().post(pasts, past('b', '{"h":"q","l":[{"k":"a"},{"k":"a"}]}')), 422, 'Invalid')
    assert.match(String(twice.message), /spec\.l\[1\]: Duplicate value: \{"k":"a"\}$/)
    const path = `${pasts}/b`
    const apply = (spec: string) => client().patch(`${path}?fieldManager=m`, 'application/apply-patch+yaml', past('b', spec))
    const merge = (spec: string) => client().patch(path, 'application/merge-patch+json', `{"spec":${spec}}`)
    expectStatus(await apply('{"h":"q","g":{"x":"3","y":"2"}}'), 201)
    assert.equal(specOf(expectStatus(await apply('{"h":"q","g":{"x":"4","y":"2"}}'), 200)), '{"g":{"x":"4"}}')
    assert.equal(specOf(expectStatus(await merge('{"h":"q","g":{"y":"9"}}'), 200)), '{"g":{"x":"4"}}')
    assert.match(String(expectFailure(await merge('{}'), 422, 'Invalid').message), /spec\.h: Required value/)
    // Transition rules compare with the stored object in the version of the request.
    const back = expectFailure(await merge('{"h":"q","g":{"x":"1","y":"9"}}'), 422, 'Invalid')
    assert.match(String(back.message), /only forward$/)
    const added = '[{"op":"add","path":"/spec/h","value":"x"},{"op":"add","path":"/spec/g/y","value":"x"}]'
    expectStatus(await client().patch(path, 'application/json-patch+json', added), 200)
    const { metadata } = (await client().get(path)).json
    const put = past('b', '{"h":"z","g":{"x":"5","y":"4"}}').replace(
      '"name":"b"',
      `"name":"b","resourceVersion":"${metadata.resourceVersion}"`,
    )
    assert.equal(specOf(expectStatus(await client().put(path, put), 200)), '{"g":{"x":"5"}}')
    assert.equal(specOf(await client().get(`${pathOf('pasts')}/b`)), '{"g":{"x":"5"}}')
  })

  test('DELETE of a definition keeps the generation; creates are refused with group and kind', async () => {
    await serve(client(), 'leavers', '{"type":"object"}')
    const leavers = pathOf('leavers')
    const kept = rule('leavers', 'kept', '{}').replace('"name":"kept"', '"name":"kept","finalizers":["a.b/c"]')
    expectStatus(await client().post(leavers, kept), 201)
    const { metadata } = expectStatus(await client().delete(`${crdPath}/leavers.rules.io`), 200).json
    assert.equal(metadata['generation'], 1)
    assert.equal(metadata['deletionGracePeriodSeconds'], undefined)
    const refused = await until(
      () => client().post(leavers, rule('leavers', 'late', '{}')),
      ({ status }) => status === 405,
    )
    assert.deepEqual(expectFailure(refused, 405, 'MethodNotAllowed')['details'], { group: 'rules.io', kind: 'leavers' })
    expectStatus(await client().patch(`${leavers}/kept`, 'application/merge-patch+json', { metadata: { finalizers: null } }), 200)
  })

  test('storedVersions cannot be emptied; an empty webhook does not change the generation', async () => {
    await serve(client(), 'stays', '{"type":"object"}')
    const path = `${crdPath}/stays.rules.io`
    const emptied = await client().patch(`${path}/status`, 'application/merge-patch+json', { status: { storedVersions: [] } })
    assert.deepEqual((expectStatus(emptied, 200).json['status'] as JsonObject)['storedVersions'], ['v1'])
    const conversion = { webhook: { conversionReviewVersions: [] } }
    const patched = await client().patch(path, 'application/strategic-merge-patch+json', { spec: { conversion } })
    assert.equal(expectStatus(patched, 200).json.metadata['generation'], 1)
  })

  test('/status of definitions and network policies has no table', async () => {
    await serve(client(), 'plains', '{"type":"object"}')
    const policies = '/apis/networking.cluster.io/v1/namespaces/default/networkpolicies'
    expectStatus(await client().post(policies, { metadata: { name: 'a' }, spec: { podSelector: {} } }), 201)
    const table = 'application/json;as=Table;v=v1;g=meta.cluster.io'
    for (const [path, kind] of [
      [`${crdPath}/plains.rules.io`, 'CustomResourceDefinition'],
      [`${policies}/a`, 'NetworkPolicy'],
    ] as const) {
      expectFailure(await client().get(`${path}/status`, { accept: table }), 406, 'NotAcceptable')
      assert.equal(expectStatus(await client().get(`${path}/status`, { accept: `${table},application/json` }), 200).json.kind, kind)
      assert.equal(expectStatus(await client().get(path, { accept: table }), 200).json.kind, 'Table')
      const patch = { method: 'PATCH', path: `${path}/status`, body: '{}' }
      const headers = { accept: table, 'content-type': 'application/merge-patch+json' }
      expectFailure(await client().send({ ...patch, headers }), 406, 'NotAcceptable')
    }
  })
})
