// Tests of webhook clientConfig validation and of the URL parser.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lines } from '../rule-context.fixture.js'
import { parseUrl } from './network/parse-url.js'
import { validateWebhookClientConfig, type WebhookClientConfig } from './webhook-client-config.js'

const desiredFormat = '; desired format: https://host[/path]'
const service = { namespace: 'n', name: 's', port: 443 }
const rows: readonly (readonly [title: string, target: WebhookClientConfig, expected: readonly string[]])[] = [
  ['a URL', { url: 'https://[::1]:8443/x' }, []],
  ['a service', { service }, []],
  ['a service with a path', { service: { ...service, path: '/a.b/c-d/' } }, []],
  ['neither url nor service', {}, ['t: Required value: exactly one of url or service is required']],
  ['both url and service', { url: 'https://a', service }, ['t: Required value: exactly one of url or service is required']],
  [
    'an http URL without host, with user, query and fragment',
    { url: 'http://user:pw@/x?q=1#f' },
    [
      `t.url: Invalid value: "http": 'https' is the only allowed URL scheme${desiredFormat}`,
      `t.url: Invalid value: "": host must be specified${desiredFormat}`,
      't.url: Invalid value: "user:pw": user information is not permitted in the URL',
      't.url: Invalid value: "f": fragments are not permitted in the URL',
      't.url: Invalid value: "q=1": query parameters are not permitted in the URL',
    ],
  ],
  ['an unparsable URL', { url: 'https://a:b/' }, [`t.url: Required value: url must be a valid URL${desiredFormat}`]],
  [
    'an empty service',
    { service: {} },
    [
      't.service.name: Required value: service name is required',
      't.service.namespace: Required value: service namespace is required',
      't.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive',
    ],
  ],
  ['a service without name', { service: { ...service, name: '' } }, ['t.service.namespace: Required value: service namespace is required']],
  ['a service without namespace', { service: { ...service, namespace: '' } }, ['t.service.name: Required value: service name is required']],
]

for (const [title, target, expected] of rows) {
  test(`a clientConfig with ${title}`, () => {
    assert.deepEqual(lines(validateWebhookClientConfig(target, 't')), expected)
  })
}

test('a service path must begin with a slash', () => {
  const errors = lines(validateWebhookClientConfig({ service: { ...service, path: 'x' } }, 't'))
  assert.deepEqual(errors, [
    't.service.path: Invalid value: "x": must start with a \'/\'',
    't.service.path: Invalid value: "x": segment[0] may not be empty',
  ])
})

test('path segments are numbered after the leading slash', () => {
  const errors = lines(validateWebhookClientConfig({ service: { ...service, path: '/a//B_c/' } }, 't'))
  assert.equal(errors[0], 't.service.path: Invalid value: "/a//B_c/": segment[1] may not be empty')
  assert.match(errors[1] ?? '', /segment\[2\]: a lowercase RFC 1123 subdomain/)
})

const parts: readonly { readonly text: string; readonly parts: object | undefined }[] = [
  { text: 'https://u@a.b:1/c?d#e', parts: { scheme: 'https', user: 'u', host: 'a.b:1', path: '/c', query: 'd', fragment: 'e' } },
  { text: 'not a url', parts: { scheme: '', user: undefined, host: '', path: 'not a url', query: '', fragment: '' } },
  { text: 'HTTPS:opaque', parts: { scheme: 'https', user: undefined, host: '', path: 'opaque', query: '', fragment: '' } },
  { text: '', parts: { scheme: '', user: undefined, host: '', path: '', query: '', fragment: '' } },
  { text: ':x', parts: undefined },
  { text: '1:x', parts: undefined },
  { text: 'https://a/%zz', parts: undefined },
  { text: 'https://a\n/', parts: undefined },
  { text: 'https://a.b\\.c.d/', parts: undefined },
  { text: 'https://a%2fb/', parts: undefined },
  { text: 'https://a|b/', parts: undefined },
  {
    text: 'https://%C3%A9.b/\\c',
    parts: { scheme: 'https', user: undefined, host: '%C3%A9.b', path: '/\\c', query: '', fragment: '' },
  },
]

for (const row of parts) test(`parseUrl of ${JSON.stringify(row.text)}`, () => assert.deepEqual(parseUrl(row.text), row.parts))

test('http to loopback is accepted if allowed', () => {
  for (const url of ['http://127.0.0.1:8080/x', 'http://[::1]/x', 'http://localhost:1']) {
    assert.deepEqual(lines(validateWebhookClientConfig({ url }, 't', true)), [])
    assert.equal(validateWebhookClientConfig({ url }, 't').length, 1)
  }
  for (const url of ['http://example.com', 'http://127.0.0.1.example.com', 'http://10.0.0.1', 'ftp://localhost', 'http://localhost.evil'])
    assert.equal(validateWebhookClientConfig({ url }, 't', true).length, 1)
})
