// Rarely used requests: PUT and apply on status, patches without apiVersion, bindings, paths of custom resources, metrics reset, odd URLs.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { ApiClient } from '../../../../test/kit/api-client.js'
import { type Embedded, everyKind, startEmbedded } from '../../../../test/kit/embedded.js'
import { expectFailure, expectStatus, newNamespace, until, untilStatus } from '../../../../test/kit/fixtures.js'
import type { JsonObject } from '../../../../test/kit/network/json-object.js'
import { RawSocket } from '../../../../test/kit/network/raw-socket.js'

const customKind = {
  metadata: { name: 'crs.x.io' },
  spec: {
    group: 'x.io',
    scope: 'Namespaced',
    names: { plural: 'crs', kind: 'Cr' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        subresources: { status: {} },
      },
    ],
  },
}

const serviceOf = (name: string) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { ports: [{ port: 80 }] } })

describe('rarely used requests', () => {
  let embedded: Embedded
  let client: ApiClient
  before(async () => {
    embedded = await startEmbedded('memory', everyKind)
    client = embedded.client
  })
  after(() => embedded.close())

  const send = (method: string, path: string, body?: unknown) => client.send({ method, path, ...(body === undefined ? {} : { body }) })
  const specOf = ({ json }: { readonly json: JsonObject }) => json['spec'] as JsonObject

  test('PUT and apply on the status of a missing Service create it without a clusterIP', async () => {
    const namespace = await newNamespace(client, 'svc')
    const services = `/api/v1/namespaces/${namespace}/services`
    expectStatus(await client.put(`${services}/a/status`, serviceOf('a')), 201)
    assert.equal(specOf(await client.get(`${services}/a`))['clusterIP'], undefined)
    expectStatus(await client.patch(`${services}/b/status?fieldManager=m`, 'application/apply-patch+yaml', serviceOf('b')), 201)
    expectFailure(await client.patch(`${services}/c/status`, 'application/merge-patch+json', {}), 404, 'NotFound')
    expectFailure(await client.put(`/api/v1/namespaces/${namespace}/resourcequotas/q/status`, { metadata: { name: 'q' } }), 404, 'NotFound')
  })

  test('a patch that removes apiVersion returns 400', async () => {
    const namespace = await newNamespace(client, 'patch')
    const path = `/api/v1/namespaces/${namespace}/services/a`
    expectStatus(await client.put(path, serviceOf('a')), 201)
    const merge = await client.patch(path, 'application/merge-patch+json', { apiVersion: null })
    assert.match(expectFailure(merge, 400, 'BadRequest').message ?? '', /^the name of the object \(a based on URL\) was undeterminable/)
    const json = await client.patch(path, 'application/json-patch+json', [{ op: 'remove', path: '/apiVersion' }])
    expectFailure(json, 400, 'BadRequest')
    expectStatus(await client.patch(path, 'application/merge-patch+json', { kind: null }), 200)
    expectStatus(await client.patch(path, 'application/strategic-merge-patch+json', { apiVersion: null }), 200)
  })

  test('a Binding checks uid and resourceVersion of the pod', async () => {
    const namespace = await newNamespace(client, 'bind')
    await client.post(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'default' } })
    const pods = `/api/v1/namespaces/${namespace}/pods`
    const created = await untilStatus(
      () => client.post(pods, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }),
      201,
    )
    const { uid, resourceVersion } = created.json.metadata
    const bind = (metadata: object) => client.post(`${pods}/p/binding`, { metadata: { name: 'p', ...metadata }, target: { name: 'n' } })
    const wrongUid = expectFailure(await bind({ uid: 'x' }), 409, 'Conflict')
    assert.deepEqual(wrongUid.details, { name: 'p', kind: 'pods' })
    const wrongVersion = expectFailure(await bind({ uid, resourceVersion: '1' }), 409, 'Conflict')
    assert.deepEqual(wrongVersion.details, { name: 'p', kind: 'pods' })
    assert.match(wrongVersion.message ?? '', /ResourceVersion in precondition: 1, /)
    expectStatus(await bind({ uid, resourceVersion }), 201)
  })

  test('custom resources: POST with a name, paths below a subresource, unsupported methods', async () => {
    const namespace = await newNamespace(client, 'custom')
    expectStatus(await client.post('/apis/apiextensions.cluster.io/v1/customresourcedefinitions', customKind), 201)
    const all = `/apis/x.io/v1/namespaces/${namespace}/crs`
    await untilStatus(() => client.get(all), 200)
    const cr = { apiVersion: 'x.io/v1', kind: 'Cr', metadata: { name: 'bar' } }
    expectStatus(await client.post(`${all}/foo`, cr), 201)
    expectFailure(await client.get(`${all}/foo`), 404, 'NotFound')
    expectStatus(await client.get(`${all}/bar/status/more`), 200)
    expectStatus(await client.patch(`${all}/bar/status/more/still`, 'application/merge-patch+json', { status: { a: 1 } }), 200)
    expectFailure(await client.post(`${all}/bar/status`, cr), 405, 'MethodNotAllowed')
    expectFailure(await client.get(`/api/v1/namespaces/${namespace}/status/more`), 404, 'NotFound')
    const refused = expectFailure(await send('OPTIONS', all), 405, 'MethodNotAllowed')
    assert.equal(refused.message, ' is not supported on resources of kind "crs.x.io"')
  })

  test('an update of a stored custom object is compared with the pruned and defaulted object', async () => {
    const namespace = await newNamespace(client, 'older')
    const definitions = '/apis/apiextensions.cluster.io/v1/customresourcedefinitions'
    const define = (spec: object, rest: object = {}) => ({
      ...customKind,
      metadata: { name: 'olds.x.io', ...rest },
      spec: {
        ...customKind.spec,
        names: { plural: 'olds', kind: 'Old' },
        versions: customKind.spec.versions.map((version) => ({
          ...version,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: { spec, status: { type: 'object', default: { phase: 'New' }, properties: { phase: { type: 'string' } } } },
            },
          },
        })),
      },
    })
    const first = { type: 'object', properties: { a: { type: 'integer' }, gone: { type: 'string' } } }
    expectStatus(await client.post(definitions, define(first)), 201)
    const all = `/apis/x.io/v1/namespaces/${namespace}/olds`
    await untilStatus(() => client.get(all), 200)
    const old = { apiVersion: 'x.io/v1', kind: 'Old', metadata: { name: 'o' }, spec: { a: 1, gone: 'x' }, status: { phase: 'Sent' } }
    const created = expectStatus(await client.post(all, old), 201)
    assert.deepEqual(created.json['status'], { phase: 'New' })
    const rule = { rule: 'self.b == oldSelf.b' }
    const second = {
      type: 'object',
      properties: { a: { type: 'integer' }, b: { type: 'string', default: 'new' } },
      'x-kubernetes-validations': [rule],
    }
    const { resourceVersion } = (await client.get(`${definitions}/olds.x.io`)).json.metadata
    expectStatus(await client.put(`${definitions}/olds.x.io`, define(second, { resourceVersion })), 200)
    await until(
      () => client.get(`${all}/o`),
      ({ json }) => (json['spec'] as JsonObject)['b'] === 'new',
    )
    const labelled = await client.patch(`${all}/o`, 'application/merge-patch+json', { metadata: { labels: { l: 'm' } } })
    assert.equal(expectStatus(labelled, 200).json.metadata['generation'], 1)
    assert.deepEqual(labelled.json['spec'], { a: 1, b: 'new' })
    const changed = await client.patch(`${all}/o`, 'application/merge-patch+json', { spec: { b: 'other' } })
    assert.match(expectFailure(changed, 422, 'Invalid').message ?? '', /failed rule: self\.b == oldSelf\.b/)
  })

  test('DELETE /metrics resets the counters', async () => {
    await client.get('/api/v1/nodes')
    const counted = /^apiserver_request_total\{[^}]*resource="nodes"[^}]*verb="LIST"/m
    assert.match((await client.get('/metrics')).text, counted)
    const reset = expectStatus(await client.delete('/metrics'), 200)
    assert.equal(reset.text, 'metrics reset\n')
    assert.doesNotMatch((await client.get('/metrics')).text, counted)
  })

  test('invalid percent-encoding returns 400, invalid UTF-8 in a name 404', async () => {
    const broken = await client.get('/api/v1/nodes/%zz')
    assert.equal(broken.status, 400)
    assert.equal(broken.text, '400 Bad Request')
    expectFailure(await client.get('/api/v1/nodes/%ff'), 404, 'NotFound')
  })

  test('an absolute request target is accepted, two Host headers are rejected', async () => {
    const { host } = new URL(embedded.server.url)
    for (const [line, hosts, response] of [
      [`GET https://${host}/livez HTTP/1.1`, ['x'], /^HTTP\/1\.1 200 [\s\S]*ok$/],
      ['GET /livez HTTP/1.1', ['x', 'y'], /^HTTP\/1\.1 400 [\s\S]*too many Host headers$/],
    ] as const) {
      const socket = await RawSocket.open({ url: embedded.server.url, ca: embedded.server.caPem })
      socket.write(`${line}\r\n${hosts.map((name) => `Host: ${name}\r\n`).join('')}Connection: close\r\n\r\n`)
      await socket.until(() => socket.isClosed, 60_000)
      assert.match(socket.received, response)
    }
  })
})
