// Rules of all requests: order of checks, unsupported representations, timeouts, Retry-After, deprecated paths.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onDefaultEngine } from '../../../../test/kit/embedded.js'
import {
  configMapOf,
  configMaps,
  expectFailure,
  expectStatus,
  makeConfigMap,
  newNamespace,
  untilStatus,
} from '../../../../test/kit/fixtures.js'

const table = 'application/json;as=Table;v=v1;g=meta.cluster.io'

onDefaultEngine('rules of requests', (client) => {
  test('POST checks the content type before the options, PUT after them', async () => {
    const namespace = await newNamespace(client(), 'order')
    const send = (method: string, path: string) => client().send({ method, path, body: '{}', headers: { 'content-type': 'text/x' } })
    expectFailure(await send('POST', `${configMaps(namespace)}?dryRun=x`), 415, 'UnsupportedMediaType')
    expectFailure(await send('POST', `${configMaps(namespace)}?fieldValidation=x`), 415, 'UnsupportedMediaType')
    expectFailure(await send('PUT', `${configMaps(namespace, 'a')}?dryRun=x`), 422, 'Invalid')
    expectFailure(await send('PATCH', configMaps(namespace, 'a')), 415, 'UnsupportedMediaType')
    const empty = { 'content-type': 'text/x', 'content-length': '0' }
    expectFailure(await client().send({ method: 'PATCH', path: configMaps(namespace, 'a'), headers: empty }), 406, 'NotAcceptable')
  })

  test('the selector is checked before the representation of a watch, and Accept before names', async () => {
    const namespace = await newNamespace(client(), 'accept')
    const yaml = { accept: 'application/yaml' }
    const refused = await client().get(`${configMaps(namespace)}?watch=1&labelSelector=a,,b`, yaml)
    assert.equal(refused.status, 400)
    assert.equal((await client().get(`${configMaps(namespace)}?watch=1`, yaml)).status, 406)
    assert.equal((await client().get(configMaps(namespace, '..'), { accept: 'text/x' })).status, 406)
    expectFailure(await client().get(configMaps(namespace, '..')), 400, 'BadRequest')
    for (const path of ['/api/v1/namespaces/../configmaps', '/api/v1/namespaces/./configmaps/a', '/api/v1/namespaces/..'])
      expectFailure(await client().get(path), 400, 'BadRequest')
  })

  test('the timeout parameter: 400 if malformed, 504 if it has expired, for every request', async () => {
    const namespace = await newNamespace(client(), 'timeouts')
    await makeConfigMap(client(), namespace, configMapOf('a'))
    const post = { method: 'POST', body: configMapOf('b'), path: configMaps(namespace) }
    const requests = [{ path: configMaps(namespace) }, { path: configMaps(namespace, 'a') }, post, { path: '/apis' }, { path: '/version' }]
    for (const request of requests) {
      const bad = expectFailure(await client().send({ ...request, path: `${request.path}?timeout=invalid` }), 400, 'BadRequest')
      assert.equal(bad.message, 'invalid timeout specified in the request URL - time: invalid duration "invalid"')
      const timedOut = expectFailure(await client().send({ ...request, path: `${request.path}?timeout=1ns` }), 504, 'Timeout')
      assert.deepEqual(timedOut.details, {})
    }
    expectStatus(await client().send({ ...post, path: `${post.path}?timeout=0s` }), 201)
    expectStatus(await client().get(`${configMaps(namespace)}?timeout=10m`), 200)
    const watch = await client().watch(`${configMaps(namespace)}?watch=1&timeout=invalid`)
    watch.close()
  })

  test('a response that takes longer than the timeout parameter is 504', async () => {
    const namespace = await newNamespace(client(), 'late')
    // The server waits for a resourceVersion in the future.
    const timedOut = await client().get(`${configMaps(namespace)}?resourceVersion=999999999999&timeout=50ms`)
    assert.equal(expectFailure(timedOut, 504, 'Timeout').message, 'Timeout: request did not complete within the allotted timeout')
  })

  test('resources without tables return 406 for Accept: Table', async () => {
    const namespace = await newNamespace(client(), 'tables')
    await untilStatus(() => client().get(`/api/v1/namespaces/${namespace}/serviceaccounts/default`), 200)
    const pods = `/api/v1/namespaces/${namespace}/pods`
    expectStatus(await client().post(pods, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }), 201)
    expectFailure(await client().get(`${pods}/p/ephemeralcontainers`, { accept: table }), 406, 'NotAcceptable')
    expectStatus(await client().get(`${pods}/p/status`, { accept: table }), 200)
    const finalize = { method: 'PUT', path: `/api/v1/namespaces/${namespace}/finalize`, body: { metadata: { name: namespace } } }
    expectFailure(await client().send({ ...finalize, headers: { accept: table } }), 406, 'NotAcceptable')
    const review = {
      method: 'POST',
      path: '/apis/authorization.cluster.io/v1/selfsubjectaccessreviews',
      body: { spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } },
    }
    expectFailure(await client().send({ ...review, headers: { accept: table } }), 406, 'NotAcceptable')
    const either = await client().send({ ...review, headers: { accept: `${table},application/json` } })
    assert.equal(expectStatus(either, 201).json.kind, 'SelfSubjectAccessReview')
  })

  test('permanent errors have no Retry-After', async () => {
    const namespace = await newNamespace(client(), 'retry')
    await untilStatus(() => client().get(`/api/v1/namespaces/${namespace}/serviceaccounts/default`), 200)
    const pods = `/api/v1/namespaces/${namespace}/pods`
    const pod = (name: string, more: object = {}) => ({ metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }], ...more } })
    expectStatus(await client().post(pods, pod('p')), 201)
    const log = expectStatus(await client().get(`${pods}/p/log`), 204)
    assert.equal(log.text, '')
    assert.equal(log.headers['content-type'], undefined)
    expectFailure(await client().get(`${pods}/p/proxy/x`), 400, 'BadRequest')
    expectStatus(await client().post('/api/v1/nodes', { metadata: { name: namespace } }), 201)
    expectStatus(await client().post(pods, pod('q', { nodeName: namespace })), 201)
    const services = `/api/v1/namespaces/${namespace}/services`
    expectStatus(await client().post(services, { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } }), 201)
    const unreachable = await client().get(`${services}/s/proxy/x`)
    expectFailure(unreachable, 404, 'NotFound')
    assert.equal(unreachable.headers['retry-after'], undefined)
    // The node has no addresses.
    for (const path of [`${pods}/q/log`, `/api/v1/nodes/${namespace}/proxy/x`]) {
      const refused = await client().get(path)
      assert.equal(expectStatus(refused, 500).json.message, 'no preferred addresses found; known addresses: []')
      assert.equal(refused.headers['retry-after'], undefined)
    }
    const pages = await client().get(`${configMaps(namespace)}?resourceVersion=99999999&limit=1`)
    expectFailure(pages, 504, 'Timeout')
    assert.equal(pages.headers['retry-after'], undefined)
    await makeConfigMap(client(), namespace, configMapOf('a'))
    const existing = await client().post(configMaps(namespace), { metadata: { name: 'a', generateName: 'a-' } })
    expectFailure(existing, 409, 'AlreadyExists')
    assert.equal(existing.headers['retry-after'], '1')
  })

  test('404 for a group of the other identity names the group of this identity', async () => {
    const { message } = expectFailure(await client().get('/apis/rbac.authorization.k8s.io/v1/clusterroles'), 404, 'NotFound')
    assert.match(String(message), /identity "cluster".*rbac\.authorization\.cluster\.io.*--identity=kubernetes/)
    expectFailure(await client().get('/apis/rbac.authorization.k8s.io'), 404, 'NotFound')
    assert.equal((await client().get('/apis/metrics.k8s.io/v1/x')).text, '404 page not found\n')
  })

  test('/version has commit and build date', async () => {
    const { gitCommit, buildDate } = (await client().get('/version')).json as unknown as { gitCommit: string; buildDate: string }
    assert.match(gitCommit, /^[0-9a-f]{40}$/)
    assert.match(buildDate, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  })

  test('removed parameters, unknown methods and paths are rejected', async () => {
    const namespace = await newNamespace(client(), 'gone')
    await makeConfigMap(client(), namespace, configMapOf('a'))
    expectFailure(await client().get(`${configMaps(namespace, 'a')}?export=true`), 400, 'BadRequest')
    expectStatus(await client().get(`${configMaps(namespace, 'a')}?export=false`), 200)
    assert.equal((await client().get('/openapi/v2/')).status, 404)
    expectFailure(await client().send({ method: 'PUT', path: '/apis/apps/v1', body: {} }), 405, 'MethodNotAllowed')
    const named = await client().get(configMaps(namespace, 'a'), { 'audit-id': 'mine' })
    assert.equal(named.headers['audit-id'], 'mine')
    const longId = 'i'.repeat(1_000)
    const long = await client().get(configMaps(namespace, 'a'), { 'audit-id': longId })
    assert.equal(long.headers['audit-id'], longId)
  })

  test('deprecated watch paths only accept GET, and deprecated proxy paths are not served', async () => {
    const namespace = await newNamespace(client(), 'old-paths')
    await makeConfigMap(client(), namespace, configMapOf('a'))
    const watchPath = `/api/v1/watch/namespaces/${namespace}/configmaps`
    expectFailure(await client().post(watchPath, configMapOf('b')), 405, 'MethodNotAllowed')
    expectFailure(await client().put(`${watchPath}/a`, configMapOf('a', { data: { v: '2' } })), 405, 'MethodNotAllowed')
    expectFailure(await client().patch(`${watchPath}/a`, 'application/merge-patch+json', { data: { v: '2' } }), 405, 'MethodNotAllowed')
    expectFailure(await client().delete(`${watchPath}/a`), 405, 'MethodNotAllowed')
    expectFailure(await client().delete(watchPath), 405, 'MethodNotAllowed')
    expectFailure(await client().delete(`/apis/apps/v1/watch/namespaces/${namespace}/deployments`), 405, 'MethodNotAllowed')
    expectFailure(await client().post(`/api/v1/proxy/namespaces/${namespace}/configmaps`, configMapOf('b')), 404, 'NotFound')
    const { json } = expectStatus(await client().get(configMaps(namespace)), 200)
    assert.deepEqual(
      json.items.filter(({ metadata }) => metadata.name.length === 1).map(({ metadata, data }) => [metadata.name, data?.['v']]),
      [['a', undefined]],
    )
  })

  for (const [header, code, reason] of [
    ['User', 403, 'Forbidden'],
    ['Group', 400, 'BadRequest'],
    ['Uid', 400, 'BadRequest'],
    ['Extra-scopes', 400, 'BadRequest'],
    ['Extra-a%2fb', 400, 'BadRequest'],
    ['Whatever', 403, 'Forbidden'],
  ] as const) {
    test(`Impersonate-${header} alone is rejected, or authorized without the permissions of the caller`, async () => {
      const response = await client().get('/api/v1/namespaces/default', { [`Impersonate-${header}`]: 'x' })
      expectFailure(response, code, reason)
    })
  }
})
