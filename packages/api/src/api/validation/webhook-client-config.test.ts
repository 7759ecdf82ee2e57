// Which URLs and services a webhook may have, and how URLs come apart.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lines } from '../rule-context.fixture.js'
import { parseUrl } from './parse-url.js'
import { validateWebhookTarget, type WebhookTarget } from './webhook-target.js'

const form = '; desired format: https://host[/path]'
const service = { namespace: 'n', name: 's', port: 443 }
const rows: readonly { readonly title: string; readonly target: WebhookTarget; readonly found: readonly string[] }[] = [
  { title: 'a URL', target: { url: 'https://[::1]:8443/x' }, found: [] },
  { title: 'a service', target: { service }, found: [] },
  { title: 'a service with a path', target: { service: { ...service, path: '/a.b/c-d/' } }, found: [] },
  { title: 'neither', target: {}, found: ['t: Required value: exactly one of url or service is required'] },
  { title: 'both', target: { url: 'https://a', service }, found: ['t: Required value: exactly one of url or service is required'] },
  {
    title: 'nearly everything wrong with a URL',
    target: { url: 'http://user:pw@/x?q=1#f' },
    found: [
      `t.url: Invalid value: "http": 'https' is the only allowed URL scheme${form}`,
      `t.url: Invalid value: "": host must be specified${form}`,
      't.url: Invalid value: "user:pw": user information is not permitted in the URL',
      't.url: Invalid value: "f": fragments are not permitted in the URL',
      't.url: Invalid value: "q=1": query parameters are not permitted in the URL',
    ],
  },
  { title: 'no URL at all', target: { url: 'https://a:b/' }, found: [`t.url: Required value: url must be a valid URL${form}`] },
  {
    title: 'an empty service',
    target: { service: {} },
    found: [
      't.service.name: Required value: service name is required',
      't.service.namespace: Required value: service namespace is required',
      't.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive',
    ],
  },
]

for (const { title, target, found } of rows) {
  test(`a target with ${title}`, () => {
    assert.deepEqual(lines(validateWebhookTarget(target, 't')), found)
  })
}

test('paths begin with a slash', () => {
  const errors = lines(validateWebhookTarget({ service: { ...service, path: 'x' } }, 't'))
  assert.deepEqual(errors, [
    't.service.path: Invalid value: "x": must start with a \'/\'',
    't.service.path: Invalid value: "x": segment[0] may not be empty',
  ])
})

test('segments are counted from the slash on', () => {
  const errors = lines(validateWebhookTarget({ service: { ...service, path: '/a//B_c/' } }, 't'))
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
]

for (const row of parts) test(`the parts of ${JSON.stringify(row.text)}`, () => assert.deepEqual(parseUrl(row.text), row.parts))

test('one on this machine may do without TLS where that is allowed', () => {
  for (const url of ['http://127.0.0.1:8080/x', 'http://[::1]/x', 'http://localhost:1']) {
    assert.deepEqual(lines(validateWebhookTarget({ url }, 't', true)), [])
    assert.equal(validateWebhookTarget({ url }, 't').length, 1)
  }
  for (const url of ['http://example.com', 'http://127.0.0.1.example.com', 'http://10.0.0.1', 'ftp://localhost', 'http://localhost.evil'])
    assert.equal(validateWebhookTarget({ url }, 't', true).length, 1)
})
