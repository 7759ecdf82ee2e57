// Tests of RequestInfo: verb, group, version, namespace, resource and subresource from method and path.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRequest, type RequestInfo } from './request-info.js'

const rows: readonly { method?: string; url: string; info: Partial<RequestInfo> }[] = [
  { url: '/api/v1/namespaces', info: { isResource: true, verb: 'list', resource: 'namespaces', namespace: '', name: '' } },
  { url: '/api/v1/namespaces/a', info: { verb: 'get', resource: 'namespaces', namespace: 'a', name: 'a' } },
  { url: '/api/v1/namespaces/a/status', info: { resource: 'namespaces', name: 'a', subresource: 'status' } },
  { url: '/api/v1/namespaces/a/pods/p/log', info: { resource: 'pods', namespace: 'a', name: 'p', subresource: 'log' } },
  { url: '/api/v1/namespaces/a/pods?watch=1', info: { verb: 'watch', resource: 'pods' } },
  { url: '/api/v1/namespaces/a/pods?watch=0', info: { verb: 'list' } },
  { url: '/api/v1/namespaces/a/pods/p?watch=1', info: { verb: 'get', name: 'p' } },
  { url: '/api/v1/watch/namespaces/a/pods/p', info: { verb: 'watch', resource: 'pods', namespace: 'a', name: 'p' } },
  { url: '/api/v1/pods?watch=1&fieldSelector=metadata.name%3Dp', info: { verb: 'watch', name: 'p' } },
  { url: '/api/v1/watch/pods?fieldSelector=metadata.name%3Dp', info: { verb: 'watch', name: '' } },
  { method: 'POST', url: '/api/v1/watch/namespaces/a/pods', info: { verb: 'watch', resource: 'pods', namespace: 'a', name: '' } },
  { method: 'DELETE', url: '/apis/apps/v1/watch/deployments', info: { verb: 'watch', group: 'apps', resource: 'deployments' } },
  { method: 'POST', url: '/api/v1/proxy/nodes/n', info: { verb: 'proxy', resource: 'nodes', name: 'n' } },
  { method: 'DELETE', url: '/apis/apps/v1/namespaces/a/deployments', info: { verb: 'deletecollection', group: 'apps', version: 'v1' } },
  { method: 'DELETE', url: '/apis/apps/v1/namespaces/a/deployments/d', info: { verb: 'delete', name: 'd' } },
  { method: 'POST', url: '/apis/apps/v1/namespaces/a/deployments', info: { verb: 'create' } },
  { method: 'PATCH', url: '/api/v1/nodes/n', info: { verb: 'patch', namespace: '', name: 'n' } },
  { url: '/api/v1/namespaces//pods', info: { namespace: '', resource: 'pods' } },
  { url: '/api/v1/pods/a%2Fb', info: { name: 'a', subresource: 'b' } },
  { url: '/api/v1/pods/%61/', info: { name: 'a', subresource: '' } },
  { url: '/api/v1/pods/%zz', info: { isResource: false, isMalformed: true } },
  { url: '/api/v1/pods/a%', info: { isMalformed: true } },
  { url: '/api/v1/pods/a?b=%', info: { name: 'a' } },
  { url: '/api/v1/pods/%ff%C3%AB', info: { name: '\ufffdë' } },
  { url: '/api/v1', info: { isResource: false, verb: 'get' } },
  { url: '/apis/apps', info: { isResource: false } },
  { url: '//api/v1/pods', info: { isResource: true, resource: 'pods', name: '' } },
  { url: '//api//v1/namespaces/a', info: { resource: 'v1', name: 'namespaces', subresource: 'a' } },
  { url: 'https://host:1/api/v1/pods?watch=1', info: { verb: 'watch', resource: 'pods', path: '/api/v1/pods', query: 'watch=1' } },
  { url: 'https://host', info: { isResource: false, path: '/' } },
  { url: 'https://host?a', info: { path: '/', query: 'a' } },
  { url: '*', info: { isResource: false, path: '*' } },
  { url: '/healthz?verbose', info: { isResource: false, path: '/healthz', query: 'verbose' } },
]

for (const row of rows) {
  test(`request ${row.method ?? 'GET'} ${row.url}`, () => {
    const info = parseRequest(row.method ?? 'GET', row.url)
    for (const [key, value] of Object.entries(row.info)) assert.equal(info[key as keyof RequestInfo], value, key)
  })
}

test('the cache of parsed requests is keyed by method and URL', () => {
  const path = '/api/v1/namespaces/shop/configmaps/prices'
  const long = `/api/v1/namespaces/shop/configmaps?labelSelector=${'x'.repeat(1000)}`
  for (let i = 0; i < 3; i++) {
    assert.deepEqual(
      ['GET', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'].map((method) => parseRequest(method, path).verb),
      ['get', 'update', 'delete', 'patch', 'get', ''],
    )
    assert.equal(parseRequest('HEAD', path).method, 'HEAD')
    assert.equal(parseRequest('GET', `${path}?pretty=1`).query, 'pretty=1')
    assert.equal(parseRequest('GET', path).query, '')
    assert.equal(parseRequest('GET', long).verb, 'list')
  }
  for (let i = 0; i < 3000; i++) assert.equal(parseRequest('GET', `${path}-${i}`).name, `prices-${i}`)
  assert.equal(parseRequest('GET', path).name, 'prices')
})
