// Rules whose neighbours are better known: the same request on a part of an object, on a custom kind, on a name that nobody has.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { ApiClient } from '../kit/api-client.js'
import { type Embedded, everyKind, startEmbedded } from '../kit/embedded.js'
import { expectFailure, expectStatus, newNamespace, until } from '../kit/fixtures.js'
import { RawSocket } from '../kit/raw-socket.js'
import type { Wire } from '../kit/wire.js'

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

describe('rules beside better known ones', () => {
  let embedded: Embedded
  let client: ApiClient
  before(async () => {
    embedded = await startEmbedded('memory', everyKind)
    client = embedded.client
  })
  after(() => embedded.close())

  const send = (method: string, path: string, body?: unknown) => client.send({ method, path, ...(body === undefined ? {} : { body }) })
  const specOf = ({ json }: { readonly json: Wire }) => json['spec'] as Wire

  test('the status of a service that nobody has makes it, and gives it no address', async () => {
    const namespace = await newNamespace(client, 'svc')
    const services = `/api/v1/namespaces/${namespace}/services`
    expectStatus(await client.put(`${services}/a/status`, serviceOf('a')), 201)
    assert.equal(specOf(await client.get(`${services}/a`))['clusterIP'], undefined)
    expectStatus(await client.patch(`${services}/b/status?fieldManager=m`, 'application/apply-patch+yaml', serviceOf('b')), 201)
    expectFailure(await client.patch(`${services}/c/status`, 'application/merge-patch+json', {}), 404, 'NotFound')
    expectFailure(await client.put(`/api/v1/namespaces/${namespace}/resourcequotas/q/status`, { metadata: { name: 'q' } }), 404, 'NotFound')
  })

  test('a patch that leaves no apiVersion leaves no name', async () => {
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

  test('a binding is for the pod with its uid and version', async () => {
    const namespace = await newNamespace(client, 'bind')
    await client.post(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'default' } })
    const pods = `/api/v1/namespaces/${namespace}/pods`
    const made = await until(
      () => client.post(pods, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }),
      ({ status }) => status === 201,
    )
    const { uid, resourceVersion } = made.json.metadata
    const bind = (metadata: object) => client.post(`${pods}/p/binding`, { metadata: { name: 'p', ...metadata }, target: { name: 'n' } })
    const wrongUid = expectFailure(await bind({ uid: 'x' }), 409, 'Conflict')
    assert.deepEqual(wrongUid.details, { name: 'p', kind: 'pods' })
    const wrongVersion = expectFailure(await bind({ uid, resourceVersion: '1' }), 409, 'Conflict')
    assert.deepEqual(wrongVersion.details, { name: 'p', kind: 'pods' })
    assert.match(wrongVersion.message ?? '', /ResourceVersion in precondition: 1, /)
    expectStatus(await bind({ uid, resourceVersion }), 201)
  })

  test('custom kinds have no routes: names of a POST, what stands behind a subresource, and methods', async () => {
    const namespace = await newNamespace(client, 'custom')
    expectStatus(await client.post('/apis/apiextensions.cluster.io/v1/customresourcedefinitions', customKind), 201)
    const all = `/apis/x.io/v1/namespaces/${namespace}/crs`
    await until(
      () => client.get(all),
      ({ status }) => status === 200,
    )
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

  test('a custom object that is older than its schema is compared with what clients see of it', async () => {
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
    await until(
      () => client.get(all),
      ({ status }) => status === 200,
    )
    const old = { apiVersion: 'x.io/v1', kind: 'Old', metadata: { name: 'o' }, spec: { a: 1, gone: 'x' }, status: { phase: 'Sent' } }
    const made = expectStatus(await client.post(all, old), 201)
    assert.deepEqual(made.json['status'], { phase: 'New' })
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
      ({ json }) => (json['spec'] as Wire)['b'] === 'new',
    )
    const labelled = await client.patch(`${all}/o`, 'application/merge-patch+json', { metadata: { labels: { l: 'm' } } })
    assert.equal(expectStatus(labelled, 200).json.metadata['generation'], 1)
    assert.deepEqual(labelled.json['spec'], { a: 1, b: 'new' })
    const changed = await client.patch(`${all}/o`, 'application/merge-patch+json', { spec: { b: 'other' } })
    assert.match(expectFailure(changed, 422, 'Invalid').message ?? '', /failed rule: self\.b == oldSelf\.b/)
  })

  test('whoever deletes the metrics has them counted anew', async () => {
    await client.get('/api/v1/nodes')
    const counted = /^apiserver_request_total\{[^}]*resource="nodes"[^}]*verb="LIST"/m
    assert.match((await client.get('/metrics')).text, counted)
    const reset = expectStatus(await client.delete('/metrics'), 200)
    assert.equal(reset.text, 'metrics reset\n')
    assert.doesNotMatch((await client.get('/metrics')).text, counted)
  })

  test('a path whose escapes are none is no path, and bytes that are no text are a name that nobody has', async () => {
    const broken = await client.get('/api/v1/nodes/%zz')
    assert.equal(broken.status, 400)
    assert.equal(broken.text, '400 Bad Request')
    expectFailure(await client.get('/api/v1/nodes/%ff'), 404, 'NotFound')
  })

  test('a request may name the server in its target, and has one Host', async () => {
    const { host } = new URL(embedded.server.url)
    for (const [line, hosts, answer] of [
      [`GET https://${host}/livez HTTP/1.1`, ['x'], /^HTTP\/1\.1 200 [\s\S]*ok$/],
      ['GET /livez HTTP/1.1', ['x', 'y'], /^HTTP\/1\.1 400 [\s\S]*too many Host headers$/],
    ] as const) {
      const socket = await RawSocket.open({ url: embedded.server.url, ca: embedded.server.caPem })
      socket.write(`${line}\r\n${hosts.map((name) => `Host: ${name}\r\n`).join('')}Connection: close\r\n\r\n`)
      await socket.until(() => socket.isClosed, 60_000)
      assert.match(socket.received, answer)
    }
  })
})
