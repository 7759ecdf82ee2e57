// Which requests the proxy passes on.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseLine } from './flags.js'
import { filterFlags, makeFilter } from './proxy-filter.js'

const opens = (flags: readonly string[], origin: string): boolean =>
  makeFilter(parseLine(flags, filterFlags).flags)({ method: 'GET', path: '/api/v1/watch/secrets', host: '127.0.0.1:8001', origin })
const passes = (flags: readonly string[], method: string, path: string, host = 'localhost:8001'): boolean =>
  makeFilter(parseLine(flags, filterFlags).flags)({ method, path, host })

test('without flags everything of this machine is passed on, but connections into containers', () => {
  assert.ok(passes([], 'GET', '/api/v1/pods'))
  for (const host of ['127.0.0.1:1', '[::1]:8001', 'localhost']) assert.ok(passes([], 'POST', '/x', host), host)
  for (const host of ['evil.example', 'localhost.evil.example:8001', '']) assert.ok(!passes([], 'GET', '/x', host), host)
  for (const path of ['exec', 'attach', '%65xec', 'exec/x']) assert.ok(!passes([], 'GET', `/api/v1/namespaces/a/pods/b/${path}`), path)
  for (const path of ['//api', '/%2fapi', '/./api', '/x/../api', '/x/%2e%2e/api'])
    assert.ok(!passes([], 'GET', `${path}/v1/namespaces/a/pods/b/exec`), path)
  assert.ok(passes([], 'GET', '/api/v1/namespaces/a/services/b/proxy/c//d/'))
  assert.ok(!passes([], 'GET', '/%zz'), 'what cannot be read is not passed on')
})

test('pages of others open no connections', () => {
  for (const origin of ['http://localhost:3000', 'http://127.0.0.1:8001', 'https://[::1]:1']) assert.ok(opens([], origin), origin)
  for (const origin of ['https://evil.example', 'http://localhost.evil.example', 'null', '']) assert.ok(!opens([], origin), origin)
  assert.ok(opens(['--accept-hosts=^127,^shop\\.example$'], 'https://shop.example'))
  assert.ok(opens(['--disable-filter'], 'https://evil.example'))
})

test('patterns say what else is, and what is not', () => {
  assert.ok(passes(['--accept-hosts=^a$,^b$'], 'GET', '/', 'b:80'))
  assert.ok(!passes(['--accept-hosts=^a$,^b$'], 'GET', '/', 'localhost'))
  assert.ok(!passes(['--accept-paths=^/api/'], 'GET', '/apis/apps'))
  for (const path of ['/api/../apis/apps', '//api/v1']) assert.ok(!passes(['--accept-paths=^/api/'], 'GET', path), path)
  assert.ok(passes(['--accept-paths=^/api/$'], 'GET', '/api/'))
  assert.ok(!passes(['--accept-paths=^/api/', '--reject-paths=^/api/v1/secrets'], 'GET', '/api/v1/secrets'))
  assert.ok(passes(['--reject-paths='], 'GET', '/api/v1/namespaces/a/pods/b/exec'))
  assert.ok(!passes(['--reject-methods=POST,PUT'], 'POST', '/'))
  assert.ok(passes(['--reject-methods=POST,PUT'], 'GET', '/'))
  assert.ok(passes(['--disable-filter'], 'GET', '/', 'evil.example'))
  assert.throws(() => passes(['--accept-paths=('], 'GET', '/'), /--accept-paths.* is no pattern/)
})
