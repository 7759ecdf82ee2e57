// Requests to extension API servers: paths and identity headers.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRequest } from '@cluster-apiserver/api/api/request-info.js'
import { extensionHeaders, pathToForward } from './extension-server-request.js'

const paths: readonly (readonly [url: string, expected: string | undefined])[] = [
  ['/apis/g/v1/things?watch=1&a=%2e%2e', '/apis/g/v1/things?watch=1&a=%2e%2e'],
  ['/apis/g/v1/things/', '/apis/g/v1/things/'],
  ['/apis/g/v1/things/a%2Fb', '/apis/g/v1/things/a/b'],
  ['/apis/g/v1/things/a%20b%3F%25', '/apis/g/v1/things/a%20b%3F%25'],
  ['/apis/g/v1/things/a:b@c%3A', '/apis/g/v1/things/a:b@c:'],
  ['/apis/g/v1/things/%C3%A4', '/apis/g/v1/things/%C3%A4'],
  ['/apis/g/v1/../../api/v1/secrets', undefined],
  ['/apis/g/v1/%2e%2e/x', undefined],
  ['/apis/g/v1/x%2F..%2Fy', undefined],
  ['/apis/g/v1/./x', undefined],
  ['/apis/g/v1/%zz', undefined],
]

for (const [url, expected] of paths)
  test(`${url} is ${expected === undefined ? 'refused' : `forwarded as ${expected}`}`, () =>
    assert.equal(pathToForward({ info: parseRequest('GET', url) }), expected))

const headersFor = (headers: string[], name = 'jane', extra: { readonly [key: string]: readonly string[] } = {}): string[] => {
  const user = { name, uid: 'u', groups: ['a', 'b, c'], extra }
  const exchange = { user, auditId: 'id', info: parseRequest('GET', '/apis/g/v1/things') }
  extensionHeaders(headers, { exchange, host: '10.0.0.1:443', isIdentityHeader: (header) => header === 'x-alt-user' })
  return headers
}

test('identity headers of the client are replaced', () => {
  const headers = headersFor(
    ['X-Alt-User', 'root', 'Host', 'api.example', 'x-alt-user', 'root', 'X-Own', '1', 'audit-id', 'theirs'],
    'jane',
    {
      'acme.com/project': ['p', 'q'],
      '100%': ['x'],
    },
  )
  assert.deepEqual(headers, [
    ...['X-Own', '1', 'Host', '10.0.0.1:443', 'X-Forwarded-Uri', '/apis/g/v1/things', 'X-Forwarded-Host', '10.0.0.1:443'],
    ...['X-Forwarded-Proto', 'https', 'Audit-Id', 'id', 'X-Remote-User', 'jane', 'X-Remote-Group', 'a', 'X-Remote-Group', 'b, c'],
    ...['X-Remote-Extra-acme.com%2Fproject', 'p', 'X-Remote-Extra-acme.com%2Fproject', 'q', 'X-Remote-Extra-100%25', 'x'],
  ])
})

test('user names are sent as UTF-8, and refused if they contain a newline', () => {
  const headers = headersFor([], 'jäne')
  assert.equal(headers[headers.indexOf('X-Remote-User') + 1], Buffer.from('jäne').toString('latin1'))
  assert.throws(() => headersFor([], 'jane\r\nX-Remote-Group: system:masters'), /invalid header field value for "X-Remote-User"/)
})
