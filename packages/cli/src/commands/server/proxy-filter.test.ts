// Request filter of `proxy`.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseLine } from '../../command-line/flags.js'
import { filterFlags, makeFilter } from './proxy.js'

const acceptsOrigin = (flags: readonly string[], origin: string): boolean =>
  makeFilter(parseLine(flags, filterFlags).flags)({ method: 'GET', path: '/api/v1/watch/secrets', host: '127.0.0.1:8001', origin })
const accepts = (flags: readonly string[], method: string, path: string, host = 'localhost:8001'): boolean =>
  makeFilter(parseLine(flags, filterFlags).flags)({ method, path, host })

test('the default accepts local hosts and rejects exec and attach', () => {
  assert.ok(accepts([], 'GET', '/api/v1/pods'))
  for (const host of ['127.0.0.1:1', '[::1]:8001', 'localhost']) assert.ok(accepts([], 'POST', '/x', host), host)
  for (const host of ['evil.example', 'localhost.evil.example:8001', '']) assert.ok(!accepts([], 'GET', '/x', host), host)
  for (const path of ['exec', 'attach', '%65xec', 'exec/x']) assert.ok(!accepts([], 'GET', `/api/v1/namespaces/a/pods/b/${path}`), path)
  for (const path of ['//api', '/%2fapi', '/./api', '/x/../api', '/x/%2e%2e/api'])
    assert.ok(!accepts([], 'GET', `${path}/v1/namespaces/a/pods/b/exec`), path)
  assert.ok(accepts([], 'GET', '/api/v1/namespaces/a/services/b/proxy/c//d/'))
  assert.ok(!accepts([], 'GET', '/%zz'), 'paths that cannot be decoded are rejected')
})

test('foreign origins are rejected', () => {
  for (const origin of ['http://localhost:3000', 'http://127.0.0.1:8001', 'https://[::1]:1']) assert.ok(acceptsOrigin([], origin), origin)
  for (const origin of ['https://evil.example', 'http://localhost.evil.example', 'null', '']) assert.ok(!acceptsOrigin([], origin), origin)
  assert.ok(acceptsOrigin(['--accept-hosts=^127,^shop\\.example$'], 'https://shop.example'))
  assert.ok(acceptsOrigin(['--disable-filter'], 'https://evil.example'))
})

test('accept and reject patterns', () => {
  assert.ok(accepts(['--accept-hosts=^a$,^b$'], 'GET', '/', 'b:80'))
  assert.ok(!accepts(['--accept-hosts=^a$,^b$'], 'GET', '/', 'localhost'))
  assert.ok(!accepts(['--accept-paths=^/api/'], 'GET', '/apis/apps'))
  for (const path of ['/api/../apis/apps', '//api/v1']) assert.ok(!accepts(['--accept-paths=^/api/'], 'GET', path), path)
  assert.ok(accepts(['--accept-paths=^/api/$'], 'GET', '/api/'))
  assert.ok(!accepts(['--accept-paths=^/api/', '--reject-paths=^/api/v1/secrets'], 'GET', '/api/v1/secrets'))
  assert.ok(accepts(['--reject-paths='], 'GET', '/api/v1/namespaces/a/pods/b/exec'))
  assert.ok(!accepts(['--reject-methods=POST,PUT'], 'POST', '/'))
  assert.ok(accepts(['--reject-methods=POST,PUT'], 'GET', '/'))
  assert.ok(accepts(['--disable-filter'], 'GET', '/', 'evil.example'))
  assert.throws(() => accepts(['--accept-paths=('], 'GET', '/'), /--accept-paths.* is not a regular expression/)
})
